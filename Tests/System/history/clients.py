"""Clients, each of which does what its seed says, and notes what it was told."""
import hashlib
import http.client
import json
import random
import socket
import struct
import threading
import time
import urllib.parse
import uuid

from history.cluster import PORT, TENANTS
from history.history import now
from history.pictures import png

# Longer than any test.
LEASE = 7200
TRIES = 8
# Seconds of a job, and of the handover of a firing.
DEADLINE, LATE_LIMIT = 120, 60
ENDED = ("delivered", "failed", "cancelled")


class World:
    """What clients know of each other's doings."""

    def __init__(self, cluster, recorder, origin, receiver, seed):
        self.cluster, self.recorder, self.origin, self.receiver, self.seed = cluster, recorder, origin, receiver, seed
        self.fronts = [node for node in cluster.nodes if node.takes_requests]
        self.over, self.lock = threading.Event(), threading.Lock()
        self.unfinished, self.failed = [], []
        self.delivered, self.streamed, self.pullers = [], [], []
        # Where who got a payload responds: tenant, notification, firing and path.
        self.tickets = []
        # Leases that may be read under, and some that no longer may.
        self.leases = []

    def add(self, where, one):
        with self.lock:
            where.append(one)

    def draw(self, where, chance):
        with self.lock:
            return chance.choice(where) if where else None

    def take(self, where, chance):
        with self.lock:
            return where.pop(chance.randrange(len(where))) if where else None

    def drop(self, where, one):
        with self.lock:
            if one in where:
                where.remove(one)


class Client(threading.Thread):
    """`act` again and again, with pauses of `pause` seconds on average."""

    pause = 1.0

    def __init__(self, world, name):
        super().__init__(name=name, daemon=True)
        self.world, self.chance, self.count = world, random.Random(f"{world.seed}/{name}"), 0
        self.connections, self.problem = {}, None

    def run(self):
        try:
            while not self.world.over.wait(self.chance.uniform(0.2, 1.8) * self.pause):
                self.act()
        except BaseException as problem:  # The main thread raises it.
            self.problem = problem

    def call(self, op, method, path, tenant, node=None, headers=None, body=None, timeout=6, answered=None, key=None, **facts):
        """Asks a node, and notes it; the status (None: no answer) and the answer's body. `answered` takes the answer's headers."""
        node = node or self.chance.choice(self.world.fronts)
        headers = {"Authorization": f"Bearer {key or self.world.cluster.keys[tenant]}", **(headers or {})} if tenant else headers or {}
        start, status, content, error = now(), None, b"", None
        try:
            connection = self.connections.get(node.name)
            if connection is None:
                connection = self.connections[node.name] = http.client.HTTPConnection(node.place.address, PORT, timeout=timeout)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            status, content = answer.status, answer.read()
            if answered is not None:
                answered.update((name.lower(), value) for name, value in answer.getheaders())
        except (OSError, http.client.HTTPException) as problem:
            error = type(problem).__name__
            self.connections.pop(node.name).close()
        facts = {**facts, "client": self.name, "node": node.name, "start": start, "end": now(), "status": status}
        if error:
            # The status may have come, and not all of the body.
            facts["error"] = error
        return status, content, lambda **more: self.world.recorder.note("call", op=op, tenant=tenant, **facts, **more)

    def ask(self, op, method, path, tenant, **options):
        """The same with a value as the answer."""
        status, content, note = self.call(op, method, path, tenant, **options)
        try:
            return status, json.loads(content or b"null"), note
        except ValueError:
            return status, None, note


