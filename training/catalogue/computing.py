"""Files, servers and tickets."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "read_file",
        "Read the contents of a file.",
        "path:path; lines:count?(only {v} lines)",
        "read a file",
        """Read {path}. | Show me the contents of {path}. | What's in {path}? | Open {path} and tell me what it says. | Print {path}.""",
        "Let me see the file {path}. | What does {path} contain?",
        "path=path; size:count; text:sentence",
        """{path} says: "{text}" | The file {path} contains "{text}". | In {path} it says "{text}".""",
    ),
    tool(
        "write_file",
        "Write text to a file.",
        "path:path; content:sentence; append:boolean?(and append)",
        "write a file",
        """Write {content} to {path}. | Save {content} in {path}. | Put {content} into the file {path}. | Store the text {content} at {path}. |
        Create {path} with the content {content}.""",
        "The file {path} should contain {content}. | Dump {content} into {path}.",
        "path=path; bytes:count",
        "I wrote {bytes} bytes to {path}. | {path} now has {bytes} bytes. | Saved: {path}, {bytes} bytes.",
    ),
    tool(
        "search_files",
        "Search for files by name.",
        "pattern:query; folder:path?(under {v}); limit:count?(at most {v})",
        "search files",
        """Find files matching {pattern}. | Search my files for {pattern}. | Where is the file {pattern}? | Look for {pattern} in my documents. |
        Locate files named {pattern}.""",
        "Which files match {pattern}? | Dig up the document {pattern}.",
        "matches:count; first:path",
        "There are {matches} matches, the first is {first}. | I found {matches} files, starting with {first}. | {matches} files match; first: {first}.",
    ),
    tool(
        "create_ticket",
        "Create a ticket in the issue tracker.",
        "title:phrase; priority:priority; description:sentence?(described as {v}); labels:tags?(with labels {v})",
        "open a ticket",
        """Open a {priority} ticket titled {title}. | Create a ticket {title} with priority {priority}. | File an issue {title}, {priority} priority. |
        Make a {priority} priority ticket called {title}. | New ticket: {title}, priority {priority}.""",
        "Log a bug named {title} as {priority}. | Please raise {title} in the tracker with {priority} priority.",
        "ticket_id:id; title=title",
        """Ticket {ticket_id} "{title}" is open. | I created {ticket_id} for "{title}". | "{title}" is now ticket {ticket_id}.""",
    ),
    tool(
        "update_ticket",
        "Change the status of a ticket.",
        "ticket_id:id; status:status; comment:sentence?(with the comment {v})",
        "update a ticket",
        """Set ticket {ticket_id} to {status}. | Mark {ticket_id} as {status}. | Change the status of {ticket_id} to {status}. |
        Update ticket {ticket_id}: {status}. | Move ticket {ticket_id} to {status}.""",
        "Ticket {ticket_id} should be {status} now. | Please flag {ticket_id} {status}.",
        "ticket_id=ticket_id; status=status; updated:date",
        "Ticket {ticket_id} is {status} since {updated}. | {ticket_id} was set to {status} on {updated}. | Done: {ticket_id} is now {status} ({updated}).",
    ),
    tool(
        "restart_server",
        "Restart a server.",
        "server:id; force:boolean?(and force it)",
        "restart a server",
        """Restart {server}. | Reboot the server {server}. | Server {server} hangs, restart it. | Please restart server {server}. | Bounce {server}.""",
        "Give server {server} a restart. | Power cycle {server}.",
        "server=server; seconds:minutes; status:'running'",
        "{server} restarted in {seconds} seconds and is {status}. | Server {server} is {status} again after {seconds} seconds. | The restart of {server} took {seconds} seconds; it is {status}.",
    ),
    tool(
        "run_query",
        "Run a query on a database.",
        "database:id; query:query; timeout:minutes?(with a timeout of {v})",
        "query a database",
        """Run {query} on {database}. | Query {database} for {query}. | Execute {query} against database {database}. | Ask the database {database} for {query}.""",
        "Look {query} up in database {database}. | On {database}, run the query {query}.",
        "rows:count; milliseconds:minutes",
        "The query returned {rows} rows in {milliseconds} ms. | {rows} rows came back after {milliseconds} ms. | I got {rows} rows ({milliseconds} ms).",
    ),
)
