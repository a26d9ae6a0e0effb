"""What the scripted server can do wrong, by name. Those of the transport (500, hang, cut, exit) are in the server itself."""

import json
import os
import struct
from dataclasses import dataclass


@dataclass
class Script:
    """What a response will say. letters: one a token, with the likeliest beside them (tops); calls: [name, arguments]."""

    letters: list
    tops: list
    text: str
    calls: list
    finish: str
    cached: int | None
    gives_ids: bool = True
    gives_first_logprob: bool = True

    def deltas(self):
        """One a token: the text or the calls, in as many parts as there are tokens."""
        count = len(self.letters)
        if not self.calls:
            return [{"content": part} for part in parts(self.text, count)]
        deltas = [{"tool_calls": []} for _ in range(count)]
        for number, (name, arguments) in enumerate(self.calls):
            for index, part in enumerate(parts(arguments, count)):
                function = {"name": name if index == 0 else None, "arguments": part}
                deltas[index]["tool_calls"].append({"index": number, "function": function})
        return deltas


def parts(text, count):
    return [text[len(text) * i // count : len(text) * (i + 1) // count] for i in range(count)]


def flip_last_bit(value):
    return struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", value))[0] ^ 1))[0]


def bit(script, body):
    """One bit of one of the likeliest tokens' log-probabilities."""
    token, value = script.tops[5][9]
    script.tops[5][9] = (token, flip_last_bit(value))


def capital(script, body):
    """What is shown is not what was generated."""
    script.text = script.text[:8] + script.text[8:9].upper() + script.text[9:]
    script.calls = [[name, arguments[:20] + arguments[20:].upper()] for name, arguments in script.calls]


def wording(script, body):
    """Another word in the text; calls are left alone."""
    script.text = script.text and "Well, " + script.text


def drop_argument(script, body):
    script.calls = [[name, json.dumps({"q": json.loads(given)["q"]})] for name, given in script.calls]


def argument_order(script, body):
    """The same value, other bytes."""
    script.calls = [[name, json.dumps(dict(reversed(json.loads(given).items())))] for name, given in script.calls]


def truncated_call(script, body):
    script.calls = [[name, arguments[: len(arguments) // 2]] for name, arguments in script.calls]


def extra_call(script, body):
    script.calls += [["ask", '{"q": "and this"}']] if script.calls else []


def other_tool(script, body):
    script.calls = [["tell", arguments] for _, arguments in script.calls]


def repeated_call(script, body):
    """After a tool's result: the call that it answered, again, its arguments written in another order."""
    if body["messages"][-1]["role"] == "tool":
        made = next(m for m in reversed(body["messages"]) if m.get("tool_calls"))["tool_calls"][0]["function"]
        arguments = json.dumps(dict(reversed(json.loads(made["arguments"]).items())))
        script.text, script.calls, script.finish = "", [[made["name"], arguments]], "tool_calls"


def finish(script, body):
    script.finish = "length"


def first_logprob(script, body):
    script.gives_first_logprob = False


def no_ids(script, body):
    script.gives_ids = False


def silent(script, body):
    script.cached = None


def lying(script, body):
    script.cached += 64


def stingy(script, body):
    script.cached = max(script.cached - 64, 0)


def no_reach(script, body):
    script.cached = 0


CONTENT = {
    "bit": bit,
    "text": capital,
    "wording": wording,
    "drop argument": drop_argument,
    "argument order": argument_order,
    "truncated call": truncated_call,
    "extra call": extra_call,
    "other tool": other_tool,
    "repeated call": repeated_call,
    "finish": finish,
    "first logprob": first_logprob,
    "no ids": no_ids,
    "silent": silent,
    "lying": lying,
    "stingy": stingy,
    "no reach": no_reach,
}
"""Faults of what is said: each changes the script."""

TOKENS = {
    "token": lambda index, top: top[1][0] if index == 3 else None,
    "random token": lambda index, top: os.urandom(1).hex()[0] if index == 3 else None,
}
"""Faults of what is generated: the token at an index, or None for the likeliest."""
