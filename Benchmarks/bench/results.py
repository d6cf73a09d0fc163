"""Everything that is kept of runs, by part: as JSON, as tables, and on a page."""

import datetime
import os
import re
import time
from dataclasses import dataclass
from typing import Optional

import msgspec

from . import Failure, progress
from .figures import Findings, spread_text, text
from .machine import Machine
from .parts import PARTS
from .plots import draw


@dataclass
class PartResult:
    """What one part came to, and on what."""

    part: str
    extent: str  # `short` or `full`
    rounds: int
    seed: int
    corpus: Optional[str]  # the name of the user's directory; None where inputs were made
    machine: Machine
    measured_at: str
    findings: Findings
    failure: Optional[str] = None  # why it has no findings
    seconds: float = 0.0  # how long it took, with the making of its inputs

    @property
    def text(self):
        """For a terminal and for a page: what was measured, in tables."""
        pieces = [f"Not measured: {self.failure}"] if self.failure else []
        for one in self.findings.comparisons:
            rows = [[row.title, *(spread_text(row.figures[column.name], column.unit) if column.name in row.figures else ""
                    for column in one.columns)] for row in one.rows if not row.absence]
            pieces.append(f"**{one.title}**\n\n{_table(['who', *(column.title for column in one.columns)], rows)}")
            pieces += [f"No figure for {row.title}: {row.absence}" for row in one.rows if row.absence]
        if self.findings.measurements:
            rows = [[one.title, _target(one), spread_text(one.samples, one.unit), {True: "yes", False: "**no**", None: ""}[one.is_met]]
                    for one in self.findings.measurements]
            pieces.append(_table(["what", "target", "median (min – max)", "met"], rows))
        pieces += self.findings.notes
        rounds = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
        own = f", on the files of '{self.corpus}'" if self.corpus else ""
        pieces.append(f"Measured on {self.measured_at[:10]}, {rounds}{own}, on {self.machine}.")
        if self.machine.is_busy:
            load = f"{self.machine.load:.1f}"
            pieces.append(f"The machine was busy (load {load}): wall times and the gain of a second core say little.")
        return "\n\n".join(pieces)


def _target(measurement):
    if measurement.at_most is not None:
        return f"at most {text(measurement.at_most, measurement.unit)}"
    return f"at least {text(measurement.at_least, measurement.unit)}" if measurement.at_least is not None else ""


def _table(head, rows):
    """Cells in columns, in Markdown, which a terminal shows as well."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


class Results:
    def __init__(self):
        self.parts = []

    @classmethod
    def read(cls, file):
        """Empty where there is no such file. Raises Failure where it can't be read."""
        results = cls()
        try:
            if file.exists():
                results.parts = msgspec.json.decode(file.read_bytes(), type=list[PartResult])
        except msgspec.DecodeError as error:
            raise Failure(f"{file}: is of another version; move it away, and measure all parts ({error})") from error
        return results

    def write(self, file):
        """Replaces the file in one step."""
        making = file.with_suffix(".part")
        # What is no number becomes null, for which JSON has a word.
        making.write_bytes(msgspec.json.format(msgspec.json.encode(self.parts)))
        os.replace(making, file)

    def merge(self, result):
        """Takes the place of an earlier result of the same part."""
        order = [part.name for part in PARTS]
        self.parts = sorted([part for part in self.parts if part.part != result.part] + [result], key=lambda one: order.index(one.part))

    def of(self, part):
        return next((result for result in self.parts if result.part == part.name), None)

    def have(self, part, options):
        """Whether the part was measured already as these options would measure it."""
        result, corpus = self.of(part), options.corpus and options.corpus.name
        return result is not None and not result.failure and (
            (result.extent, result.seed, result.rounds, result.corpus) == (options.extent, options.seed, options.rounds, corpus))

    def draw(self, directory):
        """Every plot."""
        directory.mkdir(parents=True, exist_ok=True)
        for plot in (plot for part in self.parts for plot in part.findings.plots):
            draw(plot, directory / f"{plot.name}.svg")

    def publish(self, directory):
        """Draws the plots into `plots` of a directory, and writes each part's tables into its RESULTS.md."""
        if not self.parts:
            raise Failure("--publish: there are no results: 'make bench' makes some")
        self.draw(directory / "plots")
        page = directory / "RESULTS.md"
        page.write_text(self.filled(page.read_text()))

    def filled(self, page):
        """What stands between `<!-- results: PART -->` and `<!-- end -->` is replaced, for every part that has results."""
        for result in self.parts:
            if not result.failure:
                pieces = [result.text, *(f"![{plot.title}](plots/{plot.name}.svg)" for plot in result.findings.plots)]
                place = re.compile(f"(<!-- results: {result.part} -->).*?(<!-- end -->)", re.DOTALL)
                page = place.sub(lambda marks: "\n\n".join([marks[1], *pieces, marks[2]]), page)
        return page


def measured(run, part):
    """A part that fails has a result too, which says why."""
    options = run.options
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    machine = Machine.here(run.workplace.satchel_program, run.tools)
    result = PartResult(
        part.name, options.extent, options.rounds, options.seed, options.corpus and options.corpus.name, machine, now,
        Findings(part.name))
    start = time.monotonic()
    progress.say(part.name)
    try:
        result.findings = part.measure(run)
    except Exception as error:  # whatever it is, it costs the figures of this part alone
        result.failure = str(error) if isinstance(error, Failure) else repr(error)
        progress.note(f"bench: {part.name}: {result.failure}")
    result.seconds = time.monotonic() - start
    return result