class Submitter(Client):
    """Jobs of several kinds, asked for until somebody says yes; some of them twice."""

    pause = 1.3
    # A source that is fetched is accepted also while the bucket fails.
    KINDS = {"post": 8, "put": 5, "equal": 4, "slow": 6, "shut": 1, "broken": 1, "again": 2, "replace": 1}

    def act(self):
        self.count += 1
        kind = self.chance.choices(list(self.KINDS), list(self.KINDS.values()))[0]
        name = f"{self.name}-{self.count}"
        tenant = self.chance.choice(TENANTS)
        job = {"tenant": tenant, "name": name, "kind": kind, "key": name, "asked": None, "bytes": name}
        if self.chance.random() < 0.5:
            job["callback"] = self.world.receiver.url(tenant)
        if kind == "slow":
            job["seconds"] = self.chance.choice((0, 1, 4, 12))
        if kind in ("put", "replace"):
            job.update(key=None, asked=name)
        if kind == "equal":
            job["bytes"] = f"equal-{self.chance.randrange(4)}"
        if not (answer := self.submit(job)):
            return
        if kind == "replace":
            self.world.over.wait(self.chance.uniform(0, 2))
            answer = self.submit({**job, "bytes": f"{name}-other"}) or answer
        if kind == "again":
            # Two at once, each through a node of its own.
            other = Submitter(self.world, f"{self.name}'")
            second = threading.Thread(target=other.submit, args=(job,))
            second.start()
            self.submit(job)
            second.join()
        self.world.add(self.world.unfinished, {**job, "id": answer["id"]})

    def submit(self, job, **options):
        """Until it is accepted; then the answer."""
        for attempt in range(TRIES):
            if self.world.over.is_set():
                return None
            status, answer, note = self.request(job, **options)
            accepted = status in (200, 202) and answer is not None
            note(**facts(job), job=answer["id"] if accepted else None, code=None if accepted else (answer or {}).get("code"))
            if accepted:
                return answer
            self.world.over.wait(min(0.3 * 2 ** attempt, 3))
        return None

    def request(self, job, **options):
        headers = {"Prefer": "respond-async"}
        if job["key"]:
            headers["Idempotency-Key"] = job["key"]
        if job["kind"] in ("slow", "shut"):
            # As it was asked for first: another body under the key would be refused.
            url = self.world.origin.slow(job["bytes"], job["seconds"]) if job["kind"] == "slow" else self.world.origin.shut(job["bytes"])
            told = {"callback": {"url": job["callback"]}} if "callback" in job else {}
            body = json.dumps({"profile": "message", "deadline": DEADLINE, "attachments": [{"identifier": job["name"], "url": url}], **told})
            return self.ask("submit", "POST", "/v1/jobs", job["tenant"], headers={**headers, "Content-Type": "application/json"}, body=body)
        content = b"\0" * 2000 if job["kind"] == "broken" else png(job["bytes"], **job.get("size", {}))
        path = f"/v1/jobs/{job['asked']}" if job["asked"] else "/v1/jobs"
        query = {"profile": "message", "deadline": DEADLINE, "identifier": job.get("identifier", job["name"])}
        if "callback" in job:
            query["callback"] = job["callback"]
        return self.ask(
            "submit", "PUT" if job["asked"] else "POST", f"{path}?{urllib.parse.urlencode(query)}", job["tenant"],
            headers={**headers, "Content-Type": "application/octet-stream"}, body=content, **options)


def facts(job):
    """What is noted of a submission."""
    known = {name: job.get(name) for name in ("name", "key", "asked", "bytes")}
    return {**known, "what": job["kind"], "identifier": job.get("identifier", job["name"]), "has_callback": "callback" in job}


class Poller(Client):
    """Looks at jobs until they ended, and now and then at some that did."""

    pause = 0.35

    def act(self):
        ended = self.chance.random() < 0.2
        job = self.world.draw(self.world.delivered if ended else self.world.unfinished, self.chance)
        if job is None:
            return
        answer = self.look(job)
        if ended or answer is None or answer["state"] not in ENDED:
            return
        self.world.drop(self.world.unfinished, job)
        if answer["state"] == "failed":
            self.world.add(self.world.failed, job)
        for attachment in answer["attachments"]:
            if attachment["state"] == "delivered":
                found = {**job, "attachment": attachment["id"], "renditions": hashes(attachment)}
                self.world.add(self.world.streamed if job["kind"] == "large" else self.world.delivered, found)

    def look(self, job):
        headers = {"Prefer": "wait=2"} if self.chance.random() < 0.2 else {}
        status, answer, note = self.ask("look", "GET", f"/v1/jobs/{job['id']}", job["tenant"], headers=headers)
        if status != 200 or answer is None:
            note(job=job["id"])
            return None
        note(job=job["id"], state=answer["state"], finished=answer["finished_at"], attachments=[
            {"id": one["id"], "state": one["state"], "renditions": hashes(one)} for one in answer["attachments"]])
        return answer


