"""Work, people and money: tools for training only."""

# ruff: noqa: E501

TEXT = """
approve_leave: Approve the leave request of an employee.
request_id:id; from_date:date; to_date:date
approve a leave
{request_id} may go on leave from {from_date} to {to_date}. | Yes to leave request {request_id}, {from_date} until {to_date}. | Approve leave {request_id}: first day {from_date}, last day {to_date}. | Holiday request {request_id} is fine with me, it runs from {from_date} through {to_date}. | Let them have {from_date} to {to_date} off, the request is {request_id}.
request_id=request_id; days_left:count
Leave {request_id} is approved; {days_left} days are left. | Approved: {request_id}, with {days_left} days left.

hire_candidate: Record that a candidate was hired for a position.
candidate:person; position:phrase; salary:amount
hire a candidate
We take {candidate} as {position} for {salary}. | Hire {candidate} for {position} at a salary of {salary}. | {candidate} got the job {position}, pay {salary}. | Offer {candidate} {salary} for {position}. | Put {candidate} on the payroll as {position}, earning {salary}.
candidate=candidate; starts:date
{candidate} starts on {starts}. | Hired: {candidate} begins on {starts}.

book_meeting_room: Reserve a meeting room in the office.
room_name:phrase; date:date; start:time; seats:small?(for {v} people)
reserve a meeting room
I need {room_name} on {date} from {start}. | Is {room_name} available on {date} at {start}? Take it. | Hold {room_name} for us, {date}, {start}. | We gather in {room_name} at {start} on {date}, please reserve it. | Room {room_name}, {date}, {start} o'clock.
room_name=room_name; booking:id
{room_name} is yours, booking {booking}. | Booking {booking} holds {room_name}.

submit_expense: Hand in an expense for reimbursement.
amount:amount; currency:currency; reason:sentence
submit an expense
I spent {amount} {currency} on this: {reason}. | Reimburse me {amount} {currency}, reason {reason}. | Expense of {amount} {currency}: {reason}. | I paid {amount} {currency} out of my pocket, note {reason}. | Claim back {amount} {currency} with the reason {reason}. | {reason} cost me {amount} {currency}, hand that in.
expense_id:id; status:status
Expense {expense_id} is {status}. | It is filed as {expense_id}, status {status}.

get_payslip: Get the payslip of a month.
employee_id:id; month:word
get a payslip
What did {employee_id} earn in {month}? | Payslip for {employee_id}, month {month}. | Pull the {month} pay of {employee_id}. | How much salary went to {employee_id} for {month}? | Show {employee_id}'s wages in {month}.
gross:amount; net:amount
Gross pay was {gross}, net {net}. | {net} net out of {gross} gross.

open_position: Advertise a vacant position.
title:phrase; city:city; level:level
advertise a position
We are looking for {title} in {city}, {level} level. | Advertise {title} ({level}) at our {city} office. | Post a vacancy: {title}, {city}, {level}. | {city} needs a {level} {title}, put up an ad. | Start looking for a {level} person for {title} in {city}.
ad_id:id; title=title
The ad {ad_id} for "{title}" is online. | "{title}" is advertised as {ad_id}.

record_attendance: Mark who was present at a course.
course_id:id; people:people
record attendance
In {course_id} today: {people}. | {people} attended {course_id}. | Present in course {course_id} were {people}. | Mark {people} as present for {course_id}. | Attendance of {course_id}: {people}.
course_id=course_id; present:count
{present} people are marked for {course_id}. | Course {course_id} has {present} present.

grade_exam: Enter the mark of a student's exam.
student:person; subject:topic; mark:percent
grade an exam
{student} got {mark} in {subject}. | {mark} points for {student}, subject {subject}. | Enter a mark of {mark} for {student} in {subject}. | The {subject} exam of {student} deserves {mark}. | Grade {student}'s {subject} paper with {mark}.
student=student; average:percent
{student} now averages {average}. | Entered; the average of {student} is {average}.

find_colleague: Look up an employee in the staff directory.
name:person; department:word?(in the {v} department)
find a colleague
Which desk does {name} sit at? | Where do I find {name} in the building? | Who is {name} and what does {name} do here? | Directory entry of {name}? | Look {name} up in the staff list. | On which floor does {name} work?
name=name; desk:id; extension:count
{name} sits at {desk}, extension {extension}. | Desk {desk}, extension {extension}.

sign_document: Sign a document electronically.
document_id:id; signer:person
sign a document
{signer} signs {document_id}. | Put {signer}'s signature under {document_id}. | Have {document_id} signed by {signer}. | Document {document_id} needs the signature of {signer}, do it. | Sign {document_id} in the name of {signer}.
document_id=document_id; signed:date
{document_id} was signed on {signed}. | Signed on {signed}: {document_id}.

translate_document: Have a whole document translated.
path:path; language:language
translate a document
I want {path} in {language}. | Turn the file {path} into {language}. | {path} must be readable in {language}. | Could we have a {language} version of {path}? | Make {language} out of {path}.
path=path; pages:count
{pages} pages of {path} were translated. | Done, {path} has {pages} pages.

subscribe_newsletter: Subscribe an address to a newsletter.
email:email; topic:topic
subscribe to a newsletter
{email} wants news about {topic}. | Add {email} to the {topic} mailing list. | Put {email} on the newsletter on {topic}. | Sign {email} up for {topic}. | The {topic} letter should also go to {email}.
email=email; issues:small
{email} gets {issues} issues a year. | Subscribed: {email}, {issues} issues.

open_account: Open a bank account for a customer.
owner:person; currency:currency; deposit:amount
open a bank account
{owner} wants a new account in {currency} with {deposit} on it. | Open a {currency} account for {owner}, first deposit {deposit}. | Start an account: {owner}, {currency}, {deposit}. | {deposit} {currency} go into a fresh account of {owner}. | Give {owner} an account with {deposit} {currency}.
account:id; owner=owner
Account {account} of {owner} is open. | {owner} has the account {account}.

freeze_card: Freeze a payment card.
card_number:id; reason:sentence?(because {v})
freeze a card
I lost card {card_number}. | Card {card_number} was stolen, stop it! | Nobody may pay with {card_number} any more. | Freeze {card_number}. | Put a stop on the card {card_number}. | My card {card_number} is gone, make it useless.
card_number=card_number; frozen_at:time
{card_number} is frozen since {frozen_at}. | No payments with {card_number} since {frozen_at}.

split_bill: Split a bill among people.
total:amount; people:people
split a bill
{people} share a bill of {total}. | Divide {total} among {people}. | The dinner was {total}; it goes on {people}. | How much does each of {people} pay of {total}? | {total} split over {people}, please. | Split {total} between {people}.
share:amount
Each pays {share}. | It comes to {share} each.

buy_shares: Buy shares of a company.
symbol:ticker; quantity:count; limit_price:amount?(at no more than {v})
buy shares
{quantity} of {symbol}, buy. | Buy {quantity} shares of {symbol}. | I want {quantity} {symbol} shares in my portfolio. | Put in an order for {quantity} of {symbol}. | Get me {quantity} pieces of {symbol} stock. | Invest in {quantity} {symbol}.
symbol=symbol; order:id; paid:amount
{quantity} shares of {symbol} for {paid}, order {order}. | Order {order}: {symbol} at {paid} in total.

set_savings_goal: Set a goal for saving money.
goal:phrase; amount:amount; deadline:date
set a savings goal
I am saving {amount} for {goal} until {deadline}. | By {deadline} I want {amount} for {goal}. | Savings goal {goal}: {amount} by {deadline}. | Help me put {amount} aside for {goal}, latest {deadline}. | {goal} costs {amount}, I need to have it by {deadline}.
goal=goal; monthly:amount
Save {monthly} a month for "{goal}". | "{goal}" takes {monthly} a month.

get_insurance_quote: Quote the premium of an insurance.
item:product; value:amount
quote an insurance
What would it cost to insure a {item} worth {value}? | Insure my {item}, value {value}: how much? | Premium for a {item} of {value}? | I'd like cover for a {item} that is worth {value}. | Quote me insurance on a {item} at {value}.
premium:amount; excess:amount
The premium is {premium} with an excess of {excess}. | {premium} a year, excess {excess}.

report_claim: Report a damage to the insurance.
policy:id; happened:date; description:sentence
report a claim
On {happened} this happened, policy {policy}: {description}. | Claim on policy {policy}, {happened}: {description}. | I had a damage on {happened}. Policy {policy}. {description} is what happened. | Tell the insurer: {policy}, {happened}, {description}. | File damage {description} of {happened} under {policy}.
claim:id; policy=policy
Claim {claim} was opened under {policy}. | It is claim {claim}.

donate: Make a donation to a charity.
charity:phrase; amount:amount; period:period?({v})
donate to a charity
{amount} to {charity}. | Give {amount} to the charity {charity}. | I'd like {charity} to get {amount} from me. | Support {charity} with {amount}. | Make a gift of {amount} to {charity}.
charity=charity; receipt:id
{charity} says thanks; receipt {receipt}. | Receipt {receipt} for your gift to {charity}.

pay_bill: Pay a bill of a utility company.
company:phrase; reference:id; amount:amount
pay a bill
The bill {reference} of {company} is {amount}, pay it. | {company} wants {amount}, reference {reference}. | Settle {amount} with {company} under {reference}. | Pay {company} {amount}, and put {reference} on it. | I owe {company} {amount} ({reference}).
company=company; paid:amount
{paid} went to {company}. | {company} got {paid}.

start_survey: Start a survey among customers.
question:sentence; options:tags; days:small
start a survey
Ask our customers {question} with answers {options} for {days} days. | Survey: {question}. Choices {options}. Open {days} days. | For {days} days I want to poll {question}; they can pick {options}. | Run a poll {question}, {days} days, choices {options}.
survey:id; days=days
Survey {survey} runs {days} days. | It is survey {survey}, open for {days} days.

refund_order: Refund an order to the customer.
order_id:id; amount:amount; reason:sentence?(because {v})
refund an order
The customer of {order_id} gets {amount} back. | Give back {amount} for {order_id}. | Refund {amount} on order {order_id}. | {order_id} arrived broken, return {amount} to the buyer. | Pay {amount} back for {order_id}.
order_id=order_id; refund:id
Refund {refund} for {order_id} is on its way. | {order_id} is refunded as {refund}.

check_stock: Check how many of an article are in the warehouse.
article:product; warehouse:city?(in the {v} warehouse)
check the stock
Do we have enough of the {article}? | How many {article} are left? | Is the {article} sold out? | {article}: how many in the warehouse? | Count what we have of the {article}. | Stock level of {article}, please.
article=article; left:count
{left} of the {article} are left. | We have {left} pieces of {article}.

compare_prices: Compare the prices of a product in shops.
product:product; shops:people
compare prices
Who sells the {product} cheapest: {shops}? | Compare {shops} for a {product}. | {product} at {shops}, where is it cheapest? | I want to buy a {product}; check the prices of {shops}. | Price comparison of {product} between {shops}.
cheapest:person; price:amount
{cheapest} has it for {price}. | The best price is {price}, at {cheapest}.

add_to_wishlist: Put a product on a wish list.
product:product; list_name:phrase
add to a wish list
One day I want a {product}; list {list_name}. | Put the {product} on {list_name}. | {list_name} should also have a {product}. | Wish list {list_name}: add {product}. | I wish for a {product}, note it in {list_name}.
product=product; items:count
{product} is on the list of {items}. | The list has {items} items with the {product}.

issue_voucher: Issue a voucher for a customer.
customer:person; value:amount; expires:date
issue a voucher
{customer} gets a voucher worth {value}, good until {expires}. | Issue {value} for {customer}, valid through {expires}. | A gift card of {value} for {customer}; it ends on {expires}. | Make {customer} a voucher: {value}, last day {expires}.
code:id; customer=customer
The voucher {code} is for {customer}. | {customer} has the code {code}.

rate_driver: Rate the driver of a ride.
ride:id; stars:small; comment:sentence?(and say {v})
rate a driver
{stars} stars for the driver of {ride}. | My ride {ride} was worth {stars} stars. | Give the driver {stars}, ride {ride}. | Rate ride {ride} with {stars}. | {ride}: {stars} stars.
ride=ride; average:decimal
Thank you; the driver of {ride} averages {average}. | Rated; the average is {average}.
"""
