"""The scripted server without the endpoints of ours, and with what servers on the internet do: refuse fields, ask for a key, lie.

Run as `python foreign_server.py --port P ...` with fake_server's options and those below.
"""

import argparse
import io
import json
import sys
import time

import fake_server


class ForeignHandler(fake_server.Handler):
    """Knows /v1/models and /v1/chat/completions only."""

    def do_GET(self):
        if not self.allowed():
            return
        if self.path == "/health" and FOREIGN.health and time.monotonic() - STARTED < FOREIGN.loading_s:
            self.reply({"error": {"message": "loading"}}, 503)
        elif self.path == "/health" and FOREIGN.health:
            self.reply({})
        elif self.path == "/v1/models":
            self.reply({"data": [{"id": name} for name in FOREIGN.models.split(",")]})
        else:
            self.reply({"error": {"message": "not found"}}, 404)

    def do_POST(self):
        if not self.allowed():
            return
        if self.path == "/v1/chat/completions":
            super().do_POST()
        else:
            self.reply({"error": {"message": "not found"}}, 404)

    def allowed(self):
        if not FOREIGN.api_key or self.headers["Authorization"] == f"Bearer {FOREIGN.api_key}":
            return True
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.reply({"error": {"message": "no key"}}, 401)
        return False

    def chat(self, body):
        refused = [field for field in FOREIGN.refuse.split(",") if field in body]
        if body["model"] not in FOREIGN.known_models.split(","):
            self.reply({"error": {"message": f"the model {body['model']} does not exist"}}, 404)
        elif refused:
            self.reply({"error": {"message": f"unknown field {refused[0]}"}}, 400)
        elif body.get("top_logprobs", 0) > FOREIGN.top_limit:
            self.reply({"error": {"message": f"top_logprobs must be at most {FOREIGN.top_limit}"}}, 400)
        elif FOREIGN.whole_logprobs and body.get("stream") and body.get("logprobs") and body.get("tools"):
            self.reply({"error": {"message": "logprobs is not supported with tools + stream"}}, 400)
        elif FOREIGN.needs_field and FOREIGN.needs_field not in body:
            self.reply({"error": {"message": f"{FOREIGN.needs_field} is needed"}}, 400)
        else:
            self.asked = body
            if body.get("stream"):
                super().chat(body)
            else:
                self.reply_whole(body)

    def reply_whole(self, body):
        """The stream as one response, in llama.cpp's form: calls have no index, token ids are in the log-probabilities."""
        connection, self.wfile = self.wfile, io.BytesIO()
        super().chat(body)
        connection, self.wfile = self.wfile, connection
        lines = connection.getvalue().decode().splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        choices = [choice for event in events for choice in event["choices"]]
        text = "".join(choice["delta"].get("content", "") for choice in choices)
        parts = [call["function"] for choice in choices for call in choice["delta"].get("tool_calls", ())]
        arguments = "".join(part["arguments"] for part in parts)
        calls = [{"id": "x", "function": {"name": parts[0]["name"], "arguments": arguments}}] if parts else None
        scored = [choice for choice in choices if choice.get("logprobs")]
        entries = [choice["logprobs"]["content"][0] for choice in scored]
        entries = [entry | {"id": ord(entry["token"])} for entry in entries]
        message = {"role": "assistant", "content": text, "tool_calls": calls}
        choice = {"message": message, "finish_reason": "stop", "logprobs": {"content": entries}}
        usage = {"completion_tokens": len(entries), "prompt_tokens_details": self.details}
        self.reply({"choices": [choice], "usage": usage})

    def send(self, record):
        """Gives only what was asked for and is not withheld."""
        withheld = FOREIGN.withhold.split(",")
        self.details = record.get("usage", {}).get("prompt_tokens_details")
        for choice in record.get("choices", ()):
            if "token_ids" in withheld or not self.asked.get("return_token_ids"):
                choice.pop("token_ids", None)
            if "logprobs" in withheld or not self.asked.get("logprobs"):
                choice.pop("logprobs", None)
            for entry in (choice.get("logprobs") or {}).get("content", ()):
                entry["top_logprobs"] = entry["top_logprobs"][: self.asked.get("top_logprobs", 0)]
        if "token_ids" in withheld or not self.asked.get("return_token_ids"):
            record.pop("prompt_token_ids", None)
        if "cached_tokens" in withheld and "usage" in record:
            del record["usage"]["prompt_tokens_details"]
        if "usage" in withheld or not self.asked.get("stream_options"):
            record.pop("usage", None)
        super().send(record)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--health", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--loading-s", type=float, default=0)
    parser.add_argument("--api-key", default="")
    parser.add_argument("--models", default="fake")
    parser.add_argument("--known-models", default="fake")
    parser.add_argument("--refuse", default="")
    parser.add_argument("--withhold", default="")
    parser.add_argument("--needs-field", default="")
    parser.add_argument("--whole-logprobs", action="store_true", help="as llama.cpp")
    parser.add_argument("--top-limit", type=int, default=20)
    return parser.parse_known_args()[0]


if __name__ == "__main__":
    FOREIGN, STARTED = options(), time.monotonic()
    print("foreign server starting", file=sys.stderr, flush=True)
    fake_server.Handler = ForeignHandler
    fake_server.main()