def hashes(attachment):
    return {role: one["sha256"] for role, one in (attachment["renditions"] or {}).items()}


class Lessee(Client):
    """Starts access for the readers, and takes it back while they read."""

    pause = 1.0
    MOST = 24

    def act(self):
        found = self.world.draw(self.world.delivered, self.chance)
        if found is not None and (lease := self.lease(found)):
            self.world.add(self.world.leases, lease)
        open_leases = [lease for lease in list(self.world.leases) if lease["revoked"] is None]
        if open_leases and self.chance.random() < 0.8:
            lease = self.chance.choice(open_leases)
            self.revoke(lease)
        if len(self.world.leases) > self.MOST:
            self.world.take(self.world.leases, random.Random(0))

    def lease(self, found):
        body = json.dumps({"attachment_id": found["attachment"], "ttl": LEASE})
        status, answer, note = self.ask(
            "lease", "POST", "/v1/leases", found["tenant"], headers={"Content-Type": "application/json"}, body=body)
        note(attachment=found["attachment"], lease=answer["id"] if status == 201 and answer else None)
        if status != 201 or answer is None:
            return None
        paths = {role: urllib.parse.urlsplit(one["url"]).path for role, one in answer["renditions"].items()}
        return {**found, "lease": answer["id"], "paths": paths, "revoked": None}

    def revoke(self, lease):
        status, _, note = self.call("revoke", "DELETE", f"/v1/leases/{lease['lease']}", lease["tenant"])
        note(lease=lease["lease"], attachment=lease["attachment"])
        if status == 204:
            lease["revoked"] = now()


class Reader(Client):
    """Reads under leases, also under those that were taken back, through any node."""

    pause = 0.4

    def act(self):
        if lease := self.world.draw(self.world.leases, self.chance):
            self.read(lease, self.chance.choice(sorted(lease["paths"])))

    def read(self, lease, role, node=None, op="read"):
        status, content, note = self.call(op, "GET", lease["paths"][role], None, node=node)
        note(lease=lease["lease"], attachment=lease["attachment"], role=role, expected=lease["renditions"][role],
             bytes=len(content), sha256=hashlib.sha256(content).hexdigest() if status == 200 and content else None)


