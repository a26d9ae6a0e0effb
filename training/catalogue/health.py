"""Health and sport."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "log_workout",
        "Record a workout.",
        "activity:exercise; minutes:minutes; distance_km:amount?(over {v} km)",
        "log a workout",
        """Log {minutes} minutes of {activity}. | I did {activity} for {minutes} minutes, record it. | Add {minutes} minutes of {activity} to my workouts. |
        Record a {activity} workout of {minutes} minutes. | Save my {activity}, {minutes} minutes.""",
        "Put down {minutes} minutes of {activity} for today. | I just finished {minutes} minutes of {activity}, note it.",
        "workout_id:id; calories:count; activity=activity",
        "Your {activity} is logged: {calories} calories ({workout_id}). | Recorded {activity}, {calories} calories burned. | Workout {workout_id}: {activity}, {calories} calories.",
    ),
    tool(
        "log_weight",
        "Record a body weight.",
        "kilograms:amount; date:date?(on {v})",
        "log a weight",
        """Log my weight as {kilograms} kilograms. | I weigh {kilograms} kilograms, save that. | Record {kilograms} kilograms as my weight. | My weight is {kilograms} kilograms today, note it.""",
        "Save a weight of {kilograms} kilograms. | The scale says {kilograms} kilograms, record it.",
        "kilograms=kilograms; change:decimal",
        "Saved {kilograms} kilograms, a change of {change}. | Your weight is {kilograms} kilograms ({change}). | Logged: {kilograms} kilograms, {change} since last time.",
    ),
    tool(
        "book_appointment",
        "Book an appointment with a doctor.",
        "doctor:person; date:date; time:time; reason:sentence?(with the note {v})",
        "book an appointment",
        """Book an appointment with {doctor} on {date} at {time}. | I need to see {doctor} on {date} at {time}. | Make me an appointment with doctor {doctor}, {date}, {time}. |
        Get me in with {doctor} on {date} at {time}.""",
        "Could {doctor} see me on {date} at {time}? Book it. | Arrange a visit to {doctor} for {date}, {time}.",
        "appointment_id:id; doctor=doctor; date=date; time=time",
        "You see {doctor} on {date} at {time} ({appointment_id}). | Appointment {appointment_id} with {doctor} is on {date} at {time}. | Booked: {doctor}, {date}, {time}.",
    ),
    tool(
        "get_steps",
        "Get the step count of a day.",
        "date:date",
        "check my steps",
        """How many steps did I take on {date}? | Steps on {date}? | Show my step count for {date}. | How far did I walk on {date}? | Check my steps for {date}.""",
        "Tell me the number of steps I made on {date}. | Was I active on {date}? Show steps.",
        "date=date; steps:count; goal:count",
        "You took {steps} steps on {date}; the goal was {goal}. | {steps} of {goal} steps on {date}. | On {date} you walked {steps} steps, with a goal of {goal}.",
    ),
    tool(
        "get_medication",
        "Look up the dose of a medication.",
        "name:word; weight_kg:count?(for {v} kg)",
        "look up a medication",
        """What's the dose of {name}? | Look up the medication {name}. | How much {name} should be taken? | Dosage for {name}, please.""",
        "How is {name} dosed? | Tell me the usual amount of the medicine {name}.",
        "name=name; dose_mg:count; times_a_day:small",
        "Take {dose_mg} mg of {name} {times_a_day} times a day. | {name}: {dose_mg} mg, {times_a_day} times a day. | The dose of {name} is {dose_mg} mg, {times_a_day} times a day.",
    ),
)
