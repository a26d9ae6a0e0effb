"""Media, computing, health, cooking and words: tools for training only."""

# ruff: noqa: E501

TEXT = """
record_podcast: Start recording a podcast episode.
title:phrase; guests:people; minutes:minutes
record a podcast
Today's episode {title} with {guests} lasts {minutes} minutes. | Roll! {title}, guests {guests}, {minutes} minutes. | We tape {title} for {minutes} minutes, {guests} are here. | Record {minutes} minutes of {title} with {guests}.
episode:id; title=title
Episode {episode} "{title}" is recording. | "{title}" is episode {episode}.

find_book: Find books in the library.
topic:topic; author:person?(by {v}); max_pages:count?(of at most {v} pages)
find a book
What can I read about {topic}? | Something on {topic} to read, please. | Does the library own anything on {topic}? | I want to learn about {topic} from a book. | Books, topic {topic}. | Recommend me reading on {topic}.
title:phrase; shelf:id
"{title}" stands at {shelf}. | Go to shelf {shelf} for "{title}".

renew_loan: Keep a borrowed book longer.
barcode:id; weeks:small
renew a library loan
I'm not through with {barcode}, {weeks} more weeks. | Let me keep {barcode} for {weeks} weeks more. | Extend {barcode} by {weeks} weeks. | {weeks} weeks longer for {barcode}. | {barcode} can't go back yet, I need {weeks} weeks.
barcode=barcode; due:date
{barcode} is due on {due}. | Bring {barcode} back by {due}.

get_tv_program: See what is on television.
channel:phrase; time:time
look up the television program
What's on {channel} at {time}? | At {time}, what does {channel} show? | Anything good on {channel} around {time}? | {channel}, {time}: which show? | I turn on the TV at {time}, {channel}. What comes?
show:phrase; ends:time
"{show}", until {ends}. | It is "{show}" and ends at {ends}.

buy_concert_ticket: Buy tickets for a concert.
artist:person; city:city; seats:small
buy a concert ticket
{artist} plays in {city}, I want {seats} seats. | {seats} tickets to see {artist} live in {city}. | Get us into the {artist} concert in {city}, {seats} seats. | We are {seats} and love {artist}; {city} show. | Concert: {artist}, {city}, {seats}.
date:date; total:amount
On {date}, {total} in all. | {total} for the evening of {date}.

edit_photo: Change the size and colors of a photo.
path:path; filter:color; width:count?(to a width of {v})
edit a photo
Make {path} look {filter}. | Give the picture {path} a {filter} tint. | {path} with a {filter} filter. | Color {path} {filter}. | I want {filter} all over {path}.
saved:path
It is saved as {saved}. | See {saved}.

trim_video: Cut a part out of a video.
path:path; from_second:count; to_second:count
trim a video
Keep only second {from_second} to {to_second} of {path}. | {path}: cut from {from_second} to {to_second}. | From {path} I need what happens between {from_second} and {to_second} seconds. | Shorten {path}, start {from_second}, stop {to_second}.
seconds:count; path=path
{path} now has {seconds} seconds. | {seconds} seconds of {path} are left.

upload_file: Upload a file to the cloud.
path:path; container:word; public:boolean?(and make it public)
upload a file
{path} belongs into {container}. | Put {path} in the cloud, container {container}. | Upload {path} to {container}. | Save a copy of {path} online in {container}. | Let {container} have {path}.
url:url
It is at {url}. | You find it under {url}.

deploy_service: Put a version of a service into production.
service:id; version:id; region:city?(in {v})
deploy a service
{service} goes live with {version}. | Roll out {version} of {service}. | Ship {service} at version {version}. | Production should run {version} for {service}. | Bring {version} of {service} to the users.
service=service; status:status
{service} is {status}. | The rollout of {service} is {status}.

scale_service: Change how many copies of a service run.
service:id; replicas:count
scale a service
{service} needs {replicas} copies. | Run {replicas} instances of {service}. | Too much load: {service} on {replicas}. | {replicas} replicas for {service}. | Bring {service} to {replicas}. | Let's have {replicas} of {service} running.
service=service; ready:small
{ready} copies of {service} are ready. | {service}: {ready} ready.

tail_logs: Show the last lines of a log.
service:id; lines:count; level:priority?(of {v} level)
read the logs
What did {service} print last? {lines} lines. | Last {lines} lines from {service}. | {service} log, {lines} lines. | Something is wrong with {service}, show me {lines} lines of what it wrote. | Print the newest {lines} log lines of {service}.
last:sentence
The last line is: {last} | It ends with: {last}

rotate_key: Replace a secret key by a new one.
key_name:id; days:count?(valid for {v} days)
rotate a key
{key_name} leaked, replace it. | Make a fresh secret for {key_name}. | The key {key_name} is too old. | Swap {key_name} for a new one. | Generate {key_name} anew. | Time for another {key_name}.
key_name=key_name; version:small
{key_name} is at version {version}. | Version {version} of {key_name} is in use.

run_tests: Run the tests of a project.
project:word; folder:path?(under {v})
run tests
Does {project} still work? Run everything. | Are the tests of {project} green? | Test project {project}. | Try out {project} with its test suite. | Check {project} for regressions.
passed:count; failed:small
{passed} passed, {failed} failed. | {failed} of the tests failed and {passed} passed.

create_branch: Create a branch in a repository.
repository:word; branch:id; base:word?(from {v})
create a branch
New branch {branch} in {repository}. | I start {branch} in the repository {repository}. | In {repository}, branch off as {branch}. | {repository} gets a branch {branch}. | Give me {branch} to work on in {repository}.
branch=branch; commit:id
{branch} starts at {commit}. | Created {branch} at {commit}.

ping_host: Check whether a host answers.
host:url; times:small
ping a host
Is {host} up? Try {times} times. | Knock at {host} {times} times. | Does {host} respond, {times} tries? | {times} pings to {host}. | See if {host} is alive with {times} packets.
ms:decimal; lost:small
{ms} ms, {lost} lost. | It answers in {ms} ms; {lost} were lost.

reset_password: Reset the password of a user.
username:email
reset a password
{username} forgot the password. | {username} can't log in any more. | New password for {username}, please. | Let {username} choose another password. | Help {username} back into the account.
username=username; expires:time
{username} got a link until {expires}. | The link for {username} ends at {expires}.

scan_network: Look for devices on the network.
subnet:word; seconds:count?(for {v} seconds)
scan the network
Who is on {subnet}? | Which devices hang on {subnet}? | Find everything that is connected to {subnet}. | Is there a stranger on my network {subnet}? | List the machines in {subnet}.
devices:count; newest:id
{devices} devices, the newest is {newest}. | I see {devices}; {newest} is new.

convert_file: Convert a file to another format.
path:path; target_format:format
convert a file
I'd rather have {path} as {target_format}. | {path} has to become {target_format}. | Export {path} to {target_format}. | Give me a {target_format} of {path}. | Change {path} over to {target_format}.
saved:path
It was written to {saved}. | The new file is {saved}.

merge_tables: Join two data files by a column.
left:path; right:path; column:word
merge tables
Put {left} and {right} together by {column}. | Join {left} with {right} on {column}. | {column} is in both {left} and {right}, merge them. | Combine {left} and {right}, the key is {column}.
rows:count
The result has {rows} rows. | {rows} rows came out.

plot_chart: Draw a chart of some numbers.
values:numbers; title:phrase; color:color?(in {v})
draw a chart
Show {values} as a picture named {title}. | Chart {title}: {values}. | I want to see {values} drawn, headline {title}. | Graph of {values}, titled {title}. | Visualise {values} under the name {title}.
image:path
The chart is {image}. | See {image}.

spell_check: Check the spelling of a text.
text:sentence; language:language
check the spelling
Any mistakes in {text}? It's {language}. | Is this good {language}: {text} | Correct my {language}: {text}. | {text} in {language}, did I write that right? | Proofread {text} ({language}).
mistakes:small; corrected:sentence
{mistakes} mistakes; better: {corrected} | With {mistakes} corrections: {corrected}

find_rhyme: Find words that rhyme.
word:word; limit:small?(at most {v})
find a rhyme
What rhymes with {word}? | I'm writing a poem and need something that sounds like {word}. | Rhymes on {word}. | Which words end like {word}? | Give me a rhyme for {word}.
rhyme:word
{rhyme} does. | Try {rhyme}.

get_quote_of: Find a quotation by a person.
person:person; topic:topic?(about {v})
find a quotation
What did {person} once say? | Something wise from {person}. | Famous words of {person}. | Quote {person}. | I need a line by {person} for my speech.
quote:sentence; year:year
"{quote}" ({year}) | In {year}: "{quote}"

get_anniversary: Find what happened on a date in history.
date:date
look up an anniversary
What happened on {date}? | Is {date} a historic day? | Why do people remember {date}? | Tell me the history of {date}. | Any event of note, {date}?
event:sentence
This: {event} | On that day: {event}

log_water: Record how much water was drunk.
milliliters:count; time:time
log water
I drank {milliliters} milliliters at {time}. | {milliliters} ml of water, {time}. | At {time} I had a glass, {milliliters} milliliters. | Put down {milliliters} milliliters for {time}. | Water: {milliliters} at {time}.
total:count
That makes {total} milliliters today. | You are at {total} milliliters.

log_blood_pressure: Record a blood pressure.
upper:count; lower:count; date:date
log my blood pressure
My pressure on {date} was {upper} over {lower}. | {upper} over {lower}, measured {date}. | Blood pressure {date}: {upper}/{lower}. | On {date} the doctor read {upper} over {lower}, keep that. | Save {upper} over {lower} for {date}.
upper=upper; lower=lower; average:count
{upper} over {lower} is saved, {average} on average. | Saved; the average is {average}.

find_doctor: Find a doctor.
specialty:word; city:city; insurance:word?(who takes {v})
find a doctor
Who treats {specialty} in {city}? | I need a {specialty} specialist in {city}. | {specialty} doctor, {city}. | My {specialty} hurts; is there a practice in {city}? | Name a good {specialty} practice in {city}.
doctor:person; phone:phone
{doctor}, {phone}. | Go to {doctor}, phone {phone}.

order_prescription: Order a medicine again.
medicine:word; packs:small; pharmacy:place
order a prescription
My {medicine} runs out: {packs} packs to {pharmacy}. | {packs} packs of {medicine}, I collect them at {pharmacy}. | Have {pharmacy} prepare {packs} packs of {medicine}. | Refill {medicine}, {packs} packs, {pharmacy}.
ready:date; order:id
Order {order} is ready on {ready}. | Pick up {order} on {ready}.

start_meditation: Start a guided meditation.
minutes:minutes; theme:topic
start a meditation
I need to calm down for {minutes} minutes, theme {theme}. | {minutes} minutes of quiet about {theme}. | Breathe with me, {minutes} minutes on {theme}. | Meditate: {theme}, {minutes} minutes. | Guide me through {minutes} minutes of {theme}.
session:id; minutes=minutes
Session {session} lasts {minutes} minutes. | Close your eyes; {session} has begun.

plan_workout: Make a training plan.
exercise:exercise; sessions:small; level:level
make a training plan
I want to do {exercise} {sessions} times a week as {level}. | Training plan for {exercise}, {level}, {sessions} sessions. | {sessions} sessions of {exercise}, I'm {level}. | Make me fit with {exercise}: {level}, {sessions} a week.
plan:id; weeks:small
Plan {plan} takes {weeks} weeks. | {weeks} weeks, plan {plan}.

scale_recipe: Change a recipe to another number of people.
dish:dish; people:small
scale a recipe
{people} guests come for {dish}, how much do I take? | {dish} for {people} instead. | The {dish} must feed {people}. | Adjust {dish} to {people} people. | How do I make {dish} for {people}?
dish=dish; factor:decimal
Take {factor} times of everything for the {dish}. | The factor for {dish} is {factor}.

substitute_ingredient: Find what can replace an ingredient.
ingredient:word; dish:dish
find a substitute
I have no {ingredient} for my {dish}. | What instead of {ingredient} in {dish}? | Replace the {ingredient} in the {dish}. | {dish} without {ingredient}, how? | My {dish} calls for {ingredient}, but I don't have any.
substitute:word
Use {substitute}. | {substitute} works as well.

plan_menu: Plan the meals of several days.
days:small; diet:word; budget:amount?(for at most {v})
plan a menu
What do we eat the next {days} days, {diet}? | {days} days of {diet} food, plan it. | Menu: {days} days, {diet}. | We eat {diet}; think of meals for {days} days. | Make a {diet} meal plan for {days} days.
first:dish; cost:amount
It begins with {first} and costs {cost}. | {first} first; {cost} in all.

rate_restaurant: Publish a rating of a restaurant.
restaurant:place; stars:small; comment:sentence
rate a restaurant
We ate at {restaurant}: {stars} stars, {comment}. | {restaurant} gets {stars} stars from me with the comment {comment}. | {stars} stars for {restaurant}: {comment}. | Tell people about {restaurant}, {stars} stars, {comment}.
restaurant=restaurant; reviews:count
{restaurant} has {reviews} ratings. | That is rating {reviews} of {restaurant}.

draw_lots: Draw a winner at random.
people:people; winners:small
draw lots
Who of {people} does the dishes? Pick {winners}. | {winners} winners among {people}. | Let chance choose {winners} of {people}. | Randomly take {winners} out of {people}. | {people}: draw {winners}.
winner:person
It is {winner}. | {winner} was drawn.

roll_dice: Roll dice.
dice:small; sides:count
roll dice
{dice} dice with {sides} sides. | Throw {dice} dice, {sides} sides each. | I need luck: {dice} dice of {sides}. | Roll {dice} times a die of {sides} sides. | Let {dice} {sides}-sided dice fall.
total:count
They show {total}. | {total} in total.

join_game: Join an online game.
game:phrase; nickname:word; team:team?(on the {v} team)
join a game
Let {nickname} play {game}. | I'm {nickname}, get me into {game}. | {game} with the nickname {nickname}. | Join {game} as {nickname}. | Enter {nickname} in {game}.
players:count; game=game
{players} players are in "{game}". | "{game}" has {players} players now.

print_label: Print an address label.
address:address; copies:small
print a label
{copies} labels for {address}. | Label with {address}, {copies} times. | Stick {address} on {copies} boxes, print it. | I send {copies} boxes to {address}, need labels.
job:id; copies=copies
Job {job} printed {copies}. | {copies} labels are out, job {job}.

lend_item: Note that something was lent to somebody.
item:product; borrower:person; back_on:date
note a lent item
{borrower} took my {item} until {back_on}. | I lent {borrower} the {item}, back on {back_on}. | Remember that {borrower} has my {item} and returns it on {back_on}. | My {item} is with {borrower} till {back_on}.
item=item; borrower=borrower; entry:id
Entry {entry}: {borrower} has the {item}. | The {item} is noted under {entry}.

adopt_animal: Reserve an animal of the shelter.
animal:person; family:person; visit:date
adopt an animal
{family} would love to take {animal} home, visit on {visit}. | Reserve {animal} for {family}, who comes on {visit}. | {animal} moves in with {family}, first visit {visit}. | On {visit} {family} meets {animal}; hold the animal.
animal=animal; number:id
{animal} is reserved under {number}. | Number {number} for {animal}.
"""
