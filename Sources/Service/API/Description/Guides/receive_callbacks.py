#!/usr/bin/env python3
"""Receives calls and accepts only those signed by Satchel: receive_callbacks.py PORT, with WEBHOOK_SECRET set."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

# While a secret is being rotated, there are several, separated by spaces.
SECRETS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["WEBHOOK_SECRET"].split()]
TOLERANCE = 300  # maximum difference of the two clocks in seconds
seen = set()  # use a unique database column in a service that restarts


def is_genuine(headers, body):
    call, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isascii() or not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE:
        return False
    signed = f"{call}.{sent_at}.".encode() + body  # the bytes as received, before parsing
    right = [b"v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)) for secret in SECRETS]
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, other) for one in given for other in right)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.headers, body):
            self.answer(401)
            return
        # A call that was not answered in time is repeated with the same id.
        if self.headers["webhook-id"] not in seen:
            event = json.loads(body)
            # A job's callback is the job itself. Events of notifications and uploads have 'type' and 'data'.
            kind, about = event.get("type", "job.finished"), event.get("data", event)
            print(kind, about.get("id", ""), about.get("state", ""), flush=True)
            seen.add(self.headers["webhook-id"])
        # Answer immediately and work afterwards. The call is repeated unless it gets a 2xx within 15 s.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
