"""A directory as people have them: how soon it is done, and how long each file takes."""

from pathlib import Path

from .. import Failure
from ..contenders.tasks import report
from ..corpus import mixed
from ..corpus.inputs import files
from ..corpus.sources import own_files
from ..figures import COUNT, MEGABYTES, MILLISECONDS, PERCENTILES, PER_SECOND, Findings, percentile
from ..processes import peak_memory


def measure(run):
    if run.options.corpus:
        sources, _ = own_files(run.options.corpus, "files", run.options.directory / "corpus" / "files")
    else:
        sources = run.inputs.mixed(400 if run.is_full else 120)
    count = len(files(sources))

    def batch(sources_per_process):
        usage, lines = report(run.workplace.satchel("batch", sources, "--sources-per-process", sources_per_process), run.workplace)
        if not run.options.corpus:
            _check(lines, count)
        return usage, lines

    _, memory = peak_memory(lambda: batch(1))
    alone, shared, latencies, undelivered = [], [], [], []
    for _ in run.turns("a mixed directory"):
        usage, lines = batch(1)
        alone.append(usage)
        latencies.append([line["seconds"] * 1000 for line in lines if line["state"] == "delivered"])
        undelivered.append(len(lines) - len(latencies[-1]))
        shared.append(batch(1000)[0])
        run.workplace.clear()
    findings = Findings("mixed")
    rates, shared_rates = ([count / usage.wall for usage in usages] for usages in (alone, shared))
    findings.add("rate", f"A mixed directory of {count} files, a process each", rates, PER_SECOND)
    findings.add("rate_shared", "— shared processes", shared_rates, PER_SECOND)
    costs, shared_costs = ([usage.cpu / count * 1000 for usage in usages] for usages in (alone, shared))
    findings.add("cpu", "— CPU per file, a process each", costs, MILLISECONDS)
    findings.add("cpu_shared", "— CPU per file, shared processes", shared_costs, MILLISECONDS)
    for (name, part), words in zip(PERCENTILES.items(), ("time of a file, p50", "p95", "p99")):
        findings.add(f"latency_{name}", f"— {words}", [percentile(part, latency) for latency in latencies], MILLISECONDS)
    findings.add("memory", "— peak memory of all processes", [memory / 1e6], MEGABYTES)
    findings.add("undelivered", "— not delivered, as they are no media or damaged", undelivered, COUNT)
    return findings


def _check(lines, count):
    """Media is delivered and nothing else is, else it is something else that was measured."""
    delivered = {int(Path(line["path"]).stem) for line in lines if line["state"] == "delivered"}
    if wrong := delivered ^ {index for index in range(count) if mixed.is_media(index)}:
        raise Failure(f"satchel batch: of {', '.join(mixed.name(index) for index in sorted(wrong))} it isn't as it ought to be")
