"""Deadlines from 50 ms to 30 s, over all the sample files, costly ones and slow origins: whether the answer is there in time, and
whether what it delivers is what it says."""

import collections
import datetime
import json
import math
import time
from dataclasses import dataclass
from typing import Optional
from urllib.parse import urlsplit

from .. import Failure, progress
from ..commands import ffmpeg
from ..corpus.chance import chance, log_uniform
from ..corpus.sources import sample_files
from ..figures import COUNT, MILLISECONDS, PER_THOUSAND, Findings, percentile
from ..origins import SlowOrigin
from ..processes import Footprint
from ..service import Service, in_parallel, unlike

_RUNS_OF_ROUND = 400  # five rounds are as many as are needed to speak of 99.9 %
_CLIENTS = 2  # as many as the machine has processors: the load that is admitted
_ALLOWANCE = 0.1  # seconds: after its deadline an answer may be so late
_DECODED_SHARE = 6  # of what was delivered at full effort, every so many is decoded; all of the rest
# What the profile `notification` promises never to exceed; bytes.
_CAPS = {"image": 10_000_000, "animation": 10_000_000, "audio": 5_000_000, "video": 50_000_000}


@dataclass
class Trial:
    """What one run submits: a value of its number, so that a campaign can be repeated."""

    index: int
    deadline: float  # seconds
    source: int  # of all sources
    manner: Optional[str]  # of the origin; None for an upload

    @classmethod
    def of(cls, index, samples, costly):
        random = chance(0, "deadline", index)
        # Most are short, so that a campaign takes minutes.
        deadline = log_uniform(random, 2, 30) if random.random() < 0.04 else log_uniform(random, 0.05, 2)
        source = samples + int(random.integers(costly)) if random.random() < 0.12 else index % samples
        manner = list(SlowOrigin.MANNERS)[random.integers(len(SlowOrigin.MANNERS))] if random.random() < 0.15 else None
        return cls(index, deadline, source, manner)


@dataclass
class Outcome:
    trial: Trial
    status: int
    job: Optional[dict]
    lateness: float  # seconds from the deadline to the answer, negative before it; infinite where it was no answer with a job

    @property
    def word(self):
        attachment = (self.job or {}).get("attachments", [{}])[0]
        return attachment.get("fidelity") or (attachment.get("error") or attachment).get("code") or str(self.status)


def measure(run):
    count = run.rounds * _RUNS_OF_ROUND
    samples, costly = sample_files(run.options.samples), run.inputs.costly_sources()
    bodies = [file.read_bytes() for file in samples + costly]
    origin, outcomes, deliveries = SlowOrigin(bodies), [], _Deliveries(run.workplace.unique("delivered"))
    with Service(run.workplace, "--set", f"fetch.allow=127.0.0.0/8:{urlsplit(origin.address).port}") as service:
        # What it holds once its reserve is there, which comes a moment after it is ready.
        before = Footprint.settled(service.footprint, pause=0.5, patience=20)

        def client(left):
            connection = service.connect()
            for index in left:
                if index % 50 == 0:
                    progress.say(f"deadlines: {index} of {count}")
                trial = Trial.of(index, len(samples), len(costly))
                outcome = _outcome(trial, bodies[trial.source], service, origin, connection)
                outcomes.append(outcome)
                if outcome.job:
                    deliveries.take(outcome.job, index, connection)

        in_parallel(_CLIENTS, client, range(count))
        progress.say("deadlines: looking at what was delivered")
        left = _left_behind(service, before)
    deliveries.decode()
    return _findings(outcomes, deliveries, left, [file.name for file in samples + costly])


def _outcome(trial, body, service, origin, connection):
    if trial.manner:
        url = origin.url(trial.source, trial.manner, trial.deadline, trial.index)
        job = {"profile": "notification", "lease_ttl": 600, "deadline": trial.deadline, "attachments": [{"url": url}]}
        answer = service.post(connection, "/v1/jobs", job, Prefer="wait=60")
    else:
        query = f"profile=notification&lease_ttl=600&deadline={trial.deadline}"
        answer = service.submit(connection, unlike(body, trial.index), "application/octet-stream", query, Prefer="wait=60")
    now = time.time()
    job = json.loads(answer.body) if answer.status in (200, 202) else None
    end = job and job.get("deadline_at")
    return Outcome(trial, answer.status, job, now - datetime.datetime.fromisoformat(end).timestamp() if end else math.inf)


