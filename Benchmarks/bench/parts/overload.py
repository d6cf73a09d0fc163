"""Ten times as much as the service can do, for a minute: what it takes it finishes, what it can't it refuses quickly, and its health is
to be had all the time.

The clients run in processes of their own, so that they don't wait for each other.
"""

import json
import multiprocessing
import time

from .. import progress
from ..corpus.inputs import files, processes
from ..figures import COUNT, MILLISECONDS, PER_SECOND, Findings, percentile
from ..service import Connection, Service, in_parallel, refuse, unlike

_SECONDS = 60
_QUEUE = 64  # what the service may have waiting; the rest is refused
_PROCESSES, _CONNECTIONS = 4, 16  # connections of each


def measure(run):
    progress.say("ten times as much as it can do, for a minute")
    bodies = [file.read_bytes() for file in files(run.inputs.small_pictures(600))]
    with Service(run.workplace, "--set", f"intake.queue={_QUEUE}") as service:
        _, wall = service.deliver_all(8, [unlike(body, index) for index, body in enumerate(bodies[:300])])
        capacity = 300 / wall
        with multiprocessing.get_context("spawn").Manager() as manager, processes(_PROCESSES + 1) as pool:
            # None begins before all are there.
            barrier = manager.Barrier(_PROCESSES + 1)
            health = pool.submit(_ask_health, service.port, barrier)
            loads = [
                pool.submit(_submit, service.port, service.authorization, bodies, capacity * 10, barrier, first)
                for first in range(_PROCESSES)]
            refusals, accepted = (sum((load.result()[which] for load in loads), []) for which in (0, 1))
        lost = _unfinished(service, accepted)
    run.workplace.clear()
    add, offered = (findings := Findings("overload")).add, len(refusals) + len(accepted)
    refusal, answer = (percentile(0.99, seconds) * 1000 for seconds in (refusals, health.result()))
    add("refusal", "Ten times overload for a minute: p99 of a refusal (429)", [refusal], MILLISECONDS, at_most=50)
    add("health", "— p99 of /livez meanwhile", [answer], MILLISECONDS, at_most=20)
    add("lost", "— accepted jobs that did not finish", [lost], COUNT, at_most=0)
    add("offered", "— submissions", [offered / _SECONDS], PER_SECOND)
    add("accepted", "— of these accepted", [len(accepted) / _SECONDS], PER_SECOND)
    add("capacity", "— what it can do", [capacity], PER_SECOND)
    return findings


def _ask_health(port, barrier):
    connection, seconds = Connection(port), []
    barrier.wait()
    start = time.monotonic()
    while time.monotonic() < start + _SECONDS:
        answer = connection.send("GET", "/livez")
        if answer.status != 200:
            refuse("GET", "/livez", answer)
        seconds.append(answer.seconds)
        time.sleep(0.02)
    return seconds


def _submit(port, authorization, bodies, rate, barrier, first):
    """An open load: submissions come at their times, as long as a connection is free, whether the ones before were answered or not.

    Each process has every so many of them.
    """
    barrier.wait()
    start, refusals, accepted = time.monotonic(), [], []
    headers = {**authorization, "Content-Type": "image/jpeg"}

    def client(left):
        connection = Connection(port)
        for index in left:
            time.sleep(max(0, start + index / rate - time.monotonic()))
            if time.monotonic() > start + _SECONDS:
                return
            body = unlike(bodies[index % len(bodies)], index)
            answer = connection.send("POST", "/v1/jobs?profile=notification", headers, body)
            if answer.status == 202:
                accepted.append(json.loads(answer.body)["id"])
            elif answer.status == 429:
                refusals.append(answer.seconds)
            else:
                refuse("POST", "/v1/jobs", answer)

    in_parallel(_CONNECTIONS, client, range(first, int(rate * _SECONDS), _PROCESSES))
    return refusals, accepted


def _unfinished(service, jobs):
    """How many have not finished within another minute."""
    connection, end = service.connect(), time.monotonic() + 60

    def is_delivered(job):
        answer = connection.send("GET", f"/v1/jobs/{job}", service.authorization)
        return answer.status == 200 and json.loads(answer.body)["state"] == "delivered"

    while (jobs := [job for job in jobs if not is_delivered(job)]) and time.monotonic() < end:
        time.sleep(0.2)
    return len(jobs)
