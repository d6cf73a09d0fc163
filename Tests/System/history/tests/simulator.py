"""A service that keeps all promises, or breaks one of them, as a history: what the checker is held to."""
import itertools
import random

from history.history import History

NODES = ("node-1", "node-2", "node-3")


class Simulator:
    """A few jobs, read, taken back and deleted, one call after the other."""

    def __init__(self, seed=0):
        self.chance, self.events, self.time, self.ids = random.Random(seed), [], 100.0, itertools.count(1)
        self.jobs, self.attachments, self.renditions, self.blobs, self.objects = {}, [], [], [], {}
        self.witness, self.ends, self.open = [], [], {}
        self.notifications, self.firings, self.responses, self.uploads, self.calls = [], [], [], [], []

    def tick(self, most=0.2):
        self.time += self.chance.uniform(0.01, most)
        return self.time

    def call(self, op, status=200, tenant="north", node=None, **facts):
        start = self.tick()
        one = {"kind": "call", "op": op, "client": "simulated", "tenant": tenant, "node": node or self.chance.choice(NODES),
               "start": start, "end": self.tick(), "status": status, **facts}
        self.events.append(one)
        return one

    def note(self, kind, **facts):
        self.events.append({"kind": kind, **facts})
        return self.events[-1]

    def see(self, what, job, claim=None, earlier=None, txid=None, client="10.77.0.11", **facts):
        seq = len(self.witness) + 1
        self.witness.append({
            "seq": seq, "at": self.tick(), "txid": txid or seq, "client": client, "what": what, "job": job, "generation": 1, "claim": claim,
            "earlier": earlier, "state": None, "earlier_state": None, "was_over": False, "was_dead": False, **facts})

    def submit(self, name=None, repeated=1, asked=None, callback=False):
        """A job that was accepted, carried out and looked at."""
        key = next(self.ids)
        name, job = name or f"job-{key}", asked or f"id-{key}"
        for _ in range(repeated):
            self.call(
                "submit", 202, name=name, key=None if asked else name, asked=asked, bytes=name, identifier=name, what="post",
                has_callback=callback, job=job, code=None)
        claim, txid = f"claim-{key}", 1000 + key
        self.see("claimed", key, claim)
        self.see("gone", key, earlier=claim, txid=txid)
        self.see("ended", key, claim, txid=txid, state="delivered", earlier_state="pending")
        self.ends.append({"client": "10.77.0.11", "tenant": "north", "job": job, "generation": 1})
        attachment, hash_ = f"attachment-{key}", f"hash-{key}"
        self.jobs[job] = {
            "key": key, "tenant": "north", "id": job, "state": "delivered", "generation": 1, "delivered_claim": claim, "finished_at": 1}
        self.attachments.append({
            "tenant": "north", "id": attachment, "job": key, "generation": 1, "identifier": name, "state": "delivered",
            "code": None, "source": None})
        for number, (role, sha256) in enumerate((("main", hash_), ("thumbnail", f"small-{key}"))):
            blob = f"blobs/{key}/{claim}/{number}"
            self.renditions.append({
                "tenant": "north", "attachment": attachment, "role": role, "blob": blob, "sha256": sha256, "bytes": 10})
            self.blobs.append({"tenant": "north", "name": blob, "sha256": sha256, "bytes": 10, "refs": 1, "damaged": False})
            self.objects[blob] = 10
        if callback:
            self.tell(f"call-{key}", job=job, about={"type": "job", "id": job, "state": "delivered", "attachments": [{
                "identifier": name, "id": attachment, "state": "delivered", "opens": True,
                "renditions": {"main": hash_, "thumbnail": f"small-{key}"}}]})
        for _ in range(2):
            self.look(job, attachment, hash_)
        return job, attachment, hash_

    def look(self, job, attachment, hash_, **facts):
        return self.call("look", job=job, **{
            "state": "delivered", "finished": 1,
            "attachments": [{"id": attachment, "state": "delivered", "renditions": {"main": hash_}}], **facts})

    def lease(self, attachment):
        lease = f"lease-{next(self.ids)}"
        self.call("lease", 201, attachment=attachment, lease=lease)
        self.open[lease] = attachment
        return lease

    def read(self, lease, attachment, hash_, status=200, op="read", **facts):
        return self.call(
            op, status, tenant=None, lease=lease, attachment=attachment, role="main", expected=hash_, bytes=10,
            **{"sha256": hash_ if status == 200 else None, **facts})

    def revoke(self, lease, status=204):
        if status == 204:
            self.open.pop(lease, None)
        return self.call("revoke", status, lease=lease, attachment="")

    def tell(self, call, about, job=None, attempts=(503, 204)):
        """A call that the receiver accepted at last."""
        self.calls.append({
            "id": call, "tenant": "north", "type": "job.finished", "job": job, "generation": 1, "subject": None, "state": "delivered",
            "reason": None, "attempt": len(attempts), "finished": self.tick(), "left": None})
        return [self.receive(call, about, status=status) for status in attempts]

    def receive(self, call, about, **facts):
        return self.note("receipt", **{
            "call": call, "tenant": "north", "at": self.tick(), "off": 0.2, "signed": True, "body": "{}", "fault": None,
            "status": 204, "about": about, **facts})

    def hold(self, key, start, end, node="node-1", **facts):
        self.time = max(self.time, end)
        return self.note("call", **{
            "op": "hold", "client": "simulated", "tenant": None, "node": node, "start": start, "opened": start + 0.001, "end": end,
            "status": 200, "what": "a stream", "of": key, **facts})

    def revoke_key(self, key, status=204):
        return self.call("revoke_key", status, of=key)

    def stream(self, lease, attachment, start, last, node="node-1", **facts):
        self.time = max(self.time, last)
        return self.note(
            "call", op="stream", tenant=None, client="simulated", node=node, start=start, end=last + 0.1, status=200, bytes=5,
            last=last, whole=False, lease=lease, attachment=attachment, role="main", **facts)

    def notify(self, name, bodies=1, handover=False):
        """A notification that fired once in its last generation, and was pulled or handed over."""
        for generation in range(1, bodies + 1):
            self.call("notify", 201 if generation == 1 else 200, name=name, what="once", generation=generation, has_handover=handover)
        self.notifications.append({"tenant": "north", "id": name, "generation": bodies, "state": "done", "left": None})
        firing = self.fired(name, bodies)
        if handover:
            self.tell(firing, {"type": "notification.fired", "id": name, "generation": bodies, "number": 1, "alert": name})

    def fire(self, name, key, times=1):
        """A firing by hand that was asked for so often under one key."""
        firing = self.fired(name, 1, number=2, key=key)
        for _ in range(times):
            self.call("fire", 200, name=name, key=key, firing=firing)

    def fired(self, name, generation, number=1, key=None):
        """A firing that was pulled; its id."""
        place = len(self.firings) + 1
        self.firings.append({
            "id": f"firing-{place}", "tenant": "north", "notification": name, "generation": generation, "number": number,
            "state": "delivered", "place": place, "key": key})
        self.call("pull", firings=[f"firing-{place}"])
        return f"firing-{place}"

    def respond(self, name, times=1):
        """A response to the first firing of a notification, said so often."""
        place = len(self.responses) + 1
        said = {"of": "north", "notification": name, "firing": 1, "response": f"response-{place}"}
        for _ in range(times):
            self.call("respond", tenant=None, answer={"id": said["response"], "then": "forward"}, **said)
        self.responses.append({"tenant": "north", "id": said["response"], "place": place, "firing": 1, "notification": name})
        return said

    def upload(self, told=(10, 30), whole=True):
        """An upload of 30 bytes, of which those offsets were told."""
        name = f"upload-{len(self.uploads) + 1}"
        known = {"upload": name, "of": "north", "expected": f"hash-{name}"}
        for number, offset in enumerate(told):
            self.call("ask_offset" if number % 2 else "send", 200 if number % 2 else 204, tenant=None, told=offset, **known)
        self.uploads.append({
            "id": name, "tenant": "north", "state": "complete" if whole else "open", "length": 30, "received": max(told, default=0),
            "sha256": known["expected"] if whole else None, "source": f"uploads/{name}"})
        if whole:
            self.objects[f"uploads/{name}/whole"] = 30
            self.call("open_whole", tenant=None, upload=name, sha256=known["expected"])
        return known

    def history(self):
        for row in self.renditions:
            self.read("last", row["attachment"], row["sha256"], op="open")
        tables = {
            "jobs": list(self.jobs.values()), "queue": [], "attachments": self.attachments, "renditions": self.renditions,
            "blobs": self.blobs, "retained_sources": [], "garbage": [],
            "usage": [{
                "tenant": "north", "stored_bytes": sum(row["bytes"] for row in self.renditions), "unfinished_jobs": 0,
                "open_leases": len(self.open)}],
            "leases": [{"tenant": "north", "open": len(self.open)}], "witness": self.witness, "ends": self.ends,
            "notifications": self.notifications, "firings": self.firings, "responses": self.responses,
            "uploads": self.uploads, "calls": self.calls,
            "objects": [{"name": name, "bytes": size} for name, size in self.objects.items()]}
        for name, rows in tables.items():
            self.note("table", name=name, rows=rows)
        return History(self.events)