def _left_behind(service, before):
    """Unfinished files, and processes more than before, when nothing is underway any more. Uploads of what failed are kept in the
    spool, to be tried again."""
    for _ in range(40):
        time.sleep(0.25)
        staging = service.store / "staging"
        staged = len(list(staging.iterdir())) if staging.is_dir() else 0
        left = staged + max(0, service.footprint().children - before.children)
        if not left:
            break
    return left


def _findings(outcomes, deliveries, left, names):
    late = [outcome for outcome in outcomes if outcome.lateness > _ALLOWANCE or outcome.status != 200]
    for outcome in sorted(late, key=lambda outcome: -outcome.lateness)[:20]:
        trial, how = outcome.trial, f"origin: {outcome.trial.manner}" if outcome.trial.manner else "upload"
        progress.note(
            f"late: run {trial.index}, {names[trial.source]}, deadline {trial.deadline:.3f} s, {how}: {outcome.status}, "
            f"{outcome.lateness * 1000:.1f} ms after it")
    for line in deliveries.complaints[:20]:
        progress.note(f"invalid: {line}")
    lateness, findings = [outcome.lateness * 1000 for outcome in outcomes], Findings("deadline")

    def add(name, title, value, unit=COUNT, **target):
        findings.add(name, title, [value], unit, **target)

    share, unfinished = len(late) / len(outcomes) * 1000, sum(outcome.status == 202 for outcome in outcomes)
    add("late", "Deadlines of 50 ms to 30 s: answers over 100 ms after them", share, PER_THOUSAND, at_most=1)
    add("runs", "— runs", len(outcomes), at_least=2000)
    add("worst", "— the latest, after its deadline", max(lateness), MILLISECONDS)
    add("p999", "— the latest but the worst 0.1 %", percentile(0.999, lateness), MILLISECONDS)
    add("unfinished", "— answered while still at work, because the store was slow", unfinished, at_most=0)
    add("invalid", "— delivered, and not what it says", len(deliveries.complaints), at_most=0)
    add("decoded", "— renditions decoded to know", deliveries.decoded)
    add("left", "— files and processes left behind", left, at_most=0)
    for word, count in collections.Counter(outcome.word for outcome in outcomes).most_common():
        add(word, f"— {word}", count)
    return findings


class _Deliveries:
    """What jobs delivered: fetched at once, looked at afterwards."""

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir()
        self.delivered, self.complaints, self.decoded = [], [], 0

    def take(self, job, index, connection):
        """Fetches what a job delivered, and compares it with what the job says of it."""
        for attachment in job["attachments"]:
            if attachment["state"] != "delivered":
                continue
            kind, fidelity, renditions = attachment.get("kind"), attachment.get("fidelity"), attachment["renditions"]
            what = f"run {index}, {kind}, {fidelity}"
            if fidelity not in ("full", "reduced", "partial"):
                self.complaints.append(f"{what}: unknown")
            elif (fidelity == "partial") == ("main" in renditions) or not renditions:
                self.complaints.append(f"{what}: its renditions are {', '.join(renditions) or 'none'}")
            for role, rendition in renditions.items():
                self._fetch(rendition, f"{what}, {role}", fidelity, kind, self.directory / f"{index}-{role}", connection)

    def _fetch(self, rendition, what, fidelity, kind, file, connection):
        if not rendition.get("url"):
            self.complaints.append(f"{what}: has no URL")
            return
        answer = connection.send("GET", urlsplit(rendition["url"]).path)
        if answer.status != 200 or len(answer.body) != rendition["bytes"]:
            self.complaints.append(f"{what}: answers {answer.status} with {len(answer.body)} bytes")
            return
        if len(answer.body) > _CAPS.get(kind, math.inf):
            self.complaints.append(f"{what}: has {len(answer.body)} bytes, over its cap")
        file.write_bytes(answer.body)
        self.delivered.append((file, what, fidelity == "full"))

    def decode(self):
        """With FFmpeg: of what was delivered in full one of a share, and all of the rest."""
        for number, (file, what, is_full) in enumerate(self.delivered):
            if is_full and number % _DECODED_SHARE:
                continue
            self.decoded += 1
            try:
                ffmpeg("-xerror", "-i", file, "-f", "null", "-")
            except Failure as failure:
                self.complaints.append(f"{what}: {failure}")
