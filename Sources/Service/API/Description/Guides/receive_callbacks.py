#!/usr/bin/env python3
"""Receives Satchel's calls, and believes only those that it signed: receive_callbacks.py PORT, with the secret in WEBHOOK_SECRET."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

# Several, separated by spaces, while a secret is being rotated.
SECRETS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["WEBHOOK_SECRET"].split()]
TOLERANCE = 300  # seconds that the two clocks may be apart
seen = set()  # in a service that restarts: a unique column of your database


def is_genuine(headers, body):
    call, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isascii() or not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE:
        return False
    signed = f"{call}.{sent_at}.".encode() + body  # the bytes as they came: parse them afterwards
    right = [b"v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)) for secret in SECRETS]
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, other) for one in given for other in right)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.headers, body):
            self.answer(401)
            return
        # A call that wasn't answered in time comes again, under the same id.
        if self.headers["webhook-id"] not in seen:
            event = json.loads(body)
            # A job's callback is the job itself; events of notifications and uploads have a type, and data.
            kind, about = event.get("type", "job.finished"), event.get("data", event)
            print(kind, about.get("id", ""), about.get("state", ""), flush=True)
            seen.add(self.headers["webhook-id"])
        # Say yes at once, and work afterwards: anything but 2xx, or nothing within 15 s, is tried again.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
