"""How CPU grows with the source: of `satchel batch` over one size, less that over a picture of 64 by 64."""

import math

from ..corpus.inputs import growing_kinds
from ..figures import MILLISECONDS, OWN, Axis, Findings, Line, Plot, mean, median

# No faster than this with the size: 1 is linear, and what every source costs makes it less.
_LIMIT = 1.1
# Of the sizes, how many of the largest the figures are about: of small ones so little is left beside the start that it says nothing.
_CONSIDERED = 4
# Under which nothing has to be tried twice.
_PROFILES = """
  growth:
    based_on: message
    animation: {longest_side: 240, aim: 100000000, cap: 100000000}
    video: {aim: 1000000000, cap: 1000000000, maximum_duration: 900}
    audio: {aim: 100000000, cap: 100000000, maximum_duration: 900}
"""


def measure(run):
    profiles = run.workplace.profiles("growth", _PROFILES)

    def cost(directory):
        """Seconds of processors."""
        return run.workplace.satchel("batch", directory, "--profiles", profiles, "--profile", "growth").run().cpu

    kinds, bare = growing_kinds(run.is_full), run.inputs.tiny_pictures(1)
    sources = [{size: kind.sources(size, run.inputs) for size in kind.sizes} for kind in kinds]
    # By kind and size, a value for each round.
    costs = [{size: [] for size in kind.sizes} for kind in kinds]
    for _ in run.turns("growth"):
        start = cost(bare)
        for kind, directories, found in zip(kinds, sources, costs):
            for size, directory in directories.items():
                found[size].append(max((cost(directory) - start) / kind.count, 1e-4))
        run.workplace.clear()
    findings, lines = Findings("growth"), {}
    for kind, found in zip(kinds, costs):
        large, medians = kind.sizes[-_CONSIDERED:], {size: median(samples) for size, samples in found.items()}
        exponents = [exponent(large, costs_of_round) for costs_of_round in zip(*(found[size] for size in large))]
        findings.add(kind.name, f"CPU of {kind.title}, as a power of its {kind.unit}", exponents, at_most=_LIMIT)
        title = "— the most that a part of it costs, in terms of what a part of a smaller one costs"
        findings.add(f"{kind.name}.worst", title, [worst(large, [medians[size] for size in large])])
        largest = [seconds * 1000 for seconds in found[large[-1]]]
        findings.add(f"{kind.name}.largest", f"— CPU with {large[-1]} {kind.unit}", largest, MILLISECONDS)
        points = [[size, seconds * 1000] for size, seconds in medians.items()]
        lines.setdefault(kind.unit, []).append(Line(kind.title, OWN, points))
    findings.plots = [
        Plot(f"growth-{unit}", f"CPU against {unit}", Axis(unit, is_logarithmic=True), Axis("CPU, ms", is_logarithmic=True), drawn)
        for unit, drawn in lines.items()]
    return findings


def exponent(sizes, costs):
    """Of the power law that is nearest to the costs: the slope between their logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    above = sum((one - mean(x)) * (other - mean(y)) for one, other in zip(x, y))
    return above / sum((one - mean(x)) ** 2 for one in x)


def worst(sizes, costs):
    """By how much a part of a larger source costs more than a part of a smaller one, at the worst."""
    parts = [cost / size for size, cost in zip(sizes, costs)]
    return max(part / min(parts[:index]) for index, part in enumerate(parts) if index)
