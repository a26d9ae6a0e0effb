"""A scripted server with the gate's endpoints and injectable faults: its tokens are characters, its weights are CRC-32.

Run as `python fake_server.py [MODEL] --port P --[no-]enable-prefix-caching [--max-num-batched-tokens N] [--fault NAME]`.
When a user speaks and there are tools it calls `ask`, whose argument q is what was generated; else it answers in text.
The faults are in faults.py.
Its cache follows docs/cache-policy.md in the plainest way there is: a list of everything published, searched in full.
"""

import argparse
import json
import struct
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import faults

LENGTH = 70  # generated tokens of an answer: more than a block, so that generated blocks are published
LETTERS = "abcdefghijklmnopqrstuvwxyz"
STEP_S = 0.0002


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def likeliest(prefix):
    """The 20 likeliest next characters and their log-probabilities: a function of the prefix alone."""
    seed = zlib.crc32(prefix.encode())
    return [(LETTERS[(seed + 7 * rank) % 26], float32(-0.1 - rank / 3 - (seed % 997) / 1e4)) for rank in range(20)]


def render(messages, tools):
    """The chat template; an assistant turn is rendered as exactly what was generated for it."""
    text = f"<tools>{json.dumps(tools)}</tools>" if tools else ""
    for message in messages:
        calls = message.get("tool_calls") or ()
        called = "".join(json.loads(call["function"]["arguments"])["q"] for call in calls)
        start = f"<{message['role']}>"
        text += start + (message.get("content") or "") + called
    return text


