"""Looser wordings for weather, calendar and contacts. `[a/b]` stands for either."""

# ruff: noqa: E501

WORDINGS: dict[str, str] = {
    "get_weather": """[What/How] [is/are] things outdoors in {city}[?/ right now?] | [Is/Are] [it sunny/it windy/there clouds/it snowing] in {city}? | Will I freeze in {city}? | [Umbrella/Sunglasses/Gloves] needed in {city}? |
        How many degrees [are there in/has] {city}? | What should I wear in {city}[?/ now?] | Sky over {city}? | [I'm about to land in/My sister lives in/We have just reached] {city}, [is it warm/how cold is it/what weather do they have]? |
        Tell me whether it [rains/snows/is stormy] in {city}. | Current conditions, {city}[./, please.] | {city}: [sun or rain/degrees/outside temperature]? | What kind of day is it in {city}? | Anything falling from the sky in {city}? |
        [Describe/Report] the weather [at/around] {city}. | Could you see what the thermometer shows in {city}? | What's {city} like today, [hot or cold/wet or dry]?""",
    "get_forecast": """[What/Which] weather [is expected/should I expect/is predicted] [for/in] {city} on {date}? | [Picnic/Wedding/Hike] in {city} on {date}: [will it stay dry/is rain coming]? | Predict {city} for {date}. |
        {date} in {city}, [rain or sun/hot or cold/umbrella or not]? | What can I expect outside in {city} on {date}? | Is snow on its way to {city} for {date}? | On {date} I'm in {city}; [pack a coat/will I need boots]? |
        How hot does {city} get on {date}? | Weather prediction, {city}, {date}. | [Check/Tell me] what {date} will be like in {city}. | Do they expect storms in {city} on {date}? | Will {date} be [warm/cloudy/windy] in {city}? |
        What does {city} have coming on {date}, sky-wise? | Highs and lows for {city}, {date}?""",
    "get_air_quality": """[Is/Was] it [safe/healthy] to breathe in {city}? | [Should I/Do people] wear a mask [against the dirt/for the smog] in {city}? | What do I inhale in {city}? | How [clean/dirty/bad/fresh] is {city}'s air? | Fine dust in {city}? |
        {city} [smog/pollution/air index][?/ today?] | I have asthma, can I go out in {city}? | How much pollution is there around {city}? | Does the air in {city} stink? | Pull the pollution figures of {city}. | Are the fumes bad in {city}? |
        Fresh air in {city}, yes or no? | Measure {city}'s air[./ for me.] | What is the smog like over {city}?""",
    "get_sunrise": """[When/How early/How late] does [the day begin/it get light/night fall/dusk come] in {city}? | Dawn and dusk for {city}[?/, please.] | When should I get up to see the first light in {city}? | When is it dark in {city}? |
        {city}: sun up when[?/ and down when?] | Until when is there daylight in {city}? | Hour of sunset, {city}[?/.] | I photograph the evening sun in {city}; when does it go? | How long will the sun shine in {city}? |
        When do I see the first sunlight in {city}? | What are the sun's hours in {city}? | Is the sun up before I leave {city}?""",
    "get_tide": """[When/How soon] [is/will be] [ebb/flood/low water] at {harbor}? | Is the sea [in or out/rising/falling] at {harbor}? | Can my boat leave {harbor}, is there [enough water/water]? | Ebb and flood, {harbor}. | Sea level over the day at {harbor}? |
        We fish at {harbor}; when does the sea come in? | {harbor} tides[?/ today?] | I walk the mud flats near {harbor}, when do I have to be back? | When is the beach at {harbor} under water? | Highest water at {harbor}? |
        How deep does it get at {harbor}, and when? | Water times of {harbor}, please.""",
    "set_weather_alert": """[Shout/Write me/Send me a warning] [if/when] {city} [drops to/climbs to/hits] {threshold} degrees. | Keep an eye on {city}: {threshold} degrees is my limit. | At {threshold} degrees in {city}, [wake me/alarm me]. |
        [Should/If] {city} get to {threshold} degrees, [tell me/I must know]. | My plants in {city} die at {threshold} degrees, warn me. | Temperature warning: {city}, {threshold}. | {city}, {threshold} degrees: [alarm/notify me]. |
        I'd like a warning as soon as {city} is at {threshold} degrees. | Watch {city}. Mark is {threshold} degrees. | {threshold} degrees in {city} should trigger [a message/an alarm].""",
    "create_event": """{title} happens on {date} at {time}[./, save the date.] | Save the date: {title}, {date}, {time}. | [Schedule/Enter/Pencil in/Fix] {title} [on {date} at {time}/at {time} on {date}]. | {date}, {time}: {title}. Put it down. |
        My calendar should show {title} on {date} at {time}. | We meet for {title} on {date}, {time}. [Note it/Put it in]. | At {time} on {date} there's {title}[, add that/, block it]. | Keep {date} {time} free for {title}. |
        Invite for {title}: {date}, {time}. | Let's meet at {time} on {date}, call it {title}. | Add an appointment {title}; day {date}, hour {time}. | Hold a slot on {date} at {time}: {title}. | Arrange a meeting named {title} for {time}, {date}.""",
    "list_events": """[Am I/Are we] [busy/free/booked] on {date}? | Where do I have to be on {date}? | My appointments, {date}[./?] | What did I put down for {date}? | [Show/Give] me {date} in my diary. | Is there room on {date}? |
        Which things are on for {date}? | How full is {date}? | What happens on {date}? | Who do I meet on {date}? | {date}: [busy/what's on/appointments]? | Do I have time on {date}? | List what I do on {date}. | Run through {date} with me. |
        Can I take {date} off or is there something?""",
    "delete_event": """{event_id} [was called off/isn't happening/won't take place][, take it out./.] | Take {event_id} out of my [calendar/diary]. | We skip {event_id}. | I don't go to {event_id}, [drop it/out with it]. | Strike {event_id}. |
        Nobody comes to {event_id}, remove it. | Calendar: delete {event_id}. | {event_id} can go. | No meeting {event_id} any more. | Make {event_id} disappear from the calendar. | Unschedule {event_id}. | Scrap the meeting {event_id}.""",
    "set_reminder": """At {time} I [have to/want to/must] [hear/read/think of]: {text}. | [Say/Write/Show] {text} to me at {time}. | I always forget, so remind me: {text}, {time}. | {time}: {text}. [Remind me/Don't let me miss it]. |
        {text} is due at {time}, jog my memory. | When it's {time}, [tell me/say] {text}. | Make sure I remember {text} at {time}. | I need to be told {text} at {time}. | Give me a nudge, {time}, {text}. | Memo for {time}: {text}. |
        Remember this for {time}: {text}. | Bring up {text} at {time}.""",
    "set_timer": """[Wake me/Call me/Beep/Ring] [in/after] {minutes} minutes. | {minutes} minutes, [go/start now/from now]. | The [pasta/tea/cake/pizza] takes {minutes} minutes, [time it/watch the clock]. | Clock {minutes} minutes[./ for me.] |
        Measure {minutes} minutes. | My nap is {minutes} minutes. | Stop me after {minutes} minutes. | Count {minutes} minutes down. | {minutes}-minute timer. | Set it to ring {minutes} minutes from now. | I have {minutes} minutes, let me know when they're up. |
        Egg timer, {minutes} minutes.""",
    "get_time": """[How late/What hour] is it [in/over in/at] {city}? | Are they [awake/asleep/at work] in {city}? | Local time {city}[?/.] | My friend in {city}: can I call, what time is it there? | What do the clocks show in {city}? |
        Is it [morning/evening/midnight/noon] in {city}? | What's the time difference, I mean the time in {city}? | Clock for {city}? | {city}'s time, please. | Tell me what o'clock it is in {city}. | Have shops opened in {city} yet, what's the time? |
        Time of day in {city}?""",
    "send_email": """[Write/Draft and send] a mail. [To/Address]: {to}. [Subject/Title]: {subject}. [Body/Content]: {body}. | {to} gets an email: {subject}, {body}. | E-mail for {to}: heading {subject}, message {body}. |
        [Contact/Answer] {to} by mail; the subject is {subject} and the text {body}. | Subject {subject}, to {to}, content {body}. Send. | Put {body} in a mail to {to} and title it {subject}. | Tell {to} by mail {body}, subject {subject}. |
        Let {to} have this mail: {subject} / {body}. | With subject {subject}, email {body} to {to}. | A mail should go to {to}. Its subject is {subject}, it says {body}. | Reply to {to}: {subject}. {body}""",
    "send_message": """[Type/SMS/Send word] to {recipient}: {text}. | {recipient} needs to [hear/read] this: {text}. | [Get/Bring] word to {recipient}: {text}. | My message to {recipient} is {text}. | {text}, [tell/send] that to {recipient}. |
        Text message, {recipient}, {text}. | Ask {recipient}: {text}. | Say {text} to {recipient}. | {recipient} waits for a message. Write {text}. | Forward {text} to {recipient}'s phone. | Chat with {recipient}: {text}. | Answer {recipient}: {text}. |
        Could {recipient} get this from me: {text}? | Message saying {text} for {recipient}.""",
    "find_contact": """[How do I/How can one/Can I/Where do I] [get in touch with/get hold of/write to/phone/ring/call] {name}? | [What's/Do we have/Have I got] {name}'s [number/mail/address/phone/mobile]? | I'm looking for {name}'s [number/contact data/mail address]. |
        {name}'s [phone/mail/details/number][?/, please.] | I [lost/forgot/need] the [number/mail/address] of {name}. | Is {name} in my [address book/phone book/contacts]? | I want to [write/speak/talk] to {name}; [how/which number/which address]? |
        Who has {name}'s number? | Give me whatever contact data you have on {name}. | Pull up {name} from the phone book. | By which mail address do I get {name}? | What do you know about {name}, phone or mail? | Number for {name}? | Person: {name}. I need phone and mail. |
        Under which number does {name} answer? | I can't find {name}'s phone number. | Tell me how to contact {name}. | Where can {name} be contacted?""",
    "add_contact": """{name} has a [new email/mail]: {email}. [Keep it/Put it in my contacts]. | [Enter/File/Register] {name} [with/under/:] {email}[./ in the phone book.] | Mail address {email} belongs to {name}, add them. |
        New in my contacts: {name} ({email}). | I want {name} in my address book; {email}. | This is {name}'s mail: {email}. Store it. | Contact entry: {name}, {email}. | Add to address book: {name}, {email}. | {email} is {name}, keep that. |
        Don't lose {name}'s address {email}. | Write {name} and {email} in my contacts.""",
    "call_number": """[I have to/I'd like to/Let me] [speak with/phone/ring/reach] {phone_number}. | Put me through to {phone_number}. | Who answers at {phone_number}? Call. | The number is {phone_number}, [dial it/ring there/call]. | {phone_number}, [call/dial/ring] [please./now.] |
        Make the phone ring at {phone_number}. | Place the call, {phone_number}. | Give them a call: {phone_number}. | Telephone {phone_number}. | Can you dial {phone_number}? | Phone call with {phone_number}, please. | Ring up {phone_number}.""",
    "list_unread": """[Any/Did any/Has any] [mail/letters/new post][?/ come?/ arrived?] | Who [wrote to me/sent me something]? | What did I [miss/get] in my [inbox/mail]? | How's my inbox? | [Open/Check/Go through] my [inbox/mails]. | Which mails have I not read? |
        Am I missing emails? | Fresh mail? | New messages? | My post, please. | Show what I haven't read yet. | Is my inbox empty? | Count my unread messages. | What came in by mail? | I haven't checked my mail, what's there? | Emails I didn't open.""",
}
