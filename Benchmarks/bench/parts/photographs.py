"""Camera JPEGs to 1024 and 300 pixels: what it costs whom, and what comes out."""

from ..commands import usable_cores
from ..contenders import peers, services
from ..contenders.contest import Contest
from ..contenders.tasks import STILLS
from ..corpus.inputs import paths
from ..corpus.sources import sources
from ..figures import DECIBELS, FLOOR, PEER, Axis, Findings, Plot, median, numbers, quotient, ratios
from ..judges import stills
from ..service import Service


def measure(run):
    found = sources(run, "photographs", lambda: run.inputs.camera_roll(0), lambda files: STILLS.refusals(run, files))
    # What one source more costs is looked at with these; nothing is known of it with a corpus of the user's own.
    more = [] if run.options.corpus else paths(run.inputs.camera_roll(1))
    profiles = f"profiles={run.workplace.profiles(STILLS.name, STILLS.profiles)}"

    def look(contender, place):
        # The floor scales by leaving pixels out: only its cost is of interest.
        return {} if contender.role == FLOOR else stills.figures(run, STILLS, found.files, place)

    def own(speed, sources_per_process):
        return STILLS.satchel(run, speed, sources_per_process, speed=speed)

    with Service(run.workplace, "--set", profiles) as service, services.thumbor(run, STILLS, peers.PEERS / "thumbor.conf") as thumbor:
        comparison = Contest(
            run, "photographs", f"{found.photographs} to 1024 and 300 pixels, JPEG of quality 80", "photograph", found.files,
            "vipsthumbnail", [
                own("fast", 1000), own("fast", 1), STILLS.over_http(run, service, "fast"), own("standard", 1000), own("standard", 1),
                STILLS.over_http(run, service, "standard"), own("best", 1000), peers.vipsthumbnail(run), *peers.magicks(),
                *peers.libraries(run), thumbor, *run.options.peers, peers.jpeg_floor(run),
            ], more, None if run.is_full else 1, stills.columns(STILLS)).hold(look)
    findings = Findings("photographs", comparisons=[comparison], notes=found.notes)
    _measurements(run, comparison, findings)
    what = f"{found.photographs} to 1024 and 300 px"
    findings.plots = [
        Plot.of_column(
            "photographs-rate", f"Photographs a second, {len(usable_cores())} cores: {what}", comparison, "rate",
            Axis("photographs per second")),
        Plot.of_column(
            "photographs-cpu", f"CPU per photograph: {what}", comparison, "cpu", Axis("ms of CPU per photograph"), less_is_better=True),
    ]
    return findings


def _measurements(run, comparison, findings):
    def multiple(row):
        return comparison.samples(row, "multiple")

    def cpu(row):
        return comparison.samples(row, "cpu")

    def gain(row, other):
        """The difference of their PSNR; nothing where one has none."""
        return [one - another for one, another in zip(*(comparison.samples(name, "psnr_1024") for name in (row, other)))]

    add, fast, standard, best = findings.add, "satchel-fast-1000", "satchel-standard-1000", "satchel-best-1000"
    add(
        "fast_shared", f"Photographs, fast, shared processes: CPU of vipsthumbnail ({run.libvips}), in terms of Satchel's",
        multiple(fast), at_least=6)
    add("fast_alone", "— a process for each source", multiple("satchel-fast-1"), at_least=5)
    http = ratios(multiple("satchel-http-fast"), multiple("satchel-fast-1"))
    add("http", "— over HTTP, in terms of a process for each source", http, at_least=0.95)
    more = median(comparison.samples("satchel-fast-1", "cpu_more"))
    warm = numbers([quotient(more, sample) for sample in cpu("satchel-http-fast")])
    add("http_warm", "— over HTTP, in terms of one source more of a batch, whose start isn't in it", warm)
    add("standard_shared", "— at full quality, shared processes", multiple(standard), at_least=4.5)
    add("standard_alone", "— at full quality, a process for each source", multiple("satchel-standard-1"))
    add("fast_loss", "— PSNR of fast over that of a full decode", gain(fast, "full-decode"), DECIBELS, at_least=-0.7)
    add("standard_loss", "— PSNR at full quality over that of a full decode", gain(standard, "full-decode"), DECIBELS)
    # `best` is libvips alone: what our own way through a JPEG's planes saves, and what it costs.
    add("best_standard", "— CPU of best, in terms of full quality", ratios(cpu(best), cpu(standard)))
    add("best_fast", "— CPU of best, in terms of fast", ratios(cpu(best), cpu(fast)))
    add("best_gain", "— PSNR of best over that at full quality", gain(best, standard), DECIBELS)
    # What the best of the peers does with all processors.
    peer = max((median(row.figures.get("rate", [0])) for row in comparison.rows if row.role == PEER), default=0)
    if peer:
        add("rate_ratio", "— rate in terms of the best peer's", [rate / peer for rate in comparison.samples(fast, "rate")])
