#!/usr/bin/env python3
"""A stand-in for an embedding provider and a language model (OpenAI's shapes), with faults on demand. Vectors depend on the text
alone. `POST /control` takes {"fault": none|503|429|401|reset|not_json, "share": 0..1, "latency_ms": N, "presidio": none|503,
"callback": none|503}.

    scripts/live/provider.py PORT DIMENSION
"""

import array
import base64
import hashlib
import json
import random
import socket
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, DIMENSION = int(sys.argv[1]), int(sys.argv[2])
state = {"fault": "none", "share": 1.0, "latency_ms": 20, "presidio": "none", "callback": "none"}
# What the stand-in for a language model finds where a text has it, and what it invents.
HEARD, INVENTED = "zumba el cuerpo", "a word that no text has"


def vector(text):
    drawn = array.array("h", hashlib.shake_256(text.encode()).digest(2 * DIMENSION))
    norm = sum(x * x for x in drawn) ** 0.5 or 1.0
    return [x / norm for x in drawn]


def embeddings(asked):
    packed = asked.get("encoding_format") == "base64"
    data = []
    for at, text in enumerate(asked["input"]):
        numbers = vector(text)
        shown = base64.b64encode(struct.pack(f"<{DIMENSION}f", *numbers)).decode() if packed else numbers
        data.append({"object": "embedding", "index": at, "embedding": shown})
    tokens = sum(-(-len(text) // 4) for text in asked["input"])
    return {"object": "list", "data": data, "model": asked["model"], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def predictions(asked):
    """Vertex's shape; every text counts as cut short."""
    texts = [one["content"] for one in asked["instances"]]
    return {"predictions": [{"embeddings": {"values": vector(text), "statistics": {"truncated": True, "token_count": -(-len(text) // 4)}}} for text in texts]}


def completion(asked):
    """A language model that finds little more than the rules did, and something that is not there."""
    said = " ".join(str(message.get("content")) for message in asked.get("messages", []) if message.get("role") == "user")
    item = lambda words: {"kind": "symptom", "quote": words, "mention": words, "negated": False, "dose": None}
    content = json.dumps({"findings": [item(HEARD), item(INVENTED)] if HEARD in said else []})
    return {"id": "x", "object": "chat.completion", "model": asked.get("model"), "usage": {"prompt_tokens": 400, "completion_tokens": 10, "total_tokens": 410},
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, code, body, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(200 if self.path == "/health" else 404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/control":
            state.update(json.loads(body))
            return self.send(200, state)
        if self.path.startswith("/callback"):
            return self.send(410, {})
        if self.path.startswith("/taken"):
            return self.send(200 if state["callback"] == "none" else int(state["callback"]), {})
        if self.path.startswith("/presidio"):
            return self.send(200, []) if state["presidio"] == "none" else self.send(int(state["presidio"]), {})
        fault = state["fault"] if random.random() < state["share"] else "none"
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return self.connection.close()
        if fault == "not_json":
            return self.send(200, b"<html>Bad gateway</html>")
        if fault == "429":
            return self.send(429, {"error": {"message": "slow down"}}, Retry_After="1")
        if fault != "none":
            return self.send(int(fault), {"error": {"message": "fault"}})
        time.sleep(state["latency_ms"] / 1000)
        asked = json.loads(body)
        if self.path.endswith(":predict"):
            return self.send(200, predictions(asked))
        return self.send(200, embeddings(asked) if self.path.endswith("/embeddings") else completion(asked))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


Server(("127.0.0.1", PORT), Handler).serve_forever()
