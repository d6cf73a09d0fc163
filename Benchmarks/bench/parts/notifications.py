"""How late notifications fire beside many that are pending: 50 a second, and thousands at one instant; how fast what fired is handed
over to a receiver that answers in 20 ms, and what that costs interactive jobs; and how soon a preview and the console are seen."""

import datetime
import json
import sqlite3
import subprocess
import time
from contextlib import closing

from .. import Failure
from ..browser import Browser
from ..commands import Command
from ..corpus.inputs import files
from ..figures import MILLISECONDS, PER_SECOND, SECONDS, Findings, median, percentile, ratios
from ..origins import EventReceiver
from ..service import Service, in_parallel, refuse, unlike

_CLIENTS, _ANSWER_SECONDS = 16, 0.02
_STEADY, _AT_ONCE, _HANDED_OVER = 50, 10_000, 4000  # a second; at one instant; with a receiver
_PUT_RATE = 500  # a second: slower than they are put anywhere
_JOB_CLIENTS, _JOB_SECONDS = 2, 6
_CONSOLE_PAGES = ("overview", "jobs", "failures")
_FAR = 300 * 86_400  # seconds: what is pending all the time


def measure(run):
    pending = run.options.pending or (1_000_000 if run.is_full else 100_000)
    findings = Findings("notifications")
    body = files(run.inputs.tiny_pictures(1))[0].read_bytes()
    figures = {}

    def note(**found):
        for name, figure in found.items():
            figures.setdefault(name, []).append(figure)

    environment = _filled(run, pending)
    with Service(run.workplace, "--callback-allow", "127.0.0.1", environment=environment) as service:
        notifications = _Notifications(service, body)
        for turn in run.turns(f"notifications beside {pending} pending", most=3):
            note(steady=percentile(0.99, notifications.lateness(f"{turn}-steady", 10 * _STEADY, 1 / _STEADY)))
            note(at_once=percentile(0.99, notifications.lateness(f"{turn}-plain", _AT_ONCE)))
            note(with_media=percentile(0.99, notifications.lateness(f"{turn}-media", _AT_ONCE, has_media=True)))
            note(handover=notifications.handover(f"{turn}-handover", _HANDED_OVER)[0])
            alone = _latencies(service, body, lambda start: time.monotonic() > start + _JOB_SECONDS)
            _, beside = notifications.handover(
                f"{turn}-jobs", _AT_ONCE, lambda is_over: _latencies(service, body, lambda _: is_over()))
            for name, part in (("p50", 0.5), ("p95", 0.95)):
                note(**{f"job_{name}": percentile(part, alone), f"job_{name}_beside": percentile(part, beside)})
    words = f"Beside {pending:,} pending notifications: p99 of how late they fire"
    findings.add("late_steady", f"{words}, {_STEADY} due a second", figures["steady"], SECONDS, at_most=0.1)
    findings.add("late_at_once", f"— {_AT_ONCE:,} due at one instant", figures["at_once"], SECONDS, at_most=2)
    findings.add("late_with_media", "— the same, with a picture that is ready", figures["with_media"], SECONDS, at_most=2)
    findings.add("handover", "Handed over, to a receiver that answers in 20 ms", figures["handover"], PER_SECOND, at_least=500)
    for name in ("p50", "p95"):
        alone, beside = figures[f"job_{name}"], figures[f"job_{name}_beside"]
        words = f"Interactive jobs beside {_AT_ONCE:,} that are handed over: {name} of their latency in terms of that alone"
        findings.add(f"job_{name}", words, ratios(beside, alone), at_most=2)
        findings.add(f"job_{name}_alone", f"— {name} alone", alone, MILLISECONDS)
    if Browser.is_there():
        findings.add("paint", "A preview's page: its first paint", _paints(run), MILLISECONDS, at_most=200)
        for name, paints in zip(_CONSOLE_PAGES, zip(*_console_paints(run))):
            findings.add(f"paint_{name}", f"The console's page {name}: its first paint", list(paints), MILLISECONDS, at_most=200)
    else:
        findings.notes.append("No figure of a page: chromedriver is missing")
    return findings


def _filled(run, pending):
    """The environment of a store with so many notifications that are pending: copies of one that was put."""
    place = run.workplace.unique("pending")
    environment = {
        "SATCHEL_STORE": place / "store", "SATCHEL_ACCESS_KEYS": place / "keys",
        "SATCHEL_QUOTAS_PENDING_NOTIFICATIONS": 2 * pending + 1_000_000}
    place.mkdir()
    with Service(run.workplace, environment=environment) as service:
        _Notifications(service).put("first", time.time() + _FAR)
    with closing(sqlite3.connect(place / "store/records.sqlite")) as records, records:
        copy(records, pending)
    return environment


def copy(records, count):
    """Makes the notification `first` so many, each a millisecond after the one before."""
    columns = [column[1] for column in records.execute("PRAGMA table_info(notifications)") if column[1] != "key"]
    values = {
        "id": "'p' || number", "next_at": "next_at + number", "record": """replace(record, '"first"', '"p' || number || '"')"""}
    records.execute(
        f"""
        INSERT INTO notifications ({', '.join(columns)})
        WITH RECURSIVE numbers (number) AS (SELECT 1 WHERE ?1 > 1 UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < ?1)
        SELECT {', '.join(values.get(column, column) for column in columns)} FROM notifications, numbers WHERE id = 'first'
        """, [count])


