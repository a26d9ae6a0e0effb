"""More ways to ask for the known tools, in a looser voice than the tools' own."""

# ruff: noqa: E501

PHRASINGS: dict[str, str] = {
    "get_weather": """How warm is it in {city}? | How cold is it in {city} today? | Is it raining in {city}? | Weather {city} | {city} weather now? |
        I want to know the weather over in {city}. | Look outside in {city} for me. | What are the conditions in {city}? | What is the temperature in {city}? |
        Give me the weather report from {city}. | Should I take an umbrella in {city}? | Compare the weather in {city}.""",
    "get_forecast": """Is {date} going to be sunny in {city}? | {city}, {date}: what does the forecast say? | How warm will it get in {city} on {date}? |
        I travel to {city} on {date}, what weather do I get? | Tell me the outlook for {date} in {city}. | What's coming in {city} on {date}, weather-wise?""",
    "get_air_quality": """Can I breathe well in {city}? | Is there smog in {city}? | How polluted is {city}? | Give me the pollution level of {city}. |
        I want to jog in {city}; how's the air? | Is the air okay in {city}?""",
    "get_sunrise": """How early does it get light in {city}? | When is dawn in {city}? | Sun times for {city}, please. | When will the sun go down in {city}? |
        I want to see the sun come up in {city}, when is it? | How long is the daylight in {city}?""",
    "get_tide": """How is the water level at {harbor}? | When does the water rise at {harbor}? | Is it low water at {harbor}? | I'm sailing from {harbor}, tides? |
        Give me the high and low water at {harbor}. | Tide table for {harbor}?""",
    "set_weather_alert": """Tell me when {city} gets to {threshold} degrees. | Notify me at {threshold} degrees in {city}. | Make an alarm for {threshold} degrees in {city}. |
        If {city} passes {threshold} degrees, I want to hear about it. | Watch the temperature in {city} for {threshold} degrees.""",
    "create_event": """Make a calendar entry {title}, {date}, {time}. | I have {title} on {date} at {time}, add it. | Plan {title} at {time} on {date}. |
        Block {date} at {time} for {title}. | Let's do {title} on {date} at {time}. | Note in my diary: {title}, {date}, {time}. | Set up {title} for {date} {time}.""",
    "list_events": """Do I have anything on {date}? | How does my day look on {date}? | What's planned for {date}? | Is {date} free? | Tell me my schedule on {date}. |
        Which meetings do I have on {date}? | Agenda {date}? | What's up on {date}?""",
    "delete_event": """{event_id} is off, remove it. | Wipe {event_id} from the agenda. | The appointment {event_id} won't happen, delete it. | Erase event {event_id}. |
        I can't make it to {event_id}, cancel it. | Clear event {event_id}.""",
    "set_reminder": """Don't let me forget {text} at {time}. | Nudge me at {time}: {text}. | Reminder at {time}: {text}. | I must remember {text}, remind me at {time}. |
        Alert me at {time} with the words {text}. | Note {text} and remind me at {time}. | Tell me {text} at {time}.""",
    "set_timer": """{minutes} minutes on the clock, please. | Countdown of {minutes} minutes. | Tell me when {minutes} minutes are over. | Begin a {minutes}-minute countdown. |
        The eggs need {minutes} minutes. | Let me know in {minutes} minutes. | Timer: {minutes} minutes.""",
    "get_time": """What's the clock in {city}? | Is it late in {city}? | Do you know the time in {city}? | {city} time? | When I call {city} now, what time is it there? |
        Give me the hour in {city}. | Look up the current time in {city}. | Is it night in {city}?""",
    "send_email": """Compose a mail to {to}: subject {subject}, body {body}. | Please mail {to}. Subject: {subject}. Text: {body}. | Inform {to} by email, subject {subject}: {body}. |
        I want to email {to} with title {subject} and content {body}. | To {to}, about {subject}: {body}. Send it.""",
    "send_message": """Message for {recipient}: {text}. | Drop {recipient} a line: {text}. | Pass on to {recipient}: {text}. | {recipient} should know {text}. |
        Send {recipient} {text}. | Inform {recipient}: {text}. | Reply to {recipient} with {text}. | Give {recipient} the message {text}.""",
    "find_contact": """I need the number of {name}. | Do you have {name}'s details? | How do I contact {name}? | Get {name}'s phone number. | Where can I write to {name}? |
        Show {name}'s contact card. | Who is {name}? Look in the contacts. | I want to call {name}, what's the number? | Email of {name}?""",
    "add_contact": """Put {name} in the address book, email {email}. | Remember {name}: {email}. | I met {name}, here's the email: {email}. Add a contact. |
        Create contact {name} with address {email}. | {name}'s mail is {email}, save it. | Note down {name}, {email}, in contacts.""",
    "call_number": """Get me {phone_number}. | I need to speak to {phone_number}. | Start a call with {phone_number}. | Connect me to {phone_number}. | Give {phone_number} a ring. |
        Try {phone_number}. | Make a call: {phone_number}.""",
    "list_unread": """What's new in my inbox? | Have I got mail? | Did anyone write to me? | Unread mail, please. | Look into my mailbox. | How many emails are unread? |
        Let me see new messages in the mailbox. | Did I get any email?""",
    "convert_currency": """{amount} {from_currency} are how many {to_currency}? | Exchange {amount} {from_currency} for {to_currency}. | Turn {amount} {from_currency} into {to_currency}. |
        It costs {amount} {from_currency}; what's that in {to_currency}? | I need {amount} {from_currency} expressed in {to_currency}. | {amount} {from_currency} to {to_currency} |
        How many {to_currency} would I get for {amount} {from_currency}? | What are {amount} {from_currency} worth in {to_currency}?""",
    "get_exchange_rate": """{base} to {quote} rate? | What is one {base} in {quote}? | Where does {base} stand against {quote}? | Look up {base}/{quote}. |
        At which rate is {base} changed to {quote}? | Current {base} {quote} rate. | What's {base} worth in {quote} right now?""",
    "get_stock_price": """{symbol} price? | Check {symbol}. | What's {symbol} worth? | How much is {symbol} today? | Tell me what {symbol} shares cost. | How are {symbol} shares doing? |
        I own {symbol}, what's it at? | Latest quote on {symbol}. | Is {symbol} up or down? | What do {symbol} shares cost at the moment?""",
    "transfer_money": """I owe {recipient} {amount} {currency}, send it. | {amount} {currency} for {recipient}. | Settle {amount} {currency} with {recipient}. |
        Let {recipient} have {amount} {currency}. | Give {recipient} {amount} {currency} from my account. | Make a transfer: {recipient}, {amount} {currency}.""",
    "get_balance": """What's on account {account_id}? | How rich am I on {account_id}? | Account {account_id}: balance? | Is there money in {account_id}? |
        Tell me the amount in {account_id}. | What is left in {account_id}?""",
    "calculate_loan": """If I take {principal} at {rate} percent for {years} years, what do I pay a month? | Mortgage of {principal}, {rate} percent interest, {years} years. |
        Compute the instalment: {principal}, {rate} percent, {years} years. | I need a loan of {principal} for {years} years with {rate} percent interest. |
        {principal} borrowed at {rate} percent over {years} years: monthly cost?""",
    "search_products": """I need a {query}. | Is there a {query} for sale? | Look for {query} in the store. | What {query} do you have? | I'd love a new {query}. | Browse {query}. |
        Which {query} can you offer? | Find {query}.""",
    "get_order_status": """Did {order_id} leave the warehouse? | When will {order_id} come? | Status of {order_id}? | I'm waiting for {order_id}. | Follow up on my purchase {order_id}. |
        Hello, where is order {order_id}? | What about my order {order_id}? | Is {order_id} on its way? | My order {order_id} hasn't come.""",
    "place_order": """I want {quantity} {product}. | {quantity} {product}, please order them. | Send me {quantity} {product}. | Put in an order: {quantity} {product}. |
        Could you buy {quantity} {product}? | Add {quantity} {product} and order. | We need {quantity} {product}, buy them.""",
    "cancel_order": """Order {order_id} should be cancelled. | Drop order {order_id}. | I no longer need {order_id}, cancel. | Revoke {order_id}. | Abort my purchase {order_id}. |
        {order_id} was a mistake, cancel the order.""",
    "apply_coupon": """Discount code: {code}. | Enter voucher {code}. | Does {code} still work? Apply it. | I got {code} by mail, use it as a coupon. | Reduce my total with {code}. |
        Put promo code {code} in.""",
    "write_review": """I want to review {product}: {stars} stars, {text}. | {stars} stars for the {product}. Say {text}. | My opinion of {product}: {stars} stars, {text}. Post it. |
        Grade the {product} with {stars} stars and the comment {text}. | Publish a review: {product}, {stars} stars, {text}.""",
    "search_flights": """Flights {date} {origin} {destination}? | I need to get from {origin} to {destination} by plane on {date}. | Look for planes from {origin} to {destination} on {date}. |
        From {origin} to {destination}, leaving {date}. Which flights? | Air tickets {origin} - {destination} on {date}. | We fly on {date}, {origin} to {destination}; what is there?""",
    "book_hotel": """A room in {city}, {nights} nights, from {check_in}. | Stay in {city}: {check_in} for {nights} nights. | We need accommodation in {city} from {check_in}, {nights} nights. |
        Hotel {city}, arriving {check_in}, {nights} nights. | I'm in {city} on {check_in} for {nights} nights and need a hotel. | Get me a place to sleep in {city} on {check_in} for {nights} nights.""",
    "get_directions": """How far is it from {origin} to {destination}? | I'm at {origin} and want to go to {destination}. | Route {origin} - {destination}? | Take me from {origin} to {destination}. |
        What's the best way from {origin} to {destination}? | How do we reach {destination} from {origin}? | Which road goes from {origin} to {destination}?""",
    "find_nearby": """Where's a {category} around {location}? | Closest {category} to {location}? | I need a {category} near {location}. | Look for a {category} in the area of {location}. |
        Is there any {category} at {location}? | Somewhere near {location} there must be a {category}.""",
    "get_train_times": """Next train at {station}? | I'm at {station}, which train can I take? | Departures {station}. | What leaves {station} next? | Give me the timetable of {station}. |
        When can I leave {station} by train? | Rail times for {station}.""",
    "rent_car": """A car for {days} days in {city} from {start_date}. | I want to drive in {city}: {start_date}, {days} days. | Hire me a vehicle in {city} on {start_date}, {days} days. |
        Need a car, {city}, {start_date}, {days} days. | Book a rental car in {city} from {start_date} for {days} days. | Lease a car for {days} days in {city}, starting {start_date}.""",
    "play_music": """I'd like some music: {query}. | Music: {query}. | Let me hear {query}. | Turn on {query}. | Do you have {query}? Play it. | Queue {query}. | Next song: {query}. | Some {query}, please, out loud.""",
    "create_playlist": """A playlist {name} with {genre} songs, please. | Start a {genre} list named {name}. | Give me a {genre} mix called {name}. | Collect {genre} in a playlist {name}. |
        Name it {name}, a playlist of {genre}. | I need {genre} for the party, playlist {name}.""",
    "search_movies": """What {genre} movie can I watch tonight? | A {genre} film, please. | Look for {genre} movies. | Show me {genre} films. | I like {genre} movies, find one. | Movie night: something {genre}.""",
    "get_news": """Tell me the news on {topic}. | What's going on in {topic}? | {topic} news? | I want to read about {topic}. | Headlines: {topic}. | Has anything happened in {topic}? |
        Update me on {topic}. | Latest articles on {topic}.""",
    "get_score": """Who won, {team} or the others? | {team} score? | How did the game of {team} go? | Did {team} lose? | What's the result of {team}? | I missed the {team} game, how was it? | Match result {team}.""",
    "set_volume": """Louder: {level} percent. | I can't hear it, volume {level}. | Sound at {level}. | Bring the volume to {level}. | It's too loud, set it to {level}. | Make it {level} percent loud.""",
    "set_thermostat": """It's cold, set the {room} to {temperature}. | {room}: {temperature} degrees. | I want the {room} at {temperature} degrees. | Cool the {room} to {temperature} degrees. |
        Turn the heating in the {room} to {temperature}. | Adjust the {room} to {temperature} degrees. | {temperature} degrees in the {room}, please.""",
    "switch_light": """It's dark, lights {on} in the {room}. | Turn the light {on} in the {room}. | {room}: light {on}. | Switch {on} the {room} lamp. | The lamp in the {room} should be {on}. |
        Light {on}, {room}. | Could you turn {on} the {room} light? | I'm leaving, {room} light {on}.""",
    "dim_light": """{room} light to {brightness} percent. | Only {brightness} percent light in the {room}. | Brightness {brightness} for the {room}. | Set the lamps in the {room} to {brightness} percent. |
        It's too bright in the {room}, make it {brightness} percent.""",
    "lock_door": """Close the {door} door and lock it. | Is the {door} shut? Please lock. | The {door} door must be locked. | Lock up the {door}. | Put the lock on the {door} door. |
        I forgot to lock the {door} door.""",
    "start_vacuum": """It's dusty in the {room}, vacuum it. | The {room} is dirty. Send the vacuum. | Robot to the {room}, please. | Have the {room} vacuumed. | Sweep the {room} with the robot. |
        Please clean in the {room}.""",
    "read_sensor": """Sensor {sensor_id}? | What's the level on sensor {sensor_id}? | Get the measurement of {sensor_id}. | Query sensor {sensor_id}. | {sensor_id} reading, please. | Tell me what {sensor_id} measures.""",
    "read_file": """Give me {path}. | Content of {path}? | Load {path}. | I need the text of {path}. | Look into {path}. | View {path}. | Can you read {path} to me? | What is written in {path}?""",
    "write_file": """Make a file {path} that says {content}. | {content} goes into {path}. | Fill {path} with {content}. | New file {path}: {content}. | Overwrite {path} with {content}. |
        Keep {content} in {path}.""",
    "search_files": """I can't find {pattern}, search for the file. | Do I have a file {pattern}? | List files named {pattern}. | Look up {pattern} among my files. | Files with {pattern} in the name? |
        Search documents for {pattern}.""",
    "create_ticket": """Report {title} with {priority} priority. | There is a problem: {title}. Ticket with priority {priority}. | Add {title} to the tracker as {priority}. |
        I found a bug, {title}. Priority {priority}. | Register an issue {title} ({priority}). | Start a ticket {title}, {priority}.""",
    "update_ticket": """{ticket_id} is {status}. | Make {ticket_id} {status}. | Put {ticket_id} to {status}. | Ticket {ticket_id} → {status}. | The state of {ticket_id} changes to {status}. | Label ticket {ticket_id} as {status}.""",
    "restart_server": """{server} is down, restart it. | Server {server} needs a reboot. | Turn {server} off and on again. | Reset {server}. | Kick {server}. | Can you reboot {server}? | Start {server} again.""",
    "run_query": """In {database}, look for {query}. | {database}: run {query}. | Do the query {query} on {database}. | Search database {database} for {query}. | Use {database} and query {query}.""",
    "web_search": """Look on the internet for {query}. | Anything online about {query}? | Web: {query}. | Find {query} on the web. | Do research on {query}. | Search online: {query}. | I want to know about {query}, search the web.""",
    "fetch_page": """Go to {url}. | Show me {url}. | Load the site {url}. | What does {url} say? | Visit {url}. | Download {url}. | Check the website {url}. | Tell me about {url}.""",
    "translate_text": """{text} in {target_language}? | I want to say {text} in {target_language}. | Say {text} in {target_language}. | What's the {target_language} word for {text}? |
        Turn {text} into {target_language}. | How would I write {text} in {target_language}? | Translation of {text} to {target_language}.""",
    "calculate": """{expression} = ? | {expression} | Do the math: {expression}. | Solve {expression}. | What's {expression}? | What do I get for {expression}? | Figure out {expression}.""",
    "convert_units": """{value} {from_unit} are how many {to_unit}? | {value} {from_unit} to {to_unit} | How long is {value} {from_unit} in {to_unit}? | Turn {value} {from_unit} into {to_unit}. |
        I have {value} {from_unit} and want {to_unit}. | Give me {value} {from_unit} in {to_unit}.""",
    "define_word": """What is {word}? | {word}: meaning? | I don't know the word {word}. | Give me the meaning of {word}. | What's a {word}? | Can you define {word}?""",
    "summarize_numbers": """{numbers}: what's the mean? | Compute the average of {numbers}. | The numbers are {numbers}. Mean? | Largest and smallest of {numbers}? | I have {numbers}, average them. | Calculate statistics for {numbers}.""",
    "log_workout": """{minutes} minutes of {activity} today. | I was {activity} for {minutes} minutes. | Note a workout: {activity}, {minutes} minutes. | Training: {activity}, {minutes} minutes. |
        Write down {activity} for {minutes} minutes. | Track {minutes} minutes {activity}.""",
    "log_weight": """Weight {kilograms} kilograms. | Today I weigh {kilograms}. | Write down {kilograms} kilograms body weight. | I'm at {kilograms} kilograms now. | Weight today: {kilograms}. | Track my weight, {kilograms} kilograms.""",
    "book_appointment": """{doctor}, {date}, {time}: book me in. | I'm ill, I want to see {doctor} on {date} at {time}. | Doctor's visit with {doctor} at {time} on {date}. |
        Schedule me with doctor {doctor} for {date} at {time}. | Is {doctor} free on {date} at {time}? Book. | Reserve {date} {time} with {doctor}.""",
    "get_steps": """My steps on {date}? | How much did I move on {date}? | Did I walk a lot on {date}? | Count my steps for {date}. | {date}: how many steps? | Step counter for {date}.""",
    "get_medication": """How often do I take {name}? | Dose of {name}? | I have to take {name}, how much? | Tell me about the drug {name}. | Medicine {name}: dosage? | What does one take of {name}?""",
    "find_recipe": """There are {ingredients} in the kitchen; what can I make? | Cook something with {ingredients}. | Any dish with {ingredients}? | I bought {ingredients}, give me a recipe. |
        Dinner from {ingredients}? | Use up {ingredients} in a recipe.""",
    "get_recipe": """I'd like to make {dish}. | How is {dish} cooked? | {dish} recipe? | What do I need for {dish}? | Instructions for {dish}. | Tell me how {dish} is made. | Help me cook {dish}.""",
    "reserve_table": """A table at {restaurant}, {date}, {time}, {people} people. | We eat at {restaurant} on {date} at {time}, {people} of us. | Dinner for {people} at {restaurant} on {date}, {time}. |
        {restaurant} for {people} at {time} on {date}, please reserve. | Seats for {people} at {restaurant} on {date} at {time}.""",
    "add_to_shopping_list": """We need {item}. | Buy {item} next time, note it. | {item} is missing, write it down for shopping. | List: {item}. | Remember to buy {item}. | Next time at the store: {item}. | Put down {item} for the groceries.""",
    "get_nutrition": """How fat is {food}? | How much energy does {food} have? | Will {food} make me fat? Calories? | {food}: calories? | Nutritional value of {food}. | Count the calories of {food}. | Is there protein in {food}?""",
    "order_food": """{quantity} {dish} for delivery to {address}. | Bring {quantity} {dish} to {address}. | Dinner: {quantity} {dish}, to {address}. | Please have {quantity} {dish} sent to {address}. |
        I'm hungry, {quantity} {dish} to {address}.""",
}