class Streamer(Lessee):
    """Reads something large slowly; meanwhile its access is taken back through another node."""

    pause = 2.0
    PIECE, REST = 16384, 0.05
    # After that it is clear that nobody ends it.
    PATIENCE = 12

    def act(self):
        found = self.world.draw(self.world.streamed, self.chance)
        if found is None or not (lease := self.lease(found)):
            return
        self.count += 1
        role = "original" if "original" in lease["paths"] else "main"
        revoker = Streamer(self.world, f"{self.name}-revoker-{self.count}")
        taking = threading.Timer(self.chance.uniform(0.3, 4), revoker.revoke, (lease,))
        taking.start()
        self.stream(lease, role)
        taking.join()

    def stream(self, lease, role):
        node = self.chance.choice(self.world.fronts)
        start, status, count, last, whole, error = now(), None, 0, None, False, None
        try:
            with socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * self.PIECE)
                connection.settimeout(6)
                connection.connect((node.place.address, PORT))
                connection.sendall(f"GET {lease['paths'][role]} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                answer = http.client.HTTPResponse(connection)
                answer.begin()
                status, last = answer.status, now()
                while piece := answer.read1(self.PIECE):
                    count, last = count + len(piece), now()
                    if lease["revoked"] is not None and last > lease["revoked"] + self.PATIENCE:
                        break
                    time.sleep(self.REST)
                else:
                    whole = answer.length == 0
        except (OSError, http.client.HTTPException) as problem:
            error = type(problem).__name__
        self.world.recorder.note(
            "call", op="stream", tenant=None, client=self.name, node=node.name, start=start, end=now(), status=status, bytes=count,
            last=last, whole=whole, error=error, lease=lease["lease"], attachment=lease["attachment"], role=role)


class Deleter(Client):
    """Deletes attachments and jobs, and reads once more what was readable."""

    pause = 9.0

    def act(self):
        found = self.world.take(self.world.delivered, self.chance)
        if found is None:
            return
        if self.chance.random() < 0.6:
            status, _, note = self.call("delete", "DELETE", f"/v1/attachments/{found['attachment']}", found["tenant"])
            note(attachment=found["attachment"], job=found["id"])
        else:
            status, _, note = self.call("delete_job", "DELETE", f"/v1/jobs/{found['id']}", found["tenant"])
            note(attachment=found["attachment"], job=found["id"])


class Retrier(Client):
    """Has failed jobs tried again, whose origin answers now."""

    pause = 6.0

    def act(self):
        job = self.world.take(self.world.failed, self.chance)
        if job is None:
            return
        self.world.origin.open(job["bytes"])
        status, _, note = self.call("retry", "POST", f"/v1/jobs/{job['id']}/retry", job["tenant"])
        note(job=job["id"])
        if status == 202:
            self.world.add(self.world.unfinished, job)
        elif status != 409:
            self.world.add(self.world.failed, job)


class Lister(Client):
    """Walks through all jobs of a tenant."""

    pause = 12.0

    def act(self):
        tenant = self.chance.choice(TENANTS)
        jobs, cursor, start = [], "", now()
        while True:
            status, page, note = self.ask("page", "GET", f"/v1/jobs?limit=100{cursor}", tenant)
            if status != 200 or page is None:
                note()
                return
            jobs += [job["id"] for job in page["jobs"]]
            if not page.get("next"):
                break
            cursor = f"&cursor={urllib.parse.quote(page['next'])}"
        note(list=jobs, began=start)


class Uploader(Submitter):
    """A few large files at the beginning, for the streams."""

    def run(self):
        for number in range(2):
            name = f"large-{number}"
            job = {"tenant": TENANTS[number % len(TENANTS)], "name": name, "kind": "large", "key": name, "asked": None, "bytes": name}
            if answer := self.submit(job):
                self.world.add(self.world.unfinished, {**job, "id": answer["id"]})

    def request(self, job, **options):
        headers = {"Prefer": "respond-async", "Idempotency-Key": job["key"], "Content-Type": "application/octet-stream"}
        return self.ask(
            "submit", "POST", f"/v1/jobs?profile=archive&identifier={job['name']}", job["tenant"], headers=headers,
            body=png(job["bytes"], side=1400, level=0))


class Notifier(Client):
    """Notifications that fire soon; some of them are changed before, or taken back."""

    pause = 1.5
    KINDS = {"once": 6, "changed": 3, "removed": 2}
    # It takes responses, and nobody else decides what they lead to.
    CATEGORY = {"actions": [{"id": "yes", "title": "Yes"}, {"id": "no", "title": "No"}], "responses": {"rate": 1000}}

    def __init__(self, world, name):
        super().__init__(world, name)
        self.told = set()

    def act(self):
        self.count += 1
        kind = self.chance.choices(list(self.KINDS), list(self.KINDS.values()))[0]
        name, tenant = f"{self.name}-{self.count}", self.chance.choice(TENANTS)
        if not self.put(name, tenant, kind):
            return
        if kind != "once":
            self.world.over.wait(self.chance.uniform(0, 4))
        if kind == "changed":
            self.put(name, tenant, kind)
        if kind == "removed":
            self.remove(name, tenant)

    def put(self, name, tenant, kind):
        seconds = round(self.chance.uniform(0.5, 5), 3)
        if not self.name_category(tenant):
            return False
        body = {"payload": {"aps": {"alert": name, "category": "question"}}, "trigger": {"type": "interval", "seconds": seconds}}
        has_handover = self.count % 2 == 0
        if has_handover:
            body.update(handover={"url": self.world.receiver.url(tenant)}, late_limit=LATE_LIMIT)
        for attempt in range(TRIES):
            status, answer, note = self.ask(
                "notify", "PUT", f"/v1/notifications/{name}", tenant, headers={"Content-Type": "application/json"}, body=json.dumps(body))
            taken = status in (200, 201) and answer
            note(name=name, what=kind, generation=answer["generation"] if taken else None, has_handover=has_handover)
            if taken:
                return True
            if self.world.over.wait(0.5):
                return False
        return False

    def name_category(self, tenant):
        """Puts the category of its notifications, once; whether it is there."""
        if tenant not in self.told:
            status, _, note = self.ask(
                "category", "PUT", "/v1/categories/question", tenant, headers={"Content-Type": "application/json"},
                body=json.dumps(self.CATEGORY))
            note()
            if status in (200, 201):
                self.told.add(tenant)
        return tenant in self.told

    def remove(self, name, tenant):
        for attempt in range(TRIES):
            status, _, note = self.ask("unnotify", "DELETE", f"/v1/notifications/{name}?from=pending", tenant)
            note(name=name)
            if status == 204 or self.world.over.wait(0.5):
                return


class Firer(Client):
    """Fires a notification of its own by hand, through whichever node: unlike those that are due, which one node fires together,
    such firings of a tenant are committed side by side. Who gets no answer asks again by the same key."""

    pause = 0.4

    def __init__(self, world, name):
        super().__init__(world, name)
        self.put = set()

    def act(self):
        tenant = self.chance.choice(TENANTS)
        if not self.is_put(tenant):
            return
        self.count += 1
        key = f"{self.name}-{self.count}"
        for attempt in range(TRIES):
            status, answer, note = self.ask(
                "fire", "POST", f"/v1/notifications/{self.name}/fire", tenant, headers={"Idempotency-Key": key})
            fired = status == 200 and answer
            note(name=self.name, key=key, firing=answer["id"] if fired else None)
            if fired or self.world.over.wait(0.3):
                return

    def is_put(self, tenant):
        """Puts its notification, once; whether it is there."""
        if tenant not in self.put:
            status, _, note = self.ask(
                "put_manual", "PUT", f"/v1/notifications/{self.name}", tenant, headers={"Content-Type": "application/json"},
                body=json.dumps({"payload": {"aps": {"alert": self.name}}, "trigger": {"type": "manual"}}))
            note(name=self.name)
            if status in (200, 201):
                self.put.add(tenant)
        return tenant in self.put


class Puller(Client):
    """Reads the firings of each tenant as they come, and goes on where it was; now and then it waits for the next one, and so is there
    as it is committed."""

    pause = 0.3

    def __init__(self, world, name):
        super().__init__(world, name)
        self.cursors = {tenant: "" for tenant in TENANTS}
        world.add(world.pullers, self)

    def act(self):
        self.pull(self.chance.choice(TENANTS), {"Prefer": "wait=2"} if self.chance.random() < 0.5 else None)

    def pull(self, tenant, headers=None):
        """What came since; None where nobody answered."""
        cursor = self.cursors[tenant]
        status, page, note = self.ask(
            "pull", "GET", "/v1/firings?limit=20" + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""), tenant, headers=headers)
        if status != 200 or not page:
            note(firings=[])
            return None
        firings = [firing["id"] for firing in page["firings"]]
        note(firings=firings)
        self.cursors[tenant] = page["next"]
        for firing in page["firings"]:
            if respond := ((firing["payload"] or {}).get("satchel") or {}).get("respond"):
                ticket = {"tenant": tenant, "notification": firing["notification"], "firing": firing["number"]}
                self.world.add(self.world.tickets, {**ticket, "path": urllib.parse.urlsplit(respond).path})
        return firings


