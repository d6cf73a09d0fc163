"""Receives the calls of the service as its own guide for receivers has it, and notes each; some it doesn't answer as it should."""
import base64
import hmac
import http.server
import json
import random
import socket
import struct
import threading
import time

from history.history import now
from history.network import HERE

# What becomes of a call that meets a fault.
FAULTS = ("refuses", "asks to wait", "hangs", "drops", "loses its answer")
# Longer than a call may take.
HANG = 20


class Receiver:
    """`/TENANT` takes the calls of a tenant. A fault meets only the first attempt of a call, so that each gets through in time."""

    def __init__(self, recorder, secrets, seed, address=HERE):
        self.recorder, self.secrets, self.share = recorder, secrets, 0.3
        self.chance, self.lock, self.seen = random.Random(f"{seed}/receiver"), threading.Lock(), set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver.take(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://{address}:{self.server.server_port}"

    def url(self, tenant):
        return f"{self.base}/{tenant}"

    def draw(self, call):
        """The fault that meets an attempt; nil for none."""
        with self.lock:
            if call in self.seen or self.chance.random() >= self.share:
                self.seen.add(call)
                return None
            self.seen.add(call)
            return self.chance.choice(FAULTS)

    def take(self, request):
        tenant, headers = request.path.strip("/"), request.headers
        at, body = now(), request.rfile.read(int(headers.get("Content-Length", 0)))
        call, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        fault = self.draw(call)
        signed = is_signed(self.secrets.get(tenant), call, stamp, body, headers.get("webhook-signature", ""))
        status = {None: 204, "refuses": 503, "asks to wait": 429, "loses its answer": 204}.get(fault)
        self.recorder.note(
            "receipt", call=call, tenant=tenant, at=at, off=int(stamp) - time.time() if stamp.isdecimal() else None, signed=signed,
            body=body.decode(errors="replace"), fault=fault, status=status, about=about(body) if signed else None)
        if fault == "hangs":
            time.sleep(HANG)
        if fault in ("hangs", "drops", "loses its answer"):
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.connection.close()
            request.close_connection = True
            return
        request.send_response(status)
        if fault == "asks to wait":
            request.send_header("Retry-After", "2")
        request.end_headers()


def is_signed(secret, call, stamp, body, signatures):
    if secret is None:
        return False
    code = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), f"{call}.{stamp}.".encode() + body, "sha256")
    return any(hmac.compare_digest(f"v1,{base64.b64encode(code).decode()}", given) for given in signatures.split())


def about(body):
    """What a call tells, as far as the records can confirm it."""
    try:
        event = json.loads(body)
    except ValueError:
        return None
    if "type" in event:
        told = event["data"]
        alert = (((told.get("payload") or {}).get("aps")) or {}).get("alert")
        return {"type": event["type"], **{name: told.get(name) for name in ("id", "generation", "number")}, "alert": alert}
    return {"type": "job", "id": event["id"], "state": event["state"], "attachments": [{
        "identifier": one["identifier"], "id": one["id"], "state": one["state"],
        "renditions": {role: made["sha256"] for role, made in (one["renditions"] or {}).items()},
        "opens": all(made.get("url") for made in (one["renditions"] or {}).values())} for one in event["attachments"]]}
