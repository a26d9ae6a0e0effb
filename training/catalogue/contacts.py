"""Contacts and messages."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "send_email",
        "Send an email.",
        "to:email; subject:phrase; body:sentence",
        "send an email",
        """Send an email to {to} with subject {subject} and body {body}. | Email {to}, subject {subject}, text {body}. |
        Write to {to} about {subject}: {body}. | Mail {to} with the subject {subject} saying {body}.""",
        "Please drop an email to {to}; subject {subject}, body {body}. | Shoot a mail to {to}, titled {subject}, that says {body}.",
        "message_id:id; to=to; status:'sent'",
        "The email to {to} was {status}. | I sent your email to {to} ({message_id}). | Done, {to} has your message, id {message_id}.",
    ),
    tool(
        "send_message",
        "Send a text message to a contact.",
        "recipient:person; text:sentence",
        "send a message",
        """Text {recipient} {text}. | Send a message to {recipient} saying {text}. | Tell {recipient} {text}. | Message {recipient}: {text}. |
        Write {text} to {recipient}.""",
        "Let {recipient} know: {text}. | Could you send {recipient} a text that says {text}?",
        "message_id:id; recipient=recipient; delivered_at:time",
        "Your message to {recipient} was delivered at {delivered_at}. | I told {recipient}; it arrived at {delivered_at}. | Sent to {recipient} at {delivered_at}.",
    ),
    tool(
        "find_contact",
        "Look up a person's email address and phone number.",
        "name:person",
        "look up a contact",
        """What is {name}'s email address? | Find the contact details of {name}. | Look up {name} in my contacts. |
        What's the phone number of {name}? | Search my contacts for {name}.""",
        "How can I reach {name}? | Get me the contact entry of {name}.",
        "name=name; email:email; phone:phone",
        "{name} can be reached at {email} or {phone}. | The email of {name} is {email} and the phone number is {phone}. | I found {name}: {email}, {phone}.",
    ),
    tool(
        "add_contact",
        "Save a new contact.",
        "name:person; email:email; phone:phone?(and phone {v})",
        "save a contact",
        """Add {name} with email {email} to my contacts. | Save {name}, {email}, as a contact. | New contact: {name}, {email}. |
        Store {name} in my address book with {email}.""",
        "Please remember {name} under {email} as a contact. | Make a contact for {name}, address {email}.",
        "contact_id:id; name=name",
        "{name} is saved as contact {contact_id}. | I added {name} to your contacts ({contact_id}). | Contact {contact_id} for {name} was created.",
    ),
    tool(
        "call_number",
        "Place a phone call.",
        "phone_number:phone",
        "make a phone call",
        """Call {phone_number}. | Dial {phone_number}. | Phone {phone_number} for me. | Please place a call to {phone_number}. | Ring {phone_number}.""",
        "Get {phone_number} on the line. | I want to talk to {phone_number}, call them.",
        "phone_number=phone_number; status:'ringing'",
        "Calling {phone_number}: it is {status}. | I am calling {phone_number} now. | The call to {phone_number} is {status}.",
    ),
    tool(
        "list_unread",
        "List unread emails.",
        "sender:email?(from {v}); limit:count?(at most {v})",
        "check for unread mail",
        """Do I have unread mail? | Show my unread emails. | Check my inbox for new mail. | Any new emails? | List the unread messages in my inbox.""",
        "Is there anything new in my mailbox? | Read out my unread mail.",
        "unread:count; latest:phrase; sender:email",
        """You have {unread} unread emails; the latest is "{latest}" from {sender}. | There are {unread} unread mails, the newest from {sender}: "{latest}". |
        {unread} emails are unread. The latest, "{latest}", is from {sender}.""",
    ),
)
