"""Money."""

# ruff: noqa: E501

from training.tool import tool

TOOLS = (
    tool(
        "convert_currency",
        "Convert an amount from one currency to another.",
        "amount:amount; from_currency:currency; to_currency:currency",
        "convert money",
        """Convert {amount} {from_currency} to {to_currency}. | How much is {amount} {from_currency} in {to_currency}? |
        What is {amount} {from_currency} in {to_currency}? | Change {amount} {from_currency} into {to_currency}. |
        {amount} {from_currency} in {to_currency}, please. | I have {amount} {from_currency}, how many {to_currency} is that?""",
        "If I exchange {amount} {from_currency}, how many {to_currency} do I get? | Work out {amount} {from_currency} as {to_currency}.",
        "amount=amount; from=from_currency; to=to_currency; result:amount",
        """{amount} {from} is {result} {to}. | {amount} {from} equals {result} {to}. | That is {result} {to}. | You get {result} {to} for {amount} {from}.""",
    ),
    tool(
        "get_exchange_rate",
        "Get the exchange rate between two currencies.",
        "base:currency; quote:currency",
        "look up an exchange rate",
        """What's the exchange rate from {base} to {quote}? | Rate of {base} against {quote}? | How does {base} trade against {quote}? |
        Give me the {base} to {quote} rate. | Exchange rate {base} {quote}, please.""",
        "How many {quote} per {base} at the moment? | Tell me the current rate between {base} and {quote}.",
        "base=base; quote=quote; rate:amount",
        "One {base} is {rate} {quote}. | The rate from {base} to {quote} is {rate}. | {base} to {quote} stands at {rate}.",
    ),
    tool(
        "get_stock_price",
        "Get the latest price of a stock.",
        "symbol:ticker",
        "check a stock price",
        """What's the price of {symbol}? | How is {symbol} doing? | Stock price of {symbol}, please. | Quote for {symbol}? |
        What does a share of {symbol} cost?""",
        "Where is {symbol} trading? | Look up the share price for {symbol}.",
        "symbol=symbol; price:amount; change:decimal",
        "{symbol} is at {price}, a change of {change}. | The price of {symbol} is {price} ({change}). | {symbol} trades at {price}, changed by {change}.",
    ),
    tool(
        "transfer_money",
        "Transfer money to an account.",
        "recipient:person; amount:amount; currency:currency; note:sentence?(with the note {v})",
        "transfer money",
        """Transfer {amount} {currency} to {recipient}. | Send {amount} {currency} to {recipient}. | Pay {recipient} {amount} {currency}. |
        Wire {amount} {currency} to {recipient}. | Move {amount} {currency} to {recipient}'s account.""",
        "{recipient} should get {amount} {currency} from me. | Please make a payment of {amount} {currency} to {recipient}.",
        "transfer_id:id; amount=amount; currency=currency; recipient=recipient",
        "I sent {amount} {currency} to {recipient}; the transfer is {transfer_id}. | Transfer {transfer_id}: {amount} {currency} to {recipient}. | Done, {recipient} gets {amount} {currency} ({transfer_id}).",
    ),
    tool(
        "get_balance",
        "Get the balance of a bank account.",
        "account_id:id",
        "check a balance",
        """What's the balance of account {account_id}? | How much money is in {account_id}? | Show the balance for {account_id}. |
        Balance of {account_id}, please. | Check account {account_id}.""",
        "How much do I have left in account {account_id}? | Tell me what account {account_id} holds.",
        "account_id=account_id; balance:amount; currency:currency",
        "Account {account_id} holds {balance} {currency}. | The balance of {account_id} is {balance} {currency}. | There are {balance} {currency} in account {account_id}.",
    ),
    tool(
        "calculate_loan",
        "Compute the monthly payment of a loan.",
        "principal:amount; rate:percent; years:small",
        "compute a loan payment",
        """What is the monthly payment on {principal} at {rate} percent over {years} years? | Loan of {principal}, {rate} percent, {years} years: what do I pay? |
        Calculate the loan payment for {principal} at {rate} percent for {years} years.""",
        "I borrow {principal} for {years} years at {rate} percent, what is the monthly rate? | Work out a loan: {principal}, {years} years, {rate} percent.",
        "monthly_payment:amount; total:amount",
        "You would pay {monthly_payment} a month, {total} in total. | The monthly payment is {monthly_payment} and the total {total}. | That makes {monthly_payment} each month and {total} overall.",
    ),
)
