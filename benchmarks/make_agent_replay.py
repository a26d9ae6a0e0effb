"""Writes the agent replay, the battery `agent`: 20 conversations of 20 responses that share tools and a preamble.

    python benchmarks/make_agent_replay.py > src/isotherm/gate/cases/agent.jsonl

Each conversation is ten questions to a shop's assistant, each answered through a tool. Seeded: the file can be made again.
"""

import json
import random
from collections.abc import Callable
from typing import Any

CONVERSATIONS, QUESTIONS = 20, 10
TOOLS = ["find_order", "check_stock", "get_price", "start_return", "book_delivery"]
ARTICLES = ["KN-110", "SV-320", "AL-204", "MO-415", "TR-118", "HB-507"]
SHOPS = ["Aldermouth", "Fenwick"]
STATUS = ["open", "done", "pending", "shipped", "delayed"]

Exchange = tuple[str, str, dict[str, Any]]


def order(rng: random.Random) -> Exchange:
    number = f"LW-{rng.randrange(10000, 99999)}"
    asked = rng.choice(
        ["Where is my order {}?", "What is the status of order {}?", "Please look up order {}.", "Track order {}."]
    )
    result = {
        "order": number,
        "status": rng.choice(STATUS),
        "arrives": f"2031-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
    }
    return asked.format(number), "find_order", result


def stock(rng: random.Random) -> Exchange:
    article, shop = rng.choice(ARTICLES), rng.choice(SHOPS)
    asked = rng.choice(["Is {} in stock in {}?", "How many of {} are there in {}?", "Check the stock of {} in {}."])
    return asked.format(article, shop), "check_stock", {"article": article, "shop": shop, "count": rng.randrange(40)}


def price(rng: random.Random) -> Exchange:
    article, quantity = rng.choice(ARTICLES), rng.randint(1, 12)
    asked = rng.choice(
        ["What do {1} of {0} cost?", "Give me the price of {0}, {1} pieces.", "How much is {0} if I take {1}?"]
    )
    result = {"article": article, "quantity": quantity, "total": round(rng.uniform(40, 2400), 2), "currency": "EUR"}
    return asked.format(article, quantity), "get_price", result


def returned(rng: random.Random) -> Exchange:
    number, reason = f"LW-{rng.randrange(10000, 99999)}", rng.choice(["damaged", "wrong", "late"])
    asked = rng.choice(
        ["I want to return order {}, it is {}.", "Start a return of {}: {}.", "Please take back {}, reason {}."]
    )
    return (
        asked.format(number, reason),
        "start_return",
        {"return": f"R{rng.randrange(1000, 9999)}", "label": "sent by e-mail"},
    )


def delivery(rng: random.Random) -> Exchange:
    number, date = f"LW-{rng.randrange(10000, 99999)}", f"2031-02-{rng.randint(10, 28)}"
    asked = rng.choice(["Deliver order {} on {}, please.", "Book the delivery of {} for {}.", "Can {} come on {}?"])
    return asked.format(number, date), "book_delivery", {"order": number, "date": date, "window": "08:00-12:00"}


EXCHANGES: tuple[Callable[[random.Random], Exchange], ...] = (order, stock, price, returned, delivery)


def conversation(rng: random.Random, number: int) -> dict[str, Any]:
    """A case: every question is followed by its tool's result, and the answer to that by the next question."""
    exchanges = [rng.choice(EXCHANGES)(rng) for _ in range(QUESTIONS)]
    follow_ups: list[Any] = []
    for place, (asked, tool, result) in enumerate(exchanges):
        if place:
            follow_ups.append({"user": asked})
        follow_ups.append([{"name": tool, "content": json.dumps(result)}])
    messages = [{"role": "user", "content": exchanges[0][0]}]
    shape = {"id": f"agent-{number:02}", "system": "b_preamble.md", "messages": messages, "tools": TOOLS}
    return shape | {"follow_ups": follow_ups, "params": {"max_tokens": 96}}


def main() -> None:
    """One JSON line a conversation."""
    rng = random.Random(31)
    for number in range(CONVERSATIONS):
        print(json.dumps(conversation(rng, number)))


if __name__ == "__main__":
    main()
