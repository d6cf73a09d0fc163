"""What a store is asked all the time, while it holds from 1,000 to 1,000,000 pending jobs, attachments and live leases: that should
cost the same."""

from .. import Failure, progress
from ..figures import MICROSECONDS, OWN, Axis, Column, Comparison, Findings, Line, Plot, Row, median, ratios

# As `inner-bench` names them.
_QUESTIONS = {
    "submit": "submit a job", "claim": "claim a job", "deliver": "deliver it", "list": "list 50 attachments",
    "list.jobs": "list 50 pending jobs", "list.filtered": "list 50 images from the middle", "read": "read an attachment",
    "lease-check": "check a lease", "lease.start": "start a lease", "lease.stop": "stop it",
    "statistics": "count all for health and metrics",
}
_FIGURES = ["p50", "p99", "cpu"]  # as `inner-bench` says them, in microseconds
_ROUNDS = 3
# The dearest is not to cost this much more at the largest size than at the smallest: trees are two levels deeper.
_LIMIT = 1.5


def measure(run):
    counts = [1000, 10_000, 100_000] + [1_000_000] * run.is_full
    progress.say(f"a store that holds up to {counts[-1]} of everything")
    rows = {name: Row(name, title, OWN) for name, title in _QUESTIONS.items()}
    with run.workplace.empty_directory("many") as place:
        line = [run.workplace.program("inner-bench"), "store", place, *counts]
        lines = run.workplace.inner_lines(line, len(counts) * len(_QUESTIONS) * _ROUNDS)
    for count, question, _, *figures in lines:
        if question not in rows or len(figures) != len(_FIGURES):
            raise Failure(f"inner-bench store: answered '{question} {figures}'")
        for name, figure in zip(_FIGURES, figures):
            rows[question].figures.setdefault(f"{name}.{count}", []).append(float(figure))
    columns = [
        Column(f"{name}.{count}", title, MICROSECONDS)
        for count in counts for name, title in (("cpu", f"CPU with {count}"), ("p50", "p50"), ("p99", "p99"))]
    title = "A store of many pending jobs, attachments and live leases"
    findings = Findings("store", comparisons=[Comparison("store", title, columns, list(rows.values()))])
    curves = []
    for name, title in _QUESTIONS.items():
        cpu = [rows[name].figures[f"cpu.{count}"] for count in counts]
        growth = ratios(cpu[-1], [median(cpu[0])] * _ROUNDS)
        words = f"To {title}: CPU with {counts[-1]} of everything, in terms of that with {counts[0]}"
        findings.add(f"growth.{name}", words, growth, at_most=_LIMIT)
        curves.append(Line(title, OWN, [[count, median(samples)] for count, samples in zip(counts, cpu)]))
    findings.plots.append(Plot(
        "store", "A question to the records, by how much they hold",
        Axis("pending jobs, attachments and leases, each", is_logarithmic=True), Axis("CPU, µs", is_logarithmic=True), curves))
    return findings
