"""Services that are asked over HTTP: thumbor, and the user's own as `--peer-url` names them."""

import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil

from .. import Failure, processes
from ..commands import Command, Usage, usable_cores
from ..figures import PEER
from ..service import Connection, free_port, in_parallel, wait_for
from .contest import Contender


def fill(pattern, **values):
    """Puts values in for `{name}`, once: a value with braces stays as it is."""
    return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), pattern)


def url_path(pattern, source, size):
    """For one source and size; every part of the path is escaped, slashes stay."""
    return fill(pattern, path=quote(str(source).lstrip("/")), name=quote(Path(source).name), width=size, height=size)


def served(process, client, items):
    """What it takes a process, with all beneath it, to serve a client for each processor; no processor time where it isn't known."""
    before, start = process and processes.cpu(process), time.monotonic()
    in_parallel(len(usable_cores()), client, items)
    wall = time.monotonic() - start
    return Usage(wall, processes.cpu(process) - before if process else 0)


def contender(task, name, title, port, pattern, process=None):
    """`process` is whose time is counted, with all beneath it; None where it isn't known."""
    def make(sources, place):
        def client(left):
            connection = Connection(port)
            for source in left:
                for _, output, size in task.all_outputs([source], place):
                    Path(output).write_bytes(connection.get(url_path(pattern, source, size)))

        return served(process, client, sources)

    return Contender(name, title, PEER, make, services=[process] if process else [])


def parsed(text, *known):
    """Name and pattern of `NAME=PATTERN`. Raises ValueError where the pattern has others than the known placeholders."""
    name, equals, pattern = text.partition("=")
    if not name or not equals:
        raise ValueError("it is NAME=…")
    if others := set(re.findall(r"\{([a-z]+)\}", pattern)) - set(known):
        raise ValueError(f"{{{others.pop()}}} is not known; known are {{{'}, {'.join(known)}}}")
    return name, pattern


def own(task, text):
    """`NAME=http://127.0.0.1…{path}…{width}…`, or `NAME@PROCESS=http://…`. Raises ValueError."""
    named, pattern = parsed(text, "path", "name", "width", "height")
    name, at, process = named.partition("@")
    place = urlsplit(pattern)
    # What is measured beside runs beside.
    if place.scheme != "http" or place.hostname not in ("127.0.0.1", "localhost") or not re.search(r"\{(path|name)\}", pattern):
        raise ValueError("it needs http://127.0.0.1 and {path} or {name}")
    if at and not (process.isdecimal() and int(process)):
        raise ValueError(f"'{process}' is no process")
    path = pattern[pattern.index("/", len("http://")):]
    return contender(task, f"peer-{name}", name, place.port or 80, path, int(process) if at else None)


@contextmanager
def thumbor(run, task, settings):
    """With a process for each processor, while it is measured."""
    name, title, running = "thumbor", "thumbor, over HTTP", None
    try:
        port, program = free_port(), run.workplace.python("thumbor").with_name("thumbor")
        running = Command([
            program, "--ip", "127.0.0.1", "--port", port, "--processes", len(usable_cores()), "--log-level", "error", "--conf",
            settings]).start()
        wait_for("thumbor", lambda: Connection(port).get("/healthcheck"))
        found = contender(task, name, title, port, "/unsafe/fit-in/{width}x{height}/{path}", running.pid)
    except Failure as failure:
        found = Contender.absent(name, title, failure)
    try:
        yield found
    finally:
        if running:
            _end(running)


def _end(running):
    """With its processes, which their parent doesn't always end."""
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in processes.tree(running.pid):
            processes.answer(lambda: end(process))
        try:
            running.wait(5)
            return
        except subprocess.TimeoutExpired:
            pass
