"""What an upload of 1 GB costs the service beside a job with the same bytes as its body, and what a thousand slow ones cost those
who wait for jobs."""

import json
import os
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from .. import Failure
from ..corpus.inputs import files
from ..figures import MEGABYTES, MILLISECONDS, SECONDS, Findings, percentile, ratios
from ..processes import peak_of_one
from ..service import Service, refuse, unlike

_SIZE, _BLOCK = 1_000_000_000, 1 << 20
_SLOW, _SLOW_BYTES = 1000, 8192  # uploads; of each a second, twice the rate that a body must keep up
_SECONDS = 15
_SETTINGS = {
    "SATCHEL_LIMITS_CLIP_BYTES": "2G", "SATCHEL_INTAKE_SPOOL_BYTES": "20G", "SATCHEL_INTAKE_UPLOADS": 2 * _SLOW,
    "SATCHEL_QUOTAS_OPEN_UPLOADS": 4 * _SLOW, "SATCHEL_QUOTAS_UPLOAD_BYTES": "20G",
}


def measure(run):
    findings = Findings("uploads")
    costs, peaks = {"upload": [], "job": []}, []
    for _ in run.turns("an upload of 1 GB", most=3):
        for kind in costs:
            with _service(run) as service:
                # What it needs for any request at all is there before.
                _send(service, *_requests[kind](service, _BLOCK), _BLOCK)
                before, _ = service.cpu(), _forget_peak(service.process)
                memory = peak_of_one(service.process)
                _send(service, *_requests[kind](service, _SIZE), _SIZE)
                costs[kind].append(service.cpu() - before)
                if kind == "upload":
                    peaks.append((peak_of_one(service.process) - memory) / 1e6)
    alone, beside = [], []
    picture = files(run.inputs.tiny_pictures(1))[0].read_bytes()
    with _service(run) as service:
        for _ in run.turns("slow uploads", most=3):
            alone.append(percentile(0.99, _latencies(service, picture)))
            with _slow(service, _SLOW):
                beside.append(percentile(0.99, _latencies(service, picture)))
    add = findings.add
    add("memory", "An upload of 1 GB: what the service's memory grows by", peaks, MEGABYTES, at_most=16)
    add("cpu_ratio", "— its processor time, in terms of a job with that body", ratios(costs["upload"], costs["job"]), at_most=1.15)
    add("cpu", "— its processor time", costs["upload"], SECONDS)
    title = f"Interactive jobs beside {_SLOW:,} slow uploads: p99 of their latency in terms of that alone"
    add("slow_ratio", title, ratios(beside, alone), at_most=1.5)
    add("slow_alone", "— p99 alone", alone, MILLISECONDS)
    return findings


def _service(run):
    place = run.workplace.unique("uploads")
    place.mkdir()
    return Service(run.workplace, environment={
        "SATCHEL_STORE": place / "store", "SATCHEL_ACCESS_KEYS": place / "keys", **_SETTINGS})


def _open(service, length):
    """The path of a new upload."""
    answer = service.post(service.connect(), "/v1/uploads", {"length": length})
    if answer.status != 201:
        refuse("POST", "/v1/uploads", answer)
    return urlsplit(json.loads(answer.body)["url"]).path


def _upload(service, length):
    headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    return "PATCH", _open(service, length), headers, 204


def _job(service, _):
    return "POST", "/v1/jobs", {**service.authorization, "Content-Type": "application/octet-stream", "Prefer": "wait=0"}, 202


_requests = {"upload": _upload, "job": _job}


def _send(service, method, path, headers, expected, size):
    """So many bytes that are no medium: what becomes of them costs next to nothing."""
    block = os.urandom(_BLOCK)
    body = (block[:min(_BLOCK, size - start)] for start in range(0, size, _BLOCK))
    answer = service.connect().send(method, path, {**headers, "Content-Length": str(size)}, body)
    if answer.status != expected:
        refuse(method, path, answer)


def _forget_peak(process):
    """From now on its peak is counted anew."""
    with open(f"/proc/{process}/clear_refs", "w") as file:
        file.write("5")


@contextmanager
def _slow(service, count):
    """So many uploads underway, each of which brings a little once a second."""
    is_over, failures = threading.Event(), []
    with ExitStack() as stack:
        sockets = []
        # One that has begun must keep its rate: all begin together.
        for method, path, headers, _ in [_upload(service, _SIZE) for _ in range(count)]:
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            sockets.append(stack.enter_context(socket.create_connection(("127.0.0.1", service.port))))
            sockets[-1].sendall(f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {_SIZE}\r\n{head}\r\n".encode())

        def bring():
            part = os.urandom(_SLOW_BYTES)
            try:
                while not is_over.is_set():
                    start = time.monotonic()
                    for number, one in enumerate(sockets):
                        one.sendall(part)
                        # Spread over the second.
                        time.sleep(max(0, start + (number + 1) / count - time.monotonic()))
            except OSError as error:
                failures.append(error)

        thread = threading.Thread(target=bring)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        if failures:
            raise Failure(f"a slow upload was cut off: {failures[0]!r}")


def _latencies(service, body):
    """Milliseconds of each of one client's jobs, one after the other."""
    connection, found, end = service.connect(), [], time.monotonic() + _SECONDS
    while time.monotonic() < end:
        found.append(service.deliver(connection, unlike(body, len(found))).seconds * 1000)
    return found
