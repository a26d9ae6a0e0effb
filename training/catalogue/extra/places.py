"""Travel, home and the outdoors: tools for training only."""

# ruff: noqa: E501

TEXT = """
book_taxi: Send a taxi to a place.
pickup:place; drop_off:place; time:time
book a taxi
I need a cab from {pickup} to {drop_off} at {time}. | Taxi at {time}: {pickup} to {drop_off}. | At {time} someone should drive me from {pickup} to {drop_off}. | Pick me up at {pickup} at {time}, I'm going to {drop_off}. | Get a ride for {time}, start {pickup}, end {drop_off}.
taxi:id; arrives:time
Taxi {taxi} comes at {arrives}. | {taxi} will be there at {arrives}.

check_in_flight: Check a passenger in for a flight.
flight_number:id; passenger:person; seat:id?(on seat {v})
check in for a flight
{passenger} flies with {flight_number}, get the boarding card. | Check {passenger} in on {flight_number}. | Boarding card for {passenger}, flight {flight_number}. | I'm {passenger} on {flight_number} and want to check in. | {flight_number}, {passenger}: online check-in please.
flight_number=flight_number; gate:id
Gate {gate} for {flight_number}. | {flight_number} leaves from gate {gate}.

get_flight_delay: Find out whether a flight is late.
flight_number:id; date:date
look up a flight delay
Is {flight_number} late on {date}? | How much delay has {flight_number} on {date}? | Does {flight_number} leave on time on {date}? | When does {flight_number} really land on {date}? | My mother arrives with {flight_number} on {date}; is it delayed?
minutes:minutes; flight_number=flight_number
{flight_number} is {minutes} minutes late. | The delay of {flight_number} is {minutes} minutes.

get_traffic: Get the traffic on a road between two places.
origin:city; destination:city
check the traffic
Are there jams between {origin} and {destination}? | How long are the queues from {origin} to {destination}? | I'm driving from {origin} to {destination}, how busy is the road? | Congestion {origin} to {destination}? | Can I drive smoothly from {origin} to {destination}?
delay:minutes; jams:small
{jams} jams cost you {delay} minutes. | Expect {delay} minutes of delay in {jams} jams.

find_parking: Find a free parking spot.
near:place; hours:small
find a parking spot
Where can I leave the car for {hours} hours around {near}? | Parking near {near}, {hours} hours. | I have to park {hours} hours close to {near}. | Is there room for my car at {near} for {hours} hours? | Free spots by {near} for {hours} hours?
garage:phrase; fee:amount
"{garage}" charges {fee}. | Park at "{garage}" for {fee}.

buy_museum_ticket: Buy tickets for a museum.
museum:place; visitors:small; day:date
buy a museum ticket
{visitors} of us visit {museum} on {day}. | Tickets for {museum}, {day}, {visitors} people. | We want to see {museum} on {day}, there are {visitors} of us. | Let {visitors} people into {museum} on {day}. | Get {visitors} entries to {museum} for {day}.
ticket:id; total:amount
Ticket {ticket}, {total} in total. | You pay {total}; the ticket is {ticket}.

rent_bike: Rent bicycles at a station.
station:place; bikes:small; hours:small
rent a bike
{bikes} bikes at {station} for {hours} hours. | We'd like to cycle: {station}, {bikes} bicycles, {hours} hours. | Unlock {bikes} bicycles at {station} for {hours} hours. | From {station} we ride {hours} hours with {bikes} bikes.
code:id; price:amount
The code is {code}, the price {price}. | {price}; unlock with {code}.

get_travel_warning: Get safety advice for a country.
country:country
get a travel warning
Is it safe to go to {country}? | Any dangers in {country} at the moment? | What does the ministry say about {country}? | I'm worried about travelling to {country}. | Safety advice for {country}. | Should I stay away from {country}?
level:level; updated:date
The level is {level}, as of {updated}. | {level}, updated on {updated}.

pack_luggage: Make a packing list for a trip.
destination:city; nights:small; activities:tags?(with {v} in mind)
make a packing list
What do I put in my bag for {nights} nights in {destination}? | Packing list: {destination}, {nights} nights. | I'm spending {nights} nights in {destination}, what to bring? | {nights} nights {destination}: what goes into the suitcase?
items:count; first:word
{items} things, the {first} first. | Take {items} items; begin with the {first}.

order_groceries: Have groceries delivered to the house.
ingredients:ingredients; deliver_at:time
order groceries
At {deliver_at} bring me {ingredients}. | I'm out of {ingredients}, delivery at {deliver_at}. | Deliver {ingredients}, {deliver_at}. | {ingredients} to my door at {deliver_at}. | We need {ingredients} here by {deliver_at}.
basket:id; total:amount
Basket {basket} costs {total}. | {total} for basket {basket}.

feed_pet: Run the pet feeder.
pet:person; grams:count
feed a pet
{pet} is hungry, {grams} grams. | Give {pet} {grams} grams of food. | {grams} grams for {pet}. | Fill {pet}'s bowl with {grams} grams. | Let the feeder drop {grams} grams for {pet}.
pet=pet; left:count
{pet} has eaten; {left} grams are left. | {left} grams remain for {pet}.

water_plants: Water the plants in a part of the garden.
zone:room; liters:count
water the plants
The plants in the {zone} are dry, {liters} liters. | {liters} liters for the plants in the {zone}. | Sprinkle {liters} liters over the {zone}. | Give the {zone} {liters} liters of water. | Irrigate the {zone}, {liters} liters.
zone=zone; moisture:percent
The {zone} is at {moisture} percent moisture. | Moisture in the {zone}: {moisture} percent.

start_washing: Start the washing machine.
program:mode; degrees:count; spin:count?(spinning at {v})
start the washing machine
Wash at {degrees} degrees with {program}. | Do the laundry, {program}, {degrees} degrees. | {program} wash, {degrees}. | My clothes are dirty: {degrees} degrees, program {program}. | Laundry time! {program} program, {degrees} degrees.
ready:time; program=program
The {program} wash is ready at {ready}. | Ready at {ready}.

preheat_oven: Preheat the oven.
degrees:count; minutes:minutes?(for {v} minutes)
preheat the oven
The oven should reach {degrees}. | Heat the oven up to {degrees} degrees. | {degrees} degrees in the oven. | I'm baking, oven on {degrees}. | Get the oven hot, {degrees} degrees.
degrees=degrees; wait:minutes
{degrees} degrees in {wait} minutes. | Wait {wait} minutes for {degrees} degrees.

arm_alarm: Arm the alarm system of the house.
mode:mode; delay:minutes
arm the alarm system
We leave in {delay} minutes; secure the house, mode {mode}. | Alarm on in {delay} minutes, {mode}. | Watch the house in {mode} mode from {delay} minutes on. | Protect our home: {mode}, after {delay} minutes. | Arm everything with {mode} and a delay of {delay} minutes.
mode=mode; sensors:count
{sensors} sensors are armed in {mode} mode. | Armed ({mode}): {sensors} sensors.

call_elevator: Call the elevator to a floor.
floor:count; building:phrase
call the elevator
I'm on floor {floor} of {building}, send the lift. | Lift to floor {floor}, {building}. | Elevator, {building}, floor {floor}! | Bring the elevator of {building} to {floor}. | Someone waits at {floor} in {building} for the lift.
arrives:count; floor=floor
It reaches floor {floor} in {arrives} seconds. | {arrives} seconds to floor {floor}.

get_energy_usage: Get how much electricity a device used.
device:product; period:period
look up energy use
How much power does the {device} draw, {period}? | {period} electricity of the {device}? | What does the {device} use {period}? | Is my {device} a power hog? Show it {period}. | Energy of the {device}, {period} figures.
kwh:decimal; device=device
The {device} used {kwh} kWh. | {kwh} kWh for the {device}.

report_outage: Report a power or water outage.
address:address; outage:word
report an outage
At {address} we have an outage of {outage}. | No {outage} at {address} since this morning. | {address} is without {outage}. | The {outage} is down at {address}, tell the company. | Outage: {outage}, {address}.
case:id; fixed_by:time
Case {case}, fixed by {fixed_by}. | It should work by {fixed_by}; the case is {case}.

find_trail: Find a hiking trail.
area:place; kilometers:count; difficulty:level
find a hiking trail
A {difficulty} walk of {kilometers} kilometers around {area}. | Where can I hike {kilometers} kilometers at {area}, {difficulty} level? | {kilometers} km on foot in {area}, {difficulty}. | We'd like to walk {kilometers} kilometers near {area}; difficulty {difficulty}.
trail:phrase; climb:count
"{trail}" climbs {climb} meters. | Try "{trail}", {climb} meters of climb.

get_pollen: Get the pollen count.
city:city; plant:word
check the pollen count
Will my {plant} allergy act up in {city}? | How much {plant} pollen flies in {city}? | {plant} pollen, {city}. | I sneeze a lot; what's the {plant} count in {city}? | Is {plant} in bloom in {city}?
count:count; level:level
{count} grains, {level}. | The count is {count} ({level}).

get_moon_phase: Get the phase of the moon on a day.
date:date
look up the moon phase
Is the moon full on {date}? | What does the moon look like on {date}? | How much of the moon can I see on {date}? | Moon on {date}? | Will {date} be a dark night?
phase:phrase; percent:percent
"{phase}", {percent} percent lit. | {percent} percent of it is lit: "{phase}".

measure_distance: Measure the straight distance between two positions.
start:position; end:position
measure a distance
How far apart are {start} and {end}? | From {start} to {end} in a straight line. | Draw a line between {start} and {end}, how long is it? | Distance {start} to {end}? | I fly from {start} directly to {end}, how many kilometers?
kilometers:decimal
It is {kilometers} kilometers. | {kilometers} km in a straight line.

locate_phone: Find where a lost phone is.
owner:person
locate a phone
{owner} can't find the phone. | Where did {owner} leave the phone? | Make {owner}'s phone show itself. | {owner} lost a mobile, where is it? | Find the device of {owner}.
place:place; battery:percent
It is at {place} with {battery} percent battery. | {place}; the battery has {battery} percent.

reserve_campsite: Reserve a place for a tent.
site:place; arrival:date; nights:small; tents:small?(for {v} tents)
reserve a campsite
We camp at {site} for {nights} nights from {arrival}. | A tent place at {site}, {arrival}, {nights} nights. | On {arrival} we come to {site} with our tent and stay {nights} nights. | Keep a spot at {site} for us: {arrival}, {nights} nights.
pitch:id; price:amount
Pitch {pitch} for {price}. | You have pitch {pitch}; it costs {price}.

plan_route_stops: Plan a tour with several stops.
stops:people; start_at:time
plan a tour
I start at {start_at} and have to see {stops}. | Visit {stops}, beginning at {start_at}. | Best order for {stops} if I leave at {start_at}? | From {start_at} on I drive to {stops}. | Tour over {stops}, start {start_at}.
hours:decimal; first:person
{hours} hours, {first} first. | Begin with {first}; it takes {hours} hours.
"""
