"""Thousands of distinct pictures of 20 kB: a batch, durable commits included, beside libvips in a loop that writes files and syncs
nothing."""

import os

from .. import Failure
from ..commands import usable_cores
from ..contenders import peers
from ..contenders.contest import Contest
from ..contenders.tasks import STILLS
from ..corpus.sources import sources
from ..figures import Axis, Findings, Plot, ratios
from ..judges import stills


def measure(run):
    found = sources(
        run, "photographs", lambda: run.inputs.storm(10_000 if run.is_full else 1_000), lambda files: STILLS.refusals(run, files))

    def look(contender, place):
        for _, output, _ in STILLS.all_outputs(found.files, place):
            if not os.path.exists(output):
                raise Failure(f"{output}: was not made")
        # All are made; a hundred are looked at.
        return stills.figures(run, STILLS, found.files[:: max(1, len(found.files) // 100)], place)

    own = [STILLS.satchel(run, speed, count, speed=speed) for speed in ("fast", "standard") for count in (1000, 1)]
    comparison = Contest(
        run, "storm", f"{found.pictures} to 1024 (no larger than they are) and 300 pixels", "picture", found.files, "pyvips",
        [*own, *peers.libraries(run, "pyvips", "pillow-simd")], look_columns=stills.columns(STILLS)).hold(look)
    findings = Findings("storm", comparisons=[comparison], notes=found.notes)
    for name, title, row, target in (
        (
            "shared", "Small pictures, fast, shared processes: rate in terms of a bare loop of libvips", "satchel-fast-1000",
            {"at_least": 0.6}),
        ("alone", "— a process for each source", "satchel-fast-1", {"at_least": 0.35}),
        ("shared_standard", "— at full quality, shared processes", "satchel-standard-1000", {}),
        ("alone_standard", "— at full quality, a process for each source", "satchel-standard-1", {}),
    ):
        findings.add(name, title, ratios(comparison.samples(row, "rate"), comparison.samples("pyvips", "rate")), **target)
    findings.plots.append(Plot.of_column(
        "storm-rate", f"Pictures a second of {found.pictures}, {len(usable_cores())} cores", comparison, "rate",
        Axis("pictures per second")))
    return findings
