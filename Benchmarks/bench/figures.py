"""What is measured, as values: measurements with their targets, comparisons, plots, and what a part found."""

import math
import statistics
from dataclasses import dataclass, field
from typing import Optional

RATIO, MICROSECONDS, MILLISECONDS, SECONDS = "", "µs", "ms", "s"
KILOBYTES, MEGABYTES, PER_SECOND, COUNT = "kB", "MB", "per s", "in all"
PER_THOUSAND, DECIBELS, SIMILARITY = "of 1,000", "dB", "SSIM"
# What somebody is in a comparison: Satchel in one of its forms; a peer; or what decoder and encoder themselves cost, which nobody
# can be below.
OWN, PEER, FLOOR = "own", "peer", "floor"


# Quotients with nothing to divide by are not numbers, and null where they were read back.
Samples = list[Optional[float]]


def numbers(samples):
    """Those that are numbers: others count for nothing."""
    return [sample for sample in samples if sample is not None and math.isfinite(sample)]


def median(samples):
    """Not a number where no sample is one."""
    return statistics.median(numbers(samples) or [math.nan])


def quotient(value, other):
    """Not a number, which tables show as a dash, where there is nothing to divide by."""
    return value / other if other and math.isfinite(value) and math.isfinite(other) else math.nan


def ratios(values, others):
    """Round by round: what slows one down in a round slows the other, too."""
    return [quotient(value, other) for value, other in zip(values, others)]


def mean(values):
    return quotient(sum(values), len(values))


def percentile(part, samples):
    """The least value that this part of all is not over (nearest rank); infinite where there is none."""
    rank = max(1, math.ceil(len(samples) * part))
    return sorted(samples)[min(len(samples), rank) - 1] if samples else math.inf


PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def percentiles(samples):
    return {name: percentile(part, samples) for name, part in PERCENTILES.items()}


def text(value, unit, with_unit=True):
    """A dash where there is no value: of a quotient with nothing to divide by, or a mean of nothing."""
    if not math.isfinite(value):
        return "–"
    digits = {RATIO: 2, SIMILARITY: 4}.get(unit, 1)
    return f"{value:.{digits}f}" + (f" {unit}" if with_unit and unit not in (RATIO, SIMILARITY) else "")


def spread_text(samples, unit):
    """The median, and where there is a spread, what it spreads over."""
    least, most = min(numbers(samples), default=0), max(numbers(samples), default=0)
    spread = f" ({text(least, unit, False)} – {text(most, unit, False)})" if least < most else ""
    return text(median(samples), unit) + spread


@dataclass
class Measurement:
    """One line of a result: a sample for each round."""

    name: str  # for programs: never reworded
    title: str
    unit: str
    samples: Samples
    at_most: Optional[float] = None
    at_least: Optional[float] = None

    @property
    def is_met(self):
        """By the median; None where there is no target, or no figure."""
        value = median(self.samples)
        if math.isnan(value) or self.at_most is self.at_least is None:
            return None
        return value <= self.at_most if self.at_most is not None else value >= self.at_least


@dataclass
class Column:
    name: str  # for programs: never reworded
    title: str
    unit: str


@dataclass
class Row:
    name: str
    title: str
    role: str
    figures: dict[str, Samples] = field(default_factory=dict)  # samples by column
    absence: Optional[str] = None  # why there are none


@dataclass
class Comparison:
    """Several who make the same, side by side."""

    name: str
    title: str
    columns: list[Column]
    rows: list[Row]

    def samples(self, row, column):
        """Empty where it has no such figure."""
        return next((one.figures.get(column, []) for one in self.rows if one.name == row), [])


@dataclass
class Axis:
    label: str  # with the unit: `CPU per photograph, ms`
    is_logarithmic: bool = False


@dataclass
class Line:
    label: str
    role: str
    points: list[Samples]  # x and y


@dataclass
class Bar:
    label: str
    role: str
    samples: Samples


@dataclass
class Plot:
    """A drawing of lines or bars as values, from which it can be drawn again without measuring."""

    name: str  # of its file, without `.svg`
    title: str
    x: Axis
    y: Optional[Axis] = None
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)

    @classmethod
    def of_column(cls, name, title, comparison, column, axis, less_is_better=False):
        """Bars of one column, the best first; without those that have no figure."""
        bars = [Bar(row.title, row.role, numbers(row.figures.get(column, []))) for row in comparison.rows]
        bars = sorted((bar for bar in bars if bar.samples), key=lambda bar: median(bar.samples), reverse=not less_is_better)
        return cls(name, title, axis, bars=bars)


@dataclass
class Findings:
    """What a part found out."""

    prefix: str  # of the names of its measurements
    measurements: list[Measurement] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what is to be said below the tables

    def add(self, name, title, samples, unit=RATIO, **target):
        """A measurement, where there are samples; `at_most` or `at_least` is its target."""
        if samples := list(samples):
            self.measurements.append(Measurement(f"{self.prefix}.{name}", title, unit, samples, **target))
