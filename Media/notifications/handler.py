#!/usr/bin/env python3
"""Decides what becomes of responses to the notifications beside it, as a content extension would. It keeps nothing.

    Media/notifications/handler.py [PORT]
    satchel preview Media/notifications/red.push.json --category Media/notifications/red.json \\
        --attach photo=Media/jpeg/coffee.jpg --handler http://127.0.0.1:8090/
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROTATE = {"id": "rotate-twenty-degrees-action", "title": "Rotate 20°"}
RESET = {"id": "reset-rotation-action", "title": "Reset rotation"}


def turned(degrees):
    """The picture turned so far: what stands upright or on its head can't be reset."""
    return {"then": "stay", "actions": [ROTATE] + [RESET] * (degrees % 180 != 0), "view": {"rotation": degrees}}


def closing(text, color):
    return {"then": "dismiss", "view": {"label": {"text": text, "color": color}}}


ANSWERS = {
    ROTATE["id"]: lambda response: turned(response["view"]["rotation"] + 20),
    RESET["id"]: lambda response: turned(0),
    "accept": lambda response: closing("Going!", "green"),
    "decline": lambda response: closing("Not Going.", "red"),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        response = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # What isn't decided here is the app's.
        answer = ANSWERS.get(response["action"], lambda response: {"then": "forward"})(response)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Handler)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
