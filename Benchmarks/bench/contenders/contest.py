"""Contenders side by side: first a look at what each makes, then rounds in which they take turns."""

import os
from dataclasses import dataclass, field
from typing import Callable, Optional

from .. import Failure, progress
from ..commands import run_loops, shares
from ..figures import MEGABYTES, MILLISECONDS, PEER, PER_SECOND, Axis, Column, Comparison, Findings, Line, Plot, Row, median, ratios
from ..processes import peak_memory

# Seconds: a peer that took longer to make everything in the look has one round alone.
PATIENCE = 15


@dataclass
class Contender:
    """Somebody who makes the same of the same sources as others do."""

    name: str  # for programs: never reworded
    title: str
    role: str
    # Makes something of all sources, into a directory that is there and empty; at the settings at which it takes the least of the
    # processors. Gives its usage.
    make: Callable
    make_soonest: Optional[Callable] = None  # the same at the settings at which it is done soonest, where those are others
    make_to_look: Optional[Callable] = None  # the same for somebody who looks at what is made, where else nobody would find it
    starts_once: bool = False  # for all sources, so that one source more costs less than the first
    services: list = field(default_factory=list)  # processes that serve it and run all the time

    @classmethod
    def of_calls(cls, name, title, commands):
        """A program that is called for each source: one loop of calls for each processor."""
        def make(sources, place):
            return run_loops([[command for source in share for command in commands(source, place)] for share in shares(sources)])

        return cls(name, title, PEER, make)

    @classmethod
    def of_library(cls, name, title, command):
        """A library in a process of its own that takes all sources: one process for the least CPU, one for each processor to be
        done soonest."""
        def make_soonest(sources, place):
            return run_loops([[command(share, place)] for share in shares(sources) if share])

        return cls(name, title, PEER, lambda sources, place: command(sources, place).run(), make_soonest, starts_once=True)

    @classmethod
    def absent(cls, name, title, reason):
        """Somebody who isn't there."""
        def make(sources, place):
            raise Failure(f"{name}: {reason}")

        return cls(name, title, PEER, make)


@dataclass
class _Entry:
    contender: Contender
    absence: Optional[str] = None
    look_seconds: float = 0
    figures: dict = field(default_factory=dict)  # samples by column


@dataclass
class Contest:
    run: object
    name: str  # of the comparison
    title: str
    item: str  # what one of the sources is called, in the singular
    sources: list
    measure: str  # whose CPU is the measure of all others
    contenders: list
    # As many again as `sources`, and others: what these cost beside the first is the cost of one more. Empty where that isn't asked.
    more_sources: list = field(default_factory=list)
    more_rounds: Optional[int] = None  # how often that is looked at; each time unless it is said
    look_columns: list = field(default_factory=list)  # of what the look finds

    def hold(self, look):
        """`look(contender, place)` gives the figures, by column, of what a contender made in a directory, and raises Failure where
        that isn't what is measured: a contender like that has no figures."""
        entries = [self._inspected(contender, look) for contender in self.contenders]
        for turn in range(self.run.rounds):
            # Another one begins in each round.
            first = turn % len(entries)
            for entry in entries[first:] + entries[:first]:
                if entry.absence or (turn > 0 and self._is_slow(entry)):
                    continue
                progress.say(f"{self.name}, round {turn + 1} of {self.run.rounds}: {entry.contender.title}")
                try:
                    self._run(entry, with_more=self.more_rounds is None or turn < self.more_rounds)
                except Exception as error:  # whatever it is, it costs its own figure alone
                    entry.absence = _reason(error)
        measure = next((one.figures.get("cpu", []) for one in entries if one.contender.name == self.measure and not one.absence), [])
        return Comparison(self.name, self.title, self._columns(measure), [_row(entry, measure) for entry in entries])

    def _is_slow(self, entry):
        return entry.contender.role == PEER and entry.contender.name != self.measure and entry.look_seconds > PATIENCE

    def _inspected(self, contender, look):
        progress.say(f"{self.name}: a look at what {contender.title} makes")
        entry = _Entry(contender)
        try:
            with self.run.workplace.empty_directory("contest") as place:
                make = contender.make_to_look or contender.make
                usage, memory = peak_memory(lambda: make(self.sources, place), contender.services)
                entry.look_seconds = usage.wall
                entry.figures = {"memory": [memory / 1e6], **look(contender, place)}
        except Exception as error:
            entry.absence = _reason(error)
            progress.note(f"{self.name}: no figure for {contender.title}: {error}")
        return entry

    def _run(self, entry, with_more):
        contender, count = entry.contender, len(self.sources)

        def add(column, sample):
            entry.figures.setdefault(column, []).append(sample)

        usage = made(self.run, contender.make, self.sources)
        add("cpu", usage.cpu / count * 1000)
        soonest = made(self.run, contender.make_soonest, self.sources) if contender.make_soonest else usage
        add("wall", soonest.wall / count * 1000)
        add("rate", count / soonest.wall)
        if with_more and contender.starts_once and self.more_sources:
            both = made(self.run, contender.make, self.sources + self.more_sources)
            add("cpu_more", (both.cpu - usage.cpu) / len(self.more_sources) * 1000)

    def _columns(self, measure):
        return [
            Column("cpu", f"CPU per {self.item}", MILLISECONDS),
            *([Column("multiple", f"times as little as {self.measure}", "")] if measure else []),
            *([Column("cpu_more", "CPU of one more", MILLISECONDS)] if self.more_sources else []),
            Column("wall", f"wall time per {self.item}", MILLISECONDS), Column("rate", f"{self.item}s", PER_SECOND),
            Column("memory", "peak memory of all processes", MEGABYTES), *self.look_columns,
        ]


