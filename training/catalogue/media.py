"""Music, films and news."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "play_music",
        "Play a song, album or artist.",
        "query:query; room:room?(in the {v}); volume:percent?(at volume {v})",
        "play music",
        """Play {query}. | Put on {query}. | I want to hear {query}. | Start playing {query}. | Can you play {query}?""",
        "Let's listen to {query}. | Spin {query} for me.",
        "now_playing=query; length_minutes:small",
        """Now playing "{now_playing}", {length_minutes} minutes long. | "{now_playing}" is on. It lasts {length_minutes} minutes. | Playing "{now_playing}" ({length_minutes} minutes).""",
    ),
    tool(
        "create_playlist",
        "Create a playlist of a genre.",
        "name:phrase; genre:genre; tracks:count?(with {v} tracks)",
        "make a playlist",
        """Create a {genre} playlist named {name}. | Make a playlist called {name} with {genre}. | I want a {genre} playlist titled {name}. |
        Build a playlist of {genre}, call it {name}.""",
        "Put together some {genre} under the name {name}. | New playlist {name}, {genre} please.",
        "playlist_id:id; name=name; tracks:count",
        """The playlist "{name}" has {tracks} tracks. | I made "{name}" with {tracks} tracks ({playlist_id}). | "{name}" is ready: {tracks} tracks.""",
    ),
    tool(
        "search_movies",
        "Search for movies by genre and year.",
        "genre:word; year:year?(from {v}); language:language?(in {v})",
        "search for movies",
        """Find me a {genre} movie. | Suggest a {genre} film. | What {genre} movies are there? | I feel like watching a {genre} movie. |
        Search for {genre} films.""",
        "Recommend something {genre} to watch, a movie. | Any good {genre} films?",
        "title:phrase; year:year; rating:percent",
        """I suggest "{title}" from {year}, rated {rating}. | "{title}" ({year}) has a rating of {rating}. | There is "{title}", {year}, rating {rating}.""",
    ),
    tool(
        "get_news",
        "Get the latest news on a topic.",
        "topic:topic; limit:small?(at most {v} articles); language:language?(in {v})",
        "get the news",
        """What's the latest news about {topic}? | News on {topic}, please. | Give me headlines about {topic}. | Anything new in {topic}? |
        Show me {topic} news.""",
        "What happened lately in {topic}? | Catch me up on {topic}.",
        "headline:sentence; source:word; published:date",
        """From {source}, {published}: "{headline}" | The latest is "{headline}" ({source}, {published}). | "{headline}" was published by {source} on {published}.""",
    ),
    tool(
        "get_score",
        "Get the latest score of a sports team.",
        "team:team; date:date?(on {v})",
        "check a score",
        """How did {team} play? | What was the score of {team}? | Did {team} win? | Latest result for {team}? | Show me the {team} score.""",
        "Tell me how the match of {team} ended. | Result of the last {team} game?",
        "team=team; opponent:team; goals:small; against:small",
        "{team} scored {goals} and {opponent} {against}. | {team} against {opponent}: {goals} to {against}. | It ended {goals} to {against} between {team} and {opponent}.",
    ),
    tool(
        "set_volume",
        "Set the speaker volume.",
        "level:percent",
        "change the volume",
        """Set the volume to {level}. | Volume {level}, please. | Turn the sound to {level} percent. | Put the speakers at {level}. | Change the volume to {level} percent.""",
        "Make the sound {level} percent loud. | Adjust the speakers to volume {level}.",
        "level=level",
        "The volume is now {level}. | Volume set to {level}. | Done, the speakers are at {level}.",
    ),
)
