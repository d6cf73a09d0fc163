"""What it costs to give each source a confined process of its own."""

from ..figures import MILLISECONDS, PER_SECOND, Findings

_COUNT = 400


def measure(run):
    sources = run.inputs.tiny_pictures(_COUNT)
    cpu, rate = {1: [], 1000: []}, {1: [], 1000: []}
    for _ in run.turns("isolation"):
        for form in (1, 1000):
            usage = run.workplace.satchel("batch", sources, "--sources-per-process", form).run()
            cpu[form].append(usage.cpu / _COUNT * 1000)
            rate[form].append(_COUNT / usage.wall)
    findings = Findings("isolation")
    over = [alone - shared for alone, shared in zip(cpu[1], cpu[1000])]
    findings.add("cpu", "A process per source: CPU over the same work in a warm process", over, MILLISECONDS, at_most=8)
    findings.add("cpu_alone", "— CPU per picture of 64 × 64, a process each", cpu[1], MILLISECONDS)
    findings.add("cpu_shared", "— CPU per picture, shared processes", cpu[1000], MILLISECONDS)
    findings.add("rate_alone", "— pictures, a process each", rate[1], PER_SECOND)
    findings.add("rate_shared", "— pictures, shared processes", rate[1000], PER_SECOND)
    return findings
