"""Clients that leave, or that have to: those that give up, and those whose key is revoked while they wait. And how many there are of
each kind."""
import http.client
import json
import socket
import struct
import threading
import urllib.parse

from history import clients
from history.cluster import PORT, TENANTS
from history.history import now
from history.pictures import png

# Seconds until a client gives up.
PATIENCE = 1.5


class Quitter(clients.Submitter):
    """Gives up a request, and asks another node for something else: what it gave up isn't carried out any more. It prefers nodes that
    sleep."""

    pause = 1.5

    def act(self):
        sleeping = [node for node in self.world.fronts if node.is_asleep]
        if not sleeping and self.chance.random() < 0.7:
            return
        self.count += 1
        node = self.chance.choice(sleeping or self.world.fronts)
        others = [other for other in self.world.fronts if other is not node] or self.world.fronts
        act = self.put if self.chance.random() < 0.6 else self.notify
        act(f"{self.name}-{self.count}", self.chance.choice(TENANTS), node, self.chance.choice(others))

    def put(self, name, tenant, node, other):
        """A job, and then another in its place."""
        job = {"tenant": tenant, "name": name, "kind": "put", "key": None, "asked": name}
        old, new = ({**job, "bytes": f"{name}-{age}", "identifier": f"{name}-{age}"} for age in ("old", "new"))
        query = urllib.parse.urlencode({"profile": "message", "identifier": old["identifier"]})
        note = self.give_up(f"/v1/jobs/{name}?{query}", tenant, node, "application/octet-stream", png(old["bytes"]))
        note("submit", **clients.facts(old), job=name, code=None)
        if answer := self.submit(new, node=other):
            self.world.add(self.world.unfinished, {**new, "id": answer["id"]})

    def notify(self, name, tenant, node, other):
        """A notification, which is then removed."""
        body = {"payload": {"aps": {"alert": name}}, "trigger": {"type": "interval", "seconds": round(self.chance.uniform(1, 20), 3)}}
        note = self.give_up(f"/v1/notifications/{name}", tenant, node, "application/json", json.dumps(body).encode())
        note("put_unwanted", name=name)
        for _ in range(clients.TRIES):
            status, _, note = self.call("remove_unwanted", "DELETE", f"/v1/notifications/{name}", tenant, node=other)
            note(name=name)
            if status in (204, 404) or self.world.over.wait(0.5):
                return

    def give_up(self, path, tenant, node, kind, body):
        """A PUT whose client leaves where no answer comes soon; what notes it. A connection that is closed may be one on which only
        nothing more is said, one that is reset is gone."""
        start, status, is_reset = now(), None, self.chance.random() < 0.7
        head = (
            f"PUT {path} HTTP/1.1\r\nHost: {node.place.address}\r\nAuthorization: Bearer {self.world.cluster.keys[tenant]}\r\n"
            f"Prefer: respond-async\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n")
        try:
            with socket.create_connection((node.place.address, PORT), timeout=PATIENCE) as connection:
                connection.sendall(head.encode() + body)
                try:
                    answer = http.client.HTTPResponse(connection)
                    answer.begin()
                    status = answer.status
                except OSError:
                    if is_reset:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except (OSError, http.client.HTTPException):
            pass
        facts = {"client": self.name, "node": node.name, "start": start, "end": now(), "status": status, "is_reset": is_reset}
        # A node that is awake hears of it a moment later.
        self.world.over.wait(self.chance.choice((0, 1)))
        return lambda op, **more: self.world.recorder.note("call", op=op, tenant=tenant, **facts, **more)


class Holder(clients.Submitter):
    """Opens a stream and a long poll at each node under a key of its own, and revokes it meanwhile."""

    pause = 4.0
    # The job takes so long, and so do they.
    JOB = 20

    def act(self):
        self.count += 1
        name, tenant = f"{self.name}-{self.count}", self.chance.choice(TENANTS)
        job = {"tenant": tenant, "name": name, "kind": "slow", "key": name, "asked": None, "bytes": name, "seconds": self.JOB}
        if not (answer := self.submit(job)):
            return
        self.world.add(self.world.unfinished, {**job, "id": answer["id"]})
        status, key, note = self.ask(
            "make_key", "POST", "/v1/keys", tenant, headers={"Content-Type": "application/json"},
            body=json.dumps({"name": name, "roles": ["read"]}))
        note()
        if status != 201:
            return
        path = f"/v1/jobs/{answer['id']}"
        holds = [
            threading.Thread(target=self.hold, args=(what, path + suffix, headers, key, node))
            for node in self.world.fronts
            for what, suffix, headers in (("a stream", "/events", {}), ("a long poll", "", {"Prefer": f"wait={self.JOB}"}))]
        for thread in holds:
            thread.start()
        self.world.over.wait(self.chance.uniform(0.5, 3))
        for _ in range(clients.TRIES):
            status, _, note = self.call("revoke_key", "DELETE", f"/v1/keys/{key['id']}", tenant)
            note(of=key["id"])
            if status == 204:
                break
            self.world.over.wait(0.3)
        for node in self.world.fronts:
            status, _, note = self.call("use_key", "GET", "/v1/jobs?limit=1", tenant, node=node, key=key["key"])
            note(of=key["id"])
        for thread in holds:
            thread.join()

    def hold(self, what, path, headers, key, node):
        start, opened, status, error = now(), None, None, None
        connection = http.client.HTTPConnection(node.place.address, PORT, timeout=self.JOB + 5)
        try:
            connection.request("GET", path, headers={**headers, "Authorization": f"Bearer {key['key']}"})
            answer = connection.getresponse()
            opened, status = now(), answer.status
            while answer.read1(4096):
                pass
        except (OSError, http.client.HTTPException) as problem:
            error = type(problem).__name__
        connection.close()
        self.world.recorder.note(
            "call", op="hold", tenant=None, client=self.name, node=node.name, start=start, opened=opened, end=now(),
            status=status, error=error, what=what, of=key["id"])


class Burster(clients.Submitter):
    """Sends many jobs at once before the bucket goes down, so that some of them wait for what the bucket alone has."""

    pause = 0.15
    JOBS = 12

    def act(self):
        if self.world.cluster.bucket.warning.is_set():
            self.count += 1
            senders = [threading.Thread(target=self.send, args=(f"{self.name}-{self.count}-{number}",)) for number in range(self.JOBS)]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()

    def send(self, name):
        sender = clients.Submitter(self.world, name)
        job = {
            "tenant": sender.chance.choice(TENANTS), "name": name, "kind": "post", "key": name, "asked": None, "bytes": name,
            "size": {"side": 700, "level": 0}}
        if answer := sender.submit(job):
            self.world.add(self.world.unfinished, {**job, "id": answer["id"]})


# How many of each: uploads' clients come here.
CROWD = {
    clients.Uploader: 1, clients.Phone: 2, clients.Submitter: 3, clients.Poller: 3, clients.Lessee: 2, clients.Reader: 3,
    clients.Streamer: 2, clients.Deleter: 1, clients.Retrier: 1, clients.Lister: 1, clients.Notifier: 2, clients.Firer: 5,
    clients.Puller: 3, clients.Responder: 2, Quitter: 2, Holder: 1, Burster: 1}


def crowd(world):
    return [kind(world, f"{kind.__name__.lower()}-{number}") for kind, count in CROWD.items() for number in range(1, count + 1)]