class Responder(Client):
    """Does what people do with what they were shown. Who gets no answer says the same again, to whomever answers."""

    def act(self):
        ticket = self.world.draw(self.world.tickets, self.chance)
        if ticket is None:
            return
        response = {
            "id": str(uuid.UUID(int=self.chance.getrandbits(128), version=4)),
            "session": str(uuid.UUID(int=self.chance.getrandbits(128), version=4)), "action": self.chance.choice(["yes", "no"])}
        for attempt in range(TRIES):
            status, answer, note = self.ask(
                "respond", "POST", ticket["path"], None, headers={"Content-Type": "application/json"}, body=json.dumps(response))
            known = {name: ticket[name] for name in ("notification", "firing")}
            note(**known, of=ticket["tenant"], response=response["id"], answer=answer if status == 200 else None)
            # Now and then it is said again although it was heard.
            if (status and status < 500 and self.chance.random() < 0.7) or self.world.over.wait(0.3):
                return


class Phone(Client):
    """Sends files by tus in as many requests as it takes, each to whichever node: some are cut off, and after each the node is asked
    how far it came. The bytes follow from the upload's name."""

    pause = 2.0
    # A part of what comes to a bucket has 8 MiB.
    sizes = (1 << 10, 300 << 10, 3 << 20, 9 << 20, 19 << 20)

    def act(self):
        self.count += 1
        tenant, length = self.chance.choice(TENANTS), self.chance.choice(self.sizes)
        name = f"{self.name}-{self.count}"
        data = random.Random(f"{self.world.seed}/{name}").randbytes(length)
        status, answer, note = self.ask(
            "open_upload", "POST", "/v1/uploads", tenant, headers={"Content-Type": "application/json"},
            body=json.dumps({"length": length, "name": name}))
        note(length=length)
        if status != 201:
            return
        upload = {"upload": answer["id"], "of": tenant, "expected": hashlib.sha256(data).hexdigest()}
        path = urllib.parse.urlsplit(answer["url"]).path
        offset, tries = 0, 0
        while offset < length and tries < TRIES and not self.world.over.is_set():
            end = min(length, offset + self.chance.choice((length, length // 2 + 1, 200 << 10)))
            told = self.send(path, upload, offset, data[offset:end])
            told = self.where(path, upload) if told is None else told
            # Nothing goes on while nobody answers.
            tries = 0 if told is not None and told > offset else tries + 1
            if told is None:
                self.world.over.wait(0.5)
            else:
                offset = told
        status, answer, note = self.ask("look_upload", "GET", f"/v1/uploads/{upload['upload']}", tenant)
        if status == 200:
            note(**upload, state=answer["state"], told=answer["offset"], sha256=answer["sha256"])

    def send(self, path, upload, offset, data):
        """The offset that was told; nil where none was."""
        if self.chance.random() < 0.2:
            return self.cut(path, upload, offset, data)
        fields = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
        return self.told("send", "PATCH", path, upload, headers=fields, body=data, timeout=20)

    def cut(self, path, upload, offset, data):
        """Begins a request, and leaves in the middle of it."""
        node = self.chance.choice(self.world.fronts)
        head = (
            f"PATCH {path} HTTP/1.1\r\nHost: {node.place.address}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: {offset}\r\n"
            f"Content-Type: application/offset+octet-stream\r\nContent-Length: {len(data)}\r\n\r\n")
        try:
            with socket.create_connection((node.place.address, PORT), timeout=5) as connection:
                connection.sendall(head.encode() + data[:self.chance.randrange(len(data))])
        except OSError:
            pass

    def where(self, path, upload):
        return self.told("ask_offset", "HEAD", path, upload, headers={"Tus-Resumable": "1.0.0"})

    def told(self, op, method, path, upload, **options):
        node = self.chance.choice(self.world.fronts)
        fields = {}
        status, _, note = self.call(op, method, path, None, node=node, answered=fields, **options)
        offset = fields.get("upload-offset") if status in (200, 204) else None
        note(**upload, told=None if offset is None else int(offset))
        return None if offset is None else int(offset)
