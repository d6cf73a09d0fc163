"""Memory of everything at once under a mix of costly sources, and what a source of 1 GB adds to that of the service.

`--memory` is what codec processes may have together. The service side is the process `satchel`: its codec processes are granted
memory by themselves.
"""

from ..figures import MEGABYTES, Findings
from ..origins import FileOrigin
from ..processes import peak_memory


def measure(run):
    findings = Findings("memory")
    with run.workplace.empty_directory("costly-mix") as mix:
        for index, source in enumerate(run.inputs.costly_sources()):
            (mix / f"{index}-{source.name}").hardlink_to(source)
        for gigabytes in (1, 2):
            title = f"A mix of costly sources under --memory {gigabytes}G: all processes together, in terms of that"
            parts = []
            for _ in run.turns(title, most=3):
                batch = run.workplace.satchel("batch", mix, "--memory", f"{gigabytes}G", "--profile", "message")
                parts.append(peak_memory(batch.run)[1] / (gigabytes << 30))
            findings.add(f"mix_{gigabytes}", title, parts, at_most=1)
    _large(run, findings)
    return findings


def _large(run, findings):
    """What it adds over a small one of the same kind."""
    small, large = run.inputs.silence(1_000_000), run.inputs.silence(1_000_000_000)
    origin = FileOrigin([small, large])
    profiles = run.workplace.profiles("kept", "  kept:\n    based_on: notification\n    keeps_original: true\n    deadline: null\n")
    kept = ["--profiles", profiles, "--profile", "kept"]
    levels = []
    for name, title, arguments in (
        ("file", "A source of 1 GB: the service's memory over one of 1 MB, from a file", lambda file: [file]),
        ("kept", "— from a file, when the source itself is kept", lambda file: [file, *kept]),
        ("url", "— from a URL", lambda file: [f"{origin.address}/{file.name}", "--fetch-allow", "127.0.0.1"]),
    ):
        growth = []
        for _ in run.turns(f"memory, {name}", most=3):
            adding = [run.workplace.satchel("add", *arguments(file)) for file in (small, large)]
            least, most = (command.run(watching_memory=True).peak / 1e6 for command in adding)
            growth.append(most - least)
            levels.append(most)
            run.workplace.clear()
        findings.add(name, title, growth, MEGABYTES, at_most=16)
    findings.add("peak", "— the service's peak with 1 GB", levels, MEGABYTES)
