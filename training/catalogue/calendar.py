"""Calendar, reminders and time."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "create_event",
        "Add an event to the calendar.",
        "title:phrase; date:date; time:time; attendees:people?(with {v}); duration_minutes:minutes?(for {v} minutes)",
        "create a calendar event",
        """Add {title} to my calendar on {date} at {time}. | Schedule {title} for {date} at {time}. | Put {title} on {date} at {time} in the calendar. |
        Create an event called {title} on {date} at {time}. | Book {title} on {date} at {time}.""",
        "Please plan {title} for {date}, starting at {time}. | I need {title} in my calendar: {date}, {time}.",
        "event_id:id; title=title; date=date; time=time",
        """"{title}" is in your calendar on {date} at {time}. | I scheduled "{title}" for {date} at {time}. |
        Done: "{title}" on {date} at {time}, event {event_id}.""",
    ),
    tool(
        "list_events",
        "List the calendar events of a day.",
        "date:date",
        "look at the calendar",
        """What's on my calendar on {date}? | What do I have on {date}? | Show my events for {date}. | Am I busy on {date}? |
        List my appointments for {date}.""",
        "Anything planned on {date}? | Read me the agenda for {date}.",
        "date=date; count:small; first:phrase; at:time",
        """You have {count} events on {date}; the first is "{first}" at {at}. | On {date} there are {count} events, starting with "{first}" at {at}. |
        Your calendar for {date} has {count} events. First: "{first}" at {at}.""",
    ),
    tool(
        "delete_event",
        "Remove an event from the calendar.",
        "event_id:id; notify:boolean?(and notify the guests)",
        "delete an event",
        """Delete event {event_id}. | Cancel the event {event_id}. | Remove {event_id} from my calendar. | Please drop calendar event {event_id}. |
        Take event {event_id} off my calendar.""",
        "Get rid of event {event_id}. | I no longer need event {event_id}, delete it.",
        "event_id=event_id; status:'deleted'",
        "Event {event_id} was {status}. | I removed event {event_id} from your calendar. | Done, event {event_id} is gone.",
    ),
    tool(
        "set_reminder",
        "Set a reminder for a given time.",
        "text:sentence; time:time; date:date?(on {v})",
        "set a reminder",
        """Remind me at {time} with the text {text}. | Set a reminder at {time} saying {text}. | At {time}, remind me: {text}. |
        I need a reminder at {time} that says {text}. | Create a reminder {text} for {time}.""",
        "Ping me at {time} with {text}. | Could you set up a {time} reminder that reads {text}?",
        "reminder_id:id; time=time",
        "Reminder {reminder_id} is set for {time}. | I will remind you at {time}; the id is {reminder_id}. | Done, you will be reminded at {time} ({reminder_id}).",
    ),
    tool(
        "set_timer",
        "Start a countdown timer.",
        "minutes:minutes; label:phrase?(called {v})",
        "start a timer",
        """Set a timer for {minutes} minutes. | Start a {minutes} minute timer. | Timer for {minutes} minutes, please. |
        Count down {minutes} minutes. | Wake me in {minutes} minutes with a timer.""",
        "Run a timer of {minutes} minutes. | Give me {minutes} minutes on the timer.",
        "timer_id:id; minutes=minutes; ends:time",
        "Your {minutes} minute timer is running until {ends}. | Timer {timer_id} ends at {ends}. | The timer is set: {minutes} minutes, ending at {ends}.",
    ),
    tool(
        "get_time",
        "Get the local time in a city.",
        "city:city",
        "check the local time",
        """What time is it in {city}? | Tell me the time in {city}. | What's the local time in {city}? | Current time in {city}? |
        How late is it in {city}?""",
        "Which hour is it now in {city}? | Time in {city}, please.",
        "city=city; time:time; weekday:weekday",
        "It is {time} on {weekday} in {city}. | The local time in {city} is {time} ({weekday}). | In {city} it is {weekday}, {time}.",
    ),
)
