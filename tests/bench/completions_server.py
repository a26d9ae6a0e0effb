"""A server of /v1/completions that takes token ids and has a known speed, for the bench to measure."""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN_S = 0.002
PREFILL_S = 0.0001
SEEN = []
LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        records = {"/health": {}, "/v1/models": {"data": [{"id": "clock"}]}}
        if self.server.options.version:
            records["/version"] = {"version": "0", "vocab_size": 5000, "build": {"clock": "1"}}
        record = records.get(self.path)
        self.reply(record if record is not None else {"error": "no"}, 200 if record is not None else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "ignore_eos" in body and self.server.options.strict:
            self.reply({"error": {"message": "unknown field ignore_eos", "param": "ignore_eos"}}, 400)
            return
        if self.server.options.broken:
            self.reply({"error": {"message": "out of order"}}, 503)
            return
        cached = self.cached(body["prompt"])
        time.sleep((len(body["prompt"]) - cached) * PREFILL_S)
        self.send_response(200)
        self.end_headers()
        for index in range(body["max_tokens"]):
            if index:
                time.sleep(TOKEN_S)
            self.send({"choices": [{"text": "x", "finish_reason": None}]})
        self.send({"choices": [{"text": "", "finish_reason": "length"}]})
        usage = {"completion_tokens": body["max_tokens"], "prompt_tokens_details": {"cached_tokens": cached}}
        self.send({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def cached(self, prompt):
        with LOCK:
            found = max((common(prompt, other) for other in SEEN), default=0)
            SEEN.append(prompt)
        return found // 64 * 64

    def send(self, record):
        self.wfile.write(f"data: {json.dumps(record)}\n\n".encode())

    def reply(self, record, status):
        data = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def common(left, right):
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--version", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--broken", action="store_true")
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.options = options
    server.serve_forever()


if __name__ == "__main__":
    main()
