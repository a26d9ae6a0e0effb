"""Journeys, hotels and maps."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "search_flights",
        "Search for flights between two cities.",
        "origin:city; destination:city; date:date; cabin:cabin?(in {v} class); passengers:small?(for {v} passengers)",
        "search for flights",
        """Find flights from {origin} to {destination} on {date}. | Flights {origin} to {destination}, {date}. | I want to fly from {origin} to {destination} on {date}. |
        Are there flights to {destination} from {origin} on {date}? | Search flights leaving {origin} for {destination} on {date}.""",
        "Which planes go from {origin} to {destination} on {date}? | Get me from {origin} to {destination} by air on {date}.",
        "flight:id; departs:time; price:amount; origin=origin; destination=destination",
        "Flight {flight} leaves {origin} at {departs} and costs {price}. | There is {flight} to {destination} at {departs} for {price}. | I found {flight}: {origin} to {destination}, {departs}, {price}.",
    ),
    tool(
        "book_hotel",
        "Book a hotel room.",
        "city:city; check_in:date; nights:small; guests:small?(for {v} guests)",
        "book a hotel",
        """Book a hotel in {city} from {check_in} for {nights} nights. | I need a room in {city} on {check_in}, {nights} nights. |
        Reserve {nights} nights in {city} starting {check_in}. | Get a hotel in {city} for {nights} nights from {check_in}.""",
        "Find me a bed in {city}: {check_in}, {nights} nights. | I'm staying {nights} nights in {city} from {check_in}, book a hotel.",
        "booking_id:id; hotel:place; total:amount",
        "You are booked at {hotel}: {booking_id}, total {total}. | Booking {booking_id} at {hotel} costs {total}. | I reserved {hotel} for {total}; the booking is {booking_id}.",
    ),
    tool(
        "get_directions",
        "Get directions between two places.",
        "origin:place; destination:place; mode:transport?(by {v})",
        "get directions",
        """How do I get from {origin} to {destination}? | Directions from {origin} to {destination}, please. | Show me the way from {origin} to {destination}. |
        Navigate from {origin} to {destination}. | What is the route from {origin} to {destination}?""",
        "Lead me from {origin} to {destination}. | Which way is it from {origin} to {destination}?",
        "distance_km:amount; minutes:minutes; via:place",
        "It is {distance_km} km and takes {minutes} minutes via {via}. | Go via {via}: {distance_km} km, {minutes} minutes. | The route via {via} is {distance_km} km long and takes {minutes} minutes.",
    ),
    tool(
        "find_nearby",
        "Find places of a kind near a location.",
        "category:word; location:place; radius_km:small?(within {v} km)",
        "find places nearby",
        """Find a {category} near {location}. | Is there a {category} close to {location}? | Where is the nearest {category} to {location}? |
        Show me any {category} around {location}.""",
        "I'm at {location} and need a {category}. | Any {category} in walking distance of {location}?",
        "name:place; distance_km:decimal",
        "The closest is {name}, {distance_km} km away. | {name} is {distance_km} km from there. | I found {name} at {distance_km} km.",
    ),
    tool(
        "get_train_times",
        "Get train departures from a station.",
        "station:place; destination:city?(to {v}); after:time?(after {v})",
        "look up train times",
        """When does the next train leave {station}? | Trains from {station}, please. | Show departures at {station}. | What trains go from {station}? |
        Check the train times at {station}.""",
        "Which trains depart from {station}? | I'm waiting at {station}, when is the next train?",
        "train:id; departs:time; platform:small",
        "Train {train} leaves at {departs} from platform {platform}. | The next train is {train} at {departs}, platform {platform}. | {train} departs at {departs} on platform {platform}.",
    ),
    tool(
        "rent_car",
        "Rent a car.",
        "city:city; start_date:date; days:small; insurance:boolean?(with insurance)",
        "rent a car",
        """Rent a car in {city} on {start_date} for {days} days. | I need a rental car in {city} from {start_date}, {days} days. |
        Get me a car for {days} days in {city} starting {start_date}. | Car hire in {city}: {start_date}, {days} days.""",
        "I'd like to hire a car for {days} days in {city} from {start_date}. | Pick up a rental in {city} on {start_date} for {days} days.",
        "reservation:id; car:phrase; total:amount",
        "You have the {car}, reservation {reservation}, for {total}. | Reservation {reservation}: {car}, {total}. | I rented the {car} for {total} ({reservation}).",
    ),
)