class _Notifications:
    """Those of a service, put by clients side by side."""

    def __init__(self, service, picture=None):
        self.service, self.cursor, self.attachment = service, "", None
        if picture:
            answer = service.deliver(service.connect(), unlike(picture, "media"))
            self.attachment = json.loads(answer.body)["attachments"][0]["id"]

    def put(self, name, at, url=None, has_media=False, connection=None):
        alert = {"aps": {"alert": {"title": "Ada", "body": "sent a photo"}, "mutable-content": 1}}
        instant = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).isoformat(timespec="milliseconds")
        body = {"payload": alert, "trigger": {"type": "date", "at": instant}}
        if has_media:
            alert["photo"] = "cid:photo"
            body["attachments"] = [{"identifier": "photo", "attachment_id": self.attachment}]
        if url:
            body["handover"] = {"url": url}
        headers = {**self.service.authorization, "Content-Type": "application/json"}
        path = f"/v1/notifications/{name}"
        answer = (connection or self.service.connect()).send("PUT", path, headers, json.dumps(body))
        if answer.status != 201:
            refuse("PUT", path, answer)

    def put_all(self, prefix, count, interval=0, **more):
        """The first is due when they have been put; gives that instant."""
        due = time.time() + 2 + count / _PUT_RATE

        def client(numbers):
            connection = self.service.connect()
            for number in numbers:
                self.put(f"{prefix}-{number}", due + number * interval, connection=connection, **more)

        in_parallel(_CLIENTS, client, range(count))
        if time.time() >= due:
            raise Failure(f"notifications: putting {count} took longer than {2 + count / _PUT_RATE:.0f} s")
        return due

    def fired(self, count):
        """The firings that the list has next."""
        connection, found, end = self.service.connect(), [], time.monotonic() + 60
        while len(found) < count:
            answer = connection.send("GET", f"/v1/firings?limit=100{self.cursor}", self.service.authorization)
            page = json.loads(answer.body) if answer.status == 200 else refuse("GET", "/v1/firings", answer)
            found += page["firings"]
            if page["next"]:
                self.cursor = f"&cursor={page['next']}"
            if time.monotonic() > end:
                raise Failure(f"notifications: {len(found)} of {count} fired within 60 s")
            if not page["firings"]:
                time.sleep(0.1)
        return found

    def lateness(self, prefix, count, interval=0, **more):
        """Seconds of each."""
        due = self.put_all(prefix, count, interval, **more)
        time.sleep(max(0, due + count * interval - time.time()))
        return [firing["late"] for firing in self.fired(count)]

    def handover(self, prefix, count, beside=lambda is_over: None):
        """How many a second, from the first call that comes to the last; and what `beside` gives, which is done meanwhile."""
        receiver = EventReceiver(_ANSWER_SECONDS)
        due = self.put_all(prefix, count, url=f"{receiver.address}/hook")
        time.sleep(max(0, due - time.time()))
        found = beside(lambda: len(receiver.calls) >= count)
        receiver.wait_for(count, 120)
        self.fired(count)
        return count / (max(receiver.calls) - min(receiver.calls)), found


def _latencies(service, body, is_over):
    """Milliseconds of each of the jobs of two clients, one after the other until `is_over`, which gets when they began."""
    start, found = time.monotonic(), []

    def jobs():
        index = 0
        while not is_over(start) or index < 20:
            yield index
            index += 1

    def client(numbers):
        connection = service.connect()
        found.extend(service.deliver(connection, unlike(body, number)).seconds * 1000 for number in numbers)

    in_parallel(_JOB_CLIENTS, client, jobs())
    return found


def _paints(run):
    """Milliseconds to the first paint of a sample's page, the median of five, for each round."""
    samples = run.options.samples
    preview = run.workplace.satchel(
        "preview", samples / "notifications/message.push.json", "--category", samples / "notifications/message.json", "--attach",
        f"photo={samples / 'jpeg/coffee.jpg'}").start(subprocess.PIPE)
    try:
        url = preview.stdout.readline().decode().strip()
        if not url.startswith("http"):
            raise Failure(f"satchel preview: said '{url}' in place of its page's URL")
        found = []
        for _ in run.turns("a preview", most=3):
            with Browser() as browser:
                found.append(median([browser.first_paint(url) for _ in range(5)]))
        return found
    finally:
        preview.terminate()
        preview.wait()


def _console_paints(run):
    """For each round, milliseconds to the first paint of each page of the console, the median of five, with jobs to show."""
    photo = (run.options.samples / "jpeg/coffee.jpg").read_bytes()
    with Service(run.workplace) as service:
        connection, found = service.connect(), []
        for number in range(30):
            service.deliver(connection, unlike(photo, f"console-{number}"))
        for _ in run.turns("the console", most=3):
            # The link begins with the address that a service listens on where nothing is said.
            code = service.program.with_arguments("console").text().strip().split("/console/")[1]
            base = f"http://127.0.0.1:{service.port}/console"
            with Browser() as browser:
                browser.first_paint(f"{base}/{code}")
                pages = [base, *(f"{base}/{name}" for name in _CONSOLE_PAGES[1:])]
                found.append([median([browser.first_paint(page) for _ in range(5)]) for page in pages])
        return found
