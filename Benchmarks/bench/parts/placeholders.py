"""What ThumbHash and BlurHash cost together, for pictures of the size that they are made from."""

from .. import Failure
from ..figures import MILLISECONDS, Findings, median

_COUNT, _WIDTH, _HEIGHT = 200, 100, 75


def measure(run):
    frames = run.inputs.raw_frames(_COUNT, _WIDTH, _HEIGHT)
    line = [run.workplace.program("inner-bench"), "hashes", _WIDTH, _HEIGHT, frames]
    medians, worst = [], []
    for _ in run.turns("placeholders"):
        lines = run.workplace.inner_lines(line, _COUNT)
        if len({tuple(words[1:]) for words in lines}) <= _COUNT // 2:
            raise Failure("inner-bench: hashed pictures that are alike")
        times = [float(words[0]) for words in lines]
        medians.append(median(times))
        worst.append(max(times))
    findings = Findings("placeholders")
    findings.add("cpu", "ThumbHash and BlurHash of a picture together: CPU", medians, MILLISECONDS, at_most=2)
    findings.add("cpu_worst", f"— of the slowest of {_COUNT}", worst, MILLISECONDS)
    return findings
