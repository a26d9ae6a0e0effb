"""Weather and the sky."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "get_weather",
        "Get the current weather for a city.",
        "city:city; unit:temperature_unit?(in {v})",
        "check the weather",
        """What's the weather in {city}? | What is the weather like in {city} right now? | How is the weather in {city}? |
        Tell me the current weather in {city}. | Weather in {city}, please. | Can you check the weather for {city}? |
        Is it cold in {city}? | I'm off to {city}, what's it like outside there? | Do I need a coat in {city} today?""",
        "How's the weather looking over in {city}? | Give me today's weather for {city}. | What's it like outside in {city}?",
        "city=city; temperature:signed; conditions:weather; humidity:percent; wind_speed:percent",
        """It is {temperature} degrees with {conditions} in {city}. | In {city} it is {temperature} degrees and {conditions}. |
        The weather in {city} is {conditions} at {temperature} degrees. | It's currently {temperature} degrees in {city}, with {conditions}. |
        {city} has {conditions} and {temperature} degrees right now. | Right now it is {temperature} degrees in {city} with {conditions}.""",
    ),
    tool(
        "get_forecast",
        "Get the weather forecast for a city on a given day.",
        "city:city; date:date",
        "look up the forecast",
        """What's the forecast for {city} on {date}? | Forecast for {city} on {date}, please. | What will the weather be in {city} on {date}? |
        Will it rain in {city} on {date}? | Show me the forecast in {city} for {date}.""",
        "How will the weather turn out in {city} on {date}? | I need the {date} forecast for {city}.",
        "city=city; date=date; high:signed; low:signed; conditions:weather",
        """On {date} {city} will have {conditions}, with a high of {high} and a low of {low} degrees. |
        The forecast for {city} on {date} is {conditions}, between {low} and {high} degrees. |
        Expect {conditions} in {city} on {date}: high {high}, low {low}.""",
    ),
    tool(
        "get_air_quality",
        "Get the air quality index of a city.",
        "city:city",
        "check the air quality",
        """How is the air quality in {city}? | What's the air quality index in {city}? | Is the air clean in {city}? |
        Air quality for {city}, please. | Check how polluted the air is in {city}.""",
        "Tell me how good the air is in {city}. | Air quality report for {city}?",
        "city=city; index:count; level:word",
        """The air quality index in {city} is {index} ({level}). | {city} has an air quality index of {index}, rated {level}. |
        Air quality in {city} is {level}, with an index of {index}.""",
    ),
    tool(
        "get_sunrise",
        "Get the times of sunrise and sunset.",
        "city:city; date:date?(on {v})",
        "find the sunrise time",
        """When does the sun rise in {city}? | What time is sunrise in {city}? | Sunrise and sunset in {city}? |
        When does it get dark in {city}? | Tell me when the sun sets in {city}.""",
        "At what time will the sun come up in {city}? | I'd like the sunset time in {city}.",
        "city=city; sunrise:time; sunset:time",
        """In {city} the sun rises at {sunrise} and sets at {sunset}. | Sunrise in {city} is at {sunrise}, sunset at {sunset}. |
        The sun is up from {sunrise} to {sunset} in {city}.""",
    ),
    tool(
        "get_tide",
        "Get the next high and low tide at a harbor.",
        "harbor:place; date:date?(on {v})",
        "look up the tide",
        """When is high tide at {harbor}? | Tide times for {harbor}, please. | What are the tides at {harbor}? |
        When is the next low tide at {harbor}? | Check the tide at {harbor}.""",
        "Tell me the tide times at {harbor}. | When will the water be high at {harbor}?",
        "harbor=harbor; high:time; low:time",
        """High tide at {harbor} is at {high} and low tide at {low}. | At {harbor} the tide is high at {high} and low at {low}. |
        The next tides at {harbor}: high {high}, low {low}.""",
    ),
    tool(
        "set_weather_alert",
        "Create an alert that fires when the temperature passes a threshold.",
        "city:city; threshold:signed; email:email?(and write to {v})",
        "set a weather alert",
        """Alert me when it goes below {threshold} degrees in {city}. | Set a weather alert for {city} at {threshold} degrees. |
        Warn me if {city} reaches {threshold} degrees. | I want an alert for {city} when it hits {threshold} degrees.""",
        "Let me know once it is {threshold} degrees in {city}. | Create a temperature alert at {threshold} degrees for {city}.",
        "alert_id:id; city=city; threshold=threshold",
        """Alert {alert_id} is set for {city} at {threshold} degrees. | Done: alert {alert_id} watches {city} for {threshold} degrees. |
        I created alert {alert_id} for {threshold} degrees in {city}.""",
    ),
)