def common_blocks(left, right):
    return next(end for end in range(len(right) // 64 * 64, -1, -64) if left[:end] == right[:end])


class Cache:
    """Everything published so far."""

    def __init__(self, enabled):
        self.enabled, self.published, self.lock = enabled, [], threading.Lock()

    def lookup(self, prompt):
        limit, hit, matched = (len(prompt) - 1) // 64 * 64, 0, 0
        with self.lock:
            for text, snapshots in self.published:
                common = common_blocks(text, prompt[:limit])
                matched = max(matched, common)
                hit = max([hit, *(point for point in snapshots if point <= common)])
        return hit, matched

    def publish(self, prompt, generated, hint, hit, matched, interval):
        computed = prompt + generated[:-1]
        points = {
            len(prompt) // 64 * 64,
            (len(prompt) - 1) // 64 * 64,
            hint // 64 * 64,
            matched if matched > hit else 0,
        }
        points |= set(range(interval, len(prompt) + 1, interval))
        kept = {point for point in points if point > hit} | {len(computed) // 64 * 64}
        with self.lock:
            if self.enabled:
                self.published.append((computed[: len(computed) // 64 * 64], kept))


class Handler(BaseHTTPRequestHandler):
    running = 0
    served = 0

    def log_message(self, *args):
        pass

    def do_GET(self):
        options = self.server.options
        version = {"version": "0", "build": {"fake": "1"}, "block_size": 64, "snapshot_interval": 256}
        version["prefix_caching"] = options.enable_prefix_caching
        self.reply({"/health": {}, "/v1/models": {"data": [{"id": "fake"}]}, "/version": version}[self.path])

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            self.reply({"hint": self.hint(body)})
        elif self.path == "/v1/completions":
            self.score(body)
        else:
            Handler.running += 1
            Handler.served += 1
            try:
                self.chat(body)
            finally:
                Handler.running -= 1

    def hint(self, body):
        messages = body["messages"]
        first = next(i for i, message in enumerate(messages) if message["role"] == "user")
        return len(render(messages[:first], body.get("tools")))

    def reply(self, record, status=200):
        data = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def score(self, body):
        text = "".join(map(chr, body["prompt"]))
        entries = [None]
        for end in range(1, len(text)):
            top = likeliest(text[:end])
            entry = {str(ord(c)): {"logprob": p, "rank": i, "decoded_token": c} for i, (c, p) in enumerate(top, 1)}
            entry.setdefault(str(ord(text[end])), {"logprob": -50.0, "rank": 30, "decoded_token": text[end]})
            entries.append(entry)
        if self.server.options.fault == "rescored bit":
            value = entries[-1][str(body["prompt"][-1])]
            value["logprob"] = faults.flip_last_bit(value["logprob"])
        self.reply({"choices": [{"text": "", "prompt_logprobs": entries}], "usage": {}})

    def chat(self, body):
        server, prompt = self.server, render(body["messages"], body.get("tools"))
        hit, matched = server.cache.lookup(prompt)
        fault = server.fault_for(hit, Handler.running)
        if fault == "500":
            self.reply({"error": {"message": "boom"}}, 500)
            return
        if fault == "hang":
            time.sleep(30)
        script = self.script(body, prompt, hit, fault)
        generated, hint = "".join(script.letters), self.hint(body)
        self.stream(prompt, script, fault, lambda: server.cache.publish(prompt, generated, hint, hit, matched, 256))

    def script(self, body, prompt, cached, fault):
        """What is to be said, with the fault in it."""
        text, tops = prompt, []
        forced = faults.TOKENS.get(fault, lambda index, top: None)
        letters = []
        for index in range(LENGTH):
            top = likeliest(text)
            letter = forced(index, top) or top[0][0]
            tops.append(top)
            letters.append(letter)
            text += letter
        said = "".join(letters)
        called = bool(body.get("tools")) and body["messages"][-1]["role"] == "user"
        calls = [["ask", json.dumps({"q": said, "n": 1})]] if called else []
        script = faults.Script(letters, tops, "" if called else said, calls, "tool_calls" if called else "stop", cached)
        faults.CONTENT.get(fault, lambda script, body: None)(script, body)
        return script

    def stream(self, prompt, script, fault, publish):
        self.send_response(200)
        self.end_headers()
        self.send({"choices": [{"delta": {"role": "assistant"}}], "prompt_token_ids": list(map(ord, prompt))})
        for index, (letter, delta) in enumerate(zip(script.letters, script.deltas(), strict=True)):
            time.sleep(STEP_S)
            if fault == "cut" and index == 20:
                return
            choice = {"index": 0, "delta": delta}
            if script.gives_ids:
                choice["token_ids"] = [ord(letter)]
            listed = [{"token": c, "logprob": p} for c, p in script.tops[index]]
            if script.gives_first_logprob or index:
                choice["logprobs"] = {"content": [listed[0] | {"token": letter, "top_logprobs": listed}]}
            self.send({"choices": [choice]})
        publish()
        self.send({"choices": [{"delta": {}, "finish_reason": script.finish}]})
        details = {} if script.cached is None else {"prompt_tokens_details": {"cached_tokens": script.cached}}
        self.send({"choices": [], "usage": {"completion_tokens": len(script.letters), **details}})
        self.wfile.write(b"data: [DONE]\n\n")

    def send(self, record):
        self.wfile.write(f"data: {json.dumps(record)}\n\n".encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def fault_for(self, hit, running):
        """The fault, where and when it shows: on hits, in company, anywhere, or on every response."""
        fault, where = self.options.fault, self.options.where
        shows = {
            "hit": hit > 0,
            "company": running > 1,
            "everywhere": True,
            "caching": self.options.enable_prefix_caching,
        }
        return fault if shows[where] else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?")
    parser.add_argument("--port", type=int)
    parser.add_argument("--enable-prefix-caching", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--max-num-batched-tokens", type=int, default=2048)
    parser.add_argument("--fault", default="")
    parser.add_argument("--where", default="hit")
    options, _ = parser.parse_known_args()
    if options.fault == "exit":
        sys.exit("the model could not be found")
    server = Server(("127.0.0.1", options.port), Handler)
    server.options, server.cache = options, Cache(options.enable_prefix_caching)
    server.serve_forever()


if __name__ == "__main__":
    main()