def made(run, make, sources):
    with run.workplace.empty_directory("made") as place:
        return make(sources, place)


def _reason(error):
    """For a table that others read as well: a line, without the directories of this machine."""
    words = str(error) if isinstance(error, Failure) else repr(error)
    return " ".join(words.replace(os.getcwd() + "/", "").split())[:300]


def _row(entry, measure):
    row = Row(entry.contender.name, entry.contender.title, entry.contender.role, absence=entry.absence)
    if not row.absence:
        # Of a service that nobody named the process of, the processor time isn't known.
        cpu = [sample for sample in entry.figures.pop("cpu") if sample > 0]
        figures = {"cpu": cpu, "multiple": ratios(measure, cpu), **entry.figures}
        row.figures = {column: samples for column, samples in figures.items() if samples}
    return row


def cost_curve(run, name, title, unit, contenders, points, axis, cost_axis):
    """What one source more costs, by how large sources are: a plot, and a figure for each of its points.

    `points` are by size in `unit`: some sources and more, in different directories, as some contenders take directories. Nobody who
    fails has a curve.
    """
    def cost(contender, some, more):
        """Milliseconds for one source."""
        cpu = made(run, contender.make, some).cpu
        if not contender.starts_once:
            return cpu / len(some) * 1000
        return (made(run, contender.make, some + more).cpu - cpu) / len(more) * 1000

    found, curves = Findings(name), {contender.name: {size: [] for size in points} for contender in contenders}
    for _ in run.turns(name):
        for contender in contenders:
            try:
                for size, point in points.items() if contender.name in curves else ():
                    curves[contender.name][size].append(cost(contender, *point))
            except Failure as failure:
                del curves[contender.name]
                progress.note(f"{name}: no figure for {contender.title}: {failure}")
    lines = []
    for contender in (contender for contender in contenders if contender.name in curves):
        curve = curves[contender.name]
        for size, samples in curve.items():
            found.add(f"{contender.name}_{size}", f"{title}, {size} {unit}: {contender.title}", samples, MILLISECONDS)
        lines.append(Line(contender.title, contender.role, [[size, median(samples)] for size, samples in curve.items()]))
    found.plots.append(Plot(name, title, Axis(axis), Axis(cost_axis), lines=lines))
    return found
