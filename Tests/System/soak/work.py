"""What clients ask for, and what they note of it as calls of a history."""
import collections
import hashlib
import http.client
import json
import queue
import random
import threading
import time
import urllib.parse

from history.history import now
from storm import mutation, samples

CLIENTS = 12
# Seconds of a job, and for which one client looks at it; whoever hasn't ended by then is looked at when all is over.
DEADLINE, LOOKING = 20, 60
TRIES = 6
# What has ended is deleted after so many seconds, as whoever keeps copies of their own does; one in so many stays.
KEPT, STAYING = 60, 20
# Until then what comes waits for a client; who comes later isn't served, as with any balancer.
BACKLOG = 60
ENDED = ("delivered", "failed", "cancelled")
# Of each kind, how many in a hundred.
KINDS = {"picture": 44, "clip": 6, "mutant": 22, "noise": 4, "fetched": 16, "absent": 3, "twice": 5}


class Work:
    """Number so many of a seed: always the same request."""

    def __init__(self, seed, origin):
        self.seed, self.origin = seed, origin
        self.samples, self.pictures = samples.load()
        self.clips = [(n, d) for n, d in self.samples if n.split("/")[0] in ("mp4", "mp3", "wav", "m4a", "webm", "ogg")]
        # Seconds that a source takes to come: a fault sets it.
        self.slowness = 0

    def item(self, number):
        chance = random.Random(f"{self.seed}/soak/{number}")
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        item = {"name": f"{self.seed}-{number}", "kind": kind, "data": None, "url": None}
        if kind == "noise":
            item["data"] = chance.randbytes(chance.randrange(1, 5000))
        elif kind == "mutant":
            item["data"] = mutation.mutant(f"{self.seed}/soak", number, self.samples)[2]
        elif kind == "fetched":
            item["url"] = self.origin.slow(item["name"], self.slowness)
        elif kind == "absent":
            item["url"] = self.origin.shut(item["name"])
        else:
            # A few bytes after its end, which decoders pass over: no result is found again.
            data = chance.choice(self.clips if kind == "clip" else self.pictures)[1]
            item["data"] = data + item["name"].encode()
        return item


class Clients:
    """Threads that take what comes, until `stop`."""

    def __init__(self, service, work, recorder):
        self.service, self.work, self.recorder = service, work, recorder
        self.waiting, self.over, self.lock = queue.Queue(BACKLOG), threading.Event(), threading.Lock()
        # What ended: when, and its id.
        self.ended = collections.deque()
        self.finished = self.turned_away = 0
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def offer(self, number, patience=None):
        """Whether there was a place for it; with `patience` it waits for one."""
        try:
            self.waiting.put(number, block=patience is not None, timeout=patience)
            return True
        except queue.Full:
            self.turned_away += 1
            return False

    def stop(self):
        """After what has begun."""
        self.over.set()
        for thread in self.threads:
            thread.join()

    def run(self):
        connection = Connection(self.service, self.recorder)
        while not self.over.is_set():
            try:
                number = self.waiting.get(timeout=0.5)
            except queue.Empty:
                continue
            self.carry_out(connection, self.work.item(number))
            self.delete_old(connection)

    def carry_out(self, connection, item):
        answer = self.submit(connection, item)
        if answer and item["kind"] == "twice":
            self.submit(connection, item)
        if not answer:
            return
        until = now() + LOOKING
        while answer["state"] not in ENDED and now() < until:
            looked = self.look(connection, answer["id"])
            if looked is None:
                time.sleep(0.5)
            answer = looked or answer
        if answer["state"] in ENDED:
            with self.lock:
                self.finished += 1
                self.ended.append((now(), answer["id"], item["name"]))
            self.recorder.note("end", at=now())
            self.read(connection, answer)

    def submit(self, connection, item):
        """Until somebody says yes or no."""
        headers = {"Idempotency-Key": item["name"], "Prefer": f"wait={DEADLINE}"}
        query = f"deadline={DEADLINE}&identifier={item['name']}"
        if item["url"]:
            headers["Content-Type"] = "application/json"
            attachment = {"identifier": item["name"], "url": item["url"]}
            path, body = "/v1/jobs", json.dumps({"deadline": DEADLINE, "attachments": [attachment]})
        else:
            headers["Content-Type"] = "application/octet-stream"
            path, body = f"/v1/jobs?{query}", item["data"]
        for attempt in range(TRIES):
            status, answer, note = connection.ask("submit", "POST", path, headers, body)
            accepted = status in (200, 202) and answer is not None
            note(name=item["name"], key=item["name"], asked=None, bytes=item["name"], job=answer["id"] if accepted else None,
                 code=None if accepted else (answer or {}).get("code"))
            if accepted:
                return answer
            if status is not None and status < 500 and status != 429:
                return None
            time.sleep(min(0.5 * 2 ** attempt, 4))
        return None

    def look(self, connection, job):
        status, answer, note = connection.ask("look", "GET", f"/v1/jobs/{job}", {"Prefer": "wait=5"})
        if status != 200 or answer is None:
            note(job=job)
            return None
        note(job=job, state=answer["state"], finished=answer["finished_at"], attachments=[
            {"id": one["id"], "state": one["state"], "renditions": hashes(one)} for one in answer["attachments"]])
        return answer

    def read(self, connection, answer):
        """What was made of one of its attachments, under the lease that the answer gives."""
        for attachment in answer["attachments"]:
            for role, one in (attachment["renditions"] or {}).items():
                if one.get("url"):
                    path = urllib.parse.urlsplit(one["url"]).path
                    status, content, note = connection.call("read", "GET", path, {})
                    note(attachment=attachment["id"], role=role, expected=one["sha256"], bytes=len(content),
                         sha256=hashlib.sha256(content).hexdigest())
                    return

    def delete_old(self, connection):
        while True:
            with self.lock:
                if not self.ended or self.ended[0][0] > now() - KEPT:
                    return
                _, job, name = self.ended.popleft()
            if random.Random(name).randrange(STAYING) == 0:
                continue
            # Once more, as an end that was told may not change.
            self.look(connection, job)
            for _ in range(TRIES):
                status, _, note = connection.call("delete_job", "DELETE", f"/v1/jobs/{job}", {})
                note(job=job)
                if status is not None and status < 500:
                    break
                time.sleep(0.5)


def hashes(attachment):
    return {role: one["sha256"] for role, one in (attachment["renditions"] or {}).items()}


class Connection:
    """One that is kept open from call to call; each call is noted."""

    def __init__(self, service, recorder):
        self.service, self.recorder, self.connection = service, recorder, None

    def call(self, op, method, path, headers, body=None):
        """The status (None: no answer), the answer's body, and how to note it."""
        headers = {"Authorization": f"Bearer {self.service.key}", **headers}
        start, status, content, error = now(), None, b"", None
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=LOOKING)
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            status, content = response.status, response.read()
        except (OSError, http.client.HTTPException) as problem:
            error = type(problem).__name__
            self.connection.close()
            self.connection = None
        facts = {"client": threading.current_thread().name, "node": "soak", "start": start, "end": now(), "status": status}
        if error:
            facts["error"] = error
        return status, content, lambda **more: self.recorder.note("call", op=op, tenant="default", **facts, **more)

    def ask(self, op, method, path, headers, body=None):
        """The same with a value as the answer."""
        status, content, note = self.call(op, method, path, headers, body)
        try:
            return status, json.loads(content or b"null"), note
        except ValueError:
            return status, None, note
