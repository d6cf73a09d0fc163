"""How near what somebody made comes to what it is made of."""

import os

from .. import Failure
from ..corpus.inputs import processes


def verdicts(judge, run, cases):
    """What a judge says of each source, output and size, in order.

    Its references are kept. Raises Failure where an output is missing, or isn't what it ought to be.
    """
    cache = run.options.directory / "references"
    cache.mkdir(exist_ok=True)
    with processes() as pool:
        found = list(pool.map(judge, [cache] * len(cases), *map(list, zip(*cases)), chunksize=1))
    for (_, output, _), answer in zip(cases, found):
        if isinstance(answer, str):
            raise Failure(f"{output}: is wrong: {answer}")
    return found


def kilobytes(paths):
    """Of all together, for each."""
    sizes = [os.path.getsize(path) / 1000 for path in paths]
    return sum(sizes) / len(sizes)
