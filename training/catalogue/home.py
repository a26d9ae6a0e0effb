"""The house."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "set_thermostat",
        "Set the temperature of a room.",
        "room:room; temperature:signed; mode:mode?(in {v} mode)",
        "set the thermostat",
        """Set the {room} to {temperature} degrees. | Make the {room} {temperature} degrees. | Heat the {room} to {temperature} degrees. |
        Thermostat in the {room} to {temperature}, please. | I'd like {temperature} degrees in the {room}.""",
        "Bring the {room} up to {temperature} degrees. | The {room} should be {temperature} degrees.",
        "room=room; temperature=temperature; current:signed",
        "The {room} is set to {temperature} degrees; it is {current} now. | I set {temperature} degrees in the {room}, currently {current}. | Target for the {room} is {temperature}; right now it is {current} degrees.",
    ),
    tool(
        "switch_light",
        "Turn the lights of a room on or off.",
        "room:room; on:switch",
        "switch the lights",
        """Turn {on} the lights in the {room}. | Switch the {room} light {on}. | Lights {on} in the {room}. | Put the light {on} in the {room}. |
        Please turn the {room} lights {on}. | {room} light {on}.""",
        "I want the lights {on} in the {room}. | Make it so that the {room} light is {on}.",
        "room=room; power:percent",
        "The {room} light is updated and draws {power} watts. | Done in the {room}; the light draws {power} watts. | The light in the {room} now uses {power} watts.",
    ),
    tool(
        "dim_light",
        "Set the brightness and color of a light.",
        "room:room; brightness:percent; color:color?(in {v})",
        "dim the lights",
        """Dim the {room} lights to {brightness} percent. | Set the brightness in the {room} to {brightness}. | {room} lights at {brightness} percent, please. |
        Make the {room} light {brightness} percent bright.""",
        "Lower the {room} lamps to {brightness} percent. | I want {brightness} percent light in the {room}.",
        "room=room; brightness=brightness",
        "The {room} lights are at {brightness} percent. | Brightness in the {room} is now {brightness} percent. | I set the {room} to {brightness} percent.",
    ),
    tool(
        "lock_door",
        "Lock a door of the house.",
        "door:room; code:id?(with code {v})",
        "lock a door",
        """Lock the {door} door. | Please lock the door of the {door}. | Is the {door} door locked? Lock it. | Secure the {door} door. | Shut and lock the {door} door.""",
        "Make sure the {door} door is locked. | Bolt the {door} door.",
        "door=door; status:'locked'; battery:percent",
        "The {door} door is {status}, its battery at {battery} percent. | I locked the {door} door (battery {battery} percent). | {status}: {door}. Battery: {battery} percent.",
    ),
    tool(
        "start_vacuum",
        "Send the robot vacuum to clean a room.",
        "room:room; mode:mode?(in {v} mode)",
        "vacuum a room",
        """Vacuum the {room}. | Clean the {room} floor. | Send the robot to the {room}. | Start the vacuum in the {room}. | The {room} needs vacuuming.""",
        "Have the robot clean up the {room}. | Hoover the {room}, please.",
        "room=room; minutes:minutes; battery:percent",
        "Cleaning the {room} takes {minutes} minutes; the battery is at {battery} percent. | The robot started in the {room}: {minutes} minutes, battery {battery} percent. | The {room} will be clean in {minutes} minutes (battery {battery} percent).",
    ),
    tool(
        "read_sensor",
        "Read a sensor of the house.",
        "sensor_id:id",
        "read a sensor",
        """What does sensor {sensor_id} say? | Read sensor {sensor_id}. | Value of {sensor_id}, please. | What's the reading on {sensor_id}? | Check sensor {sensor_id}.""",
        "Give me the current value from sensor {sensor_id}. | Sensor {sensor_id}, what does it measure?",
        "sensor_id=sensor_id; value:decimal; unit:word",
        "Sensor {sensor_id} reads {value} {unit}. | The value of {sensor_id} is {value} {unit}. | {sensor_id} shows {value} {unit}.",
    ),
)
