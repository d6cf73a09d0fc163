"""GIFs to 320 pixels: what it costs whom, how many bytes come out, and how near their frames come to full colour."""

from ..contenders import peers
from ..contenders.contest import Contest
from ..contenders.tasks import ANIMATIONS
from ..corpus.sources import sources
from ..figures import DECIBELS, KILOBYTES, Axis, Column, Findings, Plot, mean, quotient, ratios
from ..judges import animations as judge
from ..judges import kilobytes, verdicts

_COLUMNS = [
    Column("bytes", "bytes out", KILOBYTES), Column("psnr", "PSNR to full colour", DECIBELS),
    Column("psnr_least", "— of the worst frame", DECIBELS),
]


def measure(run):
    found = sources(
        run, "animations", lambda: run.inputs.animations(24 if run.is_full else 8), lambda files: ANIMATIONS.refusals(run, files))
    # By contender: of each source the mean PSNR of its frames.
    decibels = {}

    def look(contender, place):
        cases = ANIMATIONS.all_outputs(found.files, place)
        judged = verdicts(judge.judge, run, cases)
        decibels[contender.name] = [psnr for _, psnr, _ in judged]
        return {
            "bytes": [kilobytes(output for _, output, _ in cases)], "psnr": [mean(decibels[contender.name])],
            "psnr_least": [min(least for *_, least in judged)]}

    def own(profile, count, name):
        return ANIMATIONS.satchel(run, profile, count, name, speed=profile)

    comparison = Contest(
        run, "animations", f"{found.animations} to 320 pixels", "GIF", found.files, "gifsicle", [
            own("standard", 1000, "satchel-1000"), own("standard", 1, "satchel-1"), own("best", 1000, "satchel-best-1000"),
            peers.gifsicle(), peers.vipsthumbnail_of_gifs(run), *peers.other_gif_makers(run),
        ], look_columns=_COLUMNS).hold(look)
    findings = Findings("animations", comparisons=[comparison], notes=found.notes)

    def gains(own, other):
        return [one - another for one, another in zip(decibels.get(own, []), decibels.get(other, []))]

    for form, words in (("1", "a process each"), ("1000", "shared processes")):
        multiples = [quotient(1, multiple) for multiple in comparison.samples(f"satchel-{form}", "multiple")]
        findings.add(f"cpu_{form}", f"GIF to 320 pixels, {words}: CPU in terms of gifsicle's", multiples, at_most=1)
    for peer, most, least in (("gifsicle", {"at_most": 1}, {"at_least": 0}), ("vipsthumbnail", {}, {})):
        sizes = [comparison.samples(name, "bytes") for name in ("satchel-1", peer)]
        findings.add(f"bytes_{peer}", f"— bytes of all, in terms of {peer}'s", ratios(*sizes), **most)
        findings.add(
            f"psnr_{peer}", f"— PSNR to full colour over {peer}'s, by source", gains("satchel-1", peer), DECIBELS, **least)
    findings.add("psnr_best", "— PSNR of best over ours, by source", gains("satchel-best-1000", "satchel-1000"), DECIBELS)
    findings.plots.append(Plot.of_column(
        "animations-cpu", f"CPU per GIF: {found.animations} to 320 px", comparison, "cpu",
        Axis("ms of CPU per GIF", is_logarithmic=True), less_is_better=True))
    return findings
