"""`satchel serve` over a store of its own, and those who ask it."""

import http.client
import json
import socket
import threading
import time
import uuid
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

from . import Failure, processes
from .commands import Command

Answer = namedtuple("Answer", "status body seconds")  # from the first byte of the request to the last of the answer


class Connection:
    """A connection to 127.0.0.1 that is kept open from request to request, as a client library keeps it. Blocks its thread."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def send(self, method, path, headers=None, body=None):
        """Raises Failure where the connection broke or what came is no answer."""
        start = time.monotonic()
        try:
            try:
                self.connection.request(method, path, body, headers or {})
            except (BrokenPipeError, ConnectionResetError):
                pass  # a refusal may come before the whole body was taken: it is there to be read
            response = self.connection.getresponse()
            return Answer(response.status, response.read(), time.monotonic() - start)
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Failure(f"{method} {path}: {error!r}") from error

    def get(self, path):
        """What is there; raises Failure where it isn't answered with 200."""
        answer = self.send("GET", path)
        return answer.body if answer.status == 200 else refuse("GET", path, answer)


def refuse(method, path, answer):
    raise Failure(f"{method} {path}: answered {answer.status}: {answer.body[:800].decode(errors='replace')}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(what, ask, patience=20):
    """Until `ask` raises nothing; raises Failure where it never does."""
    end = time.monotonic() + patience
    while True:
        try:
            return ask()
        except (Failure, OSError) as error:
            if time.monotonic() > end:
                raise Failure(f"{what}: was not ready after {patience} s") from error
        time.sleep(0.05)


def in_parallel(count, body, items):
    """Clients side by side, a thread each: `body` is called once for each of them, with an iterator over what is left for all.

    Raises the first error of any.
    """
    items, lock = iter(items), threading.Lock()

    def left():
        try:
            while True:
                with lock:
                    item = next(items)
                yield item
        except StopIteration:
            pass

    with ThreadPoolExecutor(count) as threads:
        clients = [threads.submit(body, left()) for _ in range(count)]
    for client in clients:
        client.result()


def unlike(body, index):
    """The same with a few bytes after its end, which decoders pass over: unlike every other, so that no result is found again."""
    return body + f"{index} {uuid.uuid4()}".encode()


class Service:
    def __init__(self, workplace, *settings, environment=None, cores=(), prefix=()):
        """Starts it and waits until it is ready.

        `environment` says where its store is, where that isn't a directory of its own; `prefix` is a command that it is run by.
        """
        place = workplace.unique("service")
        place.mkdir()
        self.store, self.port, self.log = place / "store", free_port(), place / "log"
        environment = environment or {"SATCHEL_STORE": self.store, "SATCHEL_ACCESS_KEYS": place / "keys"}
        self.program = Command([workplace.satchel_program], environment)
        self.authorization = self.key()
        serve = Command([*prefix, workplace.satchel_program], environment, cores)
        with open(self.log, "wb") as output:
            self.running = serve.with_arguments("serve", "--listen", f"127.0.0.1:{self.port}", *settings).start(output)
        self.process = self.running.pid
        try:
            wait_for("satchel serve", lambda: self.connect().get("/readyz"))
        except Failure as failure:
            self.__exit__()
            raise Failure(f"{failure}\n{self.log.read_text()[-2000:]}") from failure

    def __enter__(self):
        return self

    def cpu(self):
        """Seconds of processors that it and its codecs took so far."""
        return processes.cpu(self.process)

    def kill(self):
        self.running.kill()
        self.running.wait()

    def __exit__(self, *_):
        """Ends it as an operator does, and waits until it has ended."""
        self.running.terminate()
        self.running.wait()

    def key(self, *options):
        """The header with a new key."""
        options = ["--name", "bench", "--role", "admin", *options, "--format", "json"]
        return {"Authorization": f"Bearer {json.loads(self.program.with_arguments('key', 'create', *options).text())['key']}"}

    def connect(self):
        return Connection(self.port)

    def submit(self, connection, body, media_type, query="profile=notification", key=None, **more):
        """A file as it is."""
        headers = {**(key or self.authorization), "Content-Type": media_type, **more}
        return connection.send("POST", f"/v1/jobs?{query}", headers, body)

    def post(self, connection, path, value, key=None, **more):
        """A value as JSON."""
        headers = {**(key or self.authorization), "Content-Type": "application/json", **more}
        return connection.send("POST", path, headers, json.dumps(value))

    def deliver(self, connection, body, query="profile=notification", media_type="image/jpeg"):
        """Submits a file, and waits for the end of its job; raises Failure unless it was delivered."""
        answer = self.submit(connection, body, media_type, query, Prefer="wait=60")
        if answer.status != 200 or json.loads(answer.body)["state"] != "delivered":
            refuse("POST", "/v1/jobs", answer)
        return answer

    def deliver_all(self, clients, bodies, query="profile=notification"):
        """Each from whichever client is free; gives seconds of each, and from the first request to the last answer."""
        seconds = []

        def client(left):
            connection = self.connect()
            seconds.extend(self.deliver(connection, body, query).seconds for body in left)

        start = time.monotonic()
        in_parallel(clients, client, bodies)
        return seconds, time.monotonic() - start

    def work(self):
        """Seconds of each job from its start to its end, as the service itself tells them; a client's connection isn't in them."""
        lines = (json.loads(line) for line in self.log.read_text().splitlines())
        return [line["work_seconds"] for line in lines if line["message"] == "job"]

    def footprint(self):
        return processes.Footprint(self.process, self.store)
