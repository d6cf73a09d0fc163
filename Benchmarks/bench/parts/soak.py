"""A thousand mixed jobs: what the service holds afterwards must be what it held before."""

from .. import progress
from ..corpus.sources import sample_files
from ..figures import COUNT, MEGABYTES, Findings
from ..processes import Footprint
from ..service import Service, in_parallel, refuse, unlike

_JOBS, _CLIENTS = 1000, 8


def measure(run):
    progress.say(f"a soak of {_JOBS} jobs")
    samples = sample_files(run.options.samples)
    with Service(run.workplace) as service:
        def client(left):
            connection = service.connect()
            for index in left:
                body = unlike(samples[index % len(samples)].read_bytes(), index)
                answer = service.submit(connection, body, "application/octet-stream", Prefer="wait=60")
                if answer.status != 200:
                    refuse("POST", "/v1/jobs", answer)

        # What is made on first use (caches, connections, threads) is no leak.
        in_parallel(_CLIENTS, client, range(200))
        before = Footprint.settled(service.footprint)
        in_parallel(_CLIENTS, client, range(_JOBS))
        after = Footprint.settled(service.footprint)
    run.workplace.clear()
    findings = Findings("soak")
    growth = [(after.memory - before.memory) / 1e6]
    findings.add("memory", f"A soak of {_JOBS} mixed jobs: growth of the service's memory", growth, MEGABYTES, at_most=16)
    findings.add("descriptors", "— of its descriptors", [after.descriptors - before.descriptors], COUNT, at_most=0)
    findings.add("children", "— of its processes", [after.children - before.children], COUNT, at_most=0)
    findings.add("files", "— of files in the spool and in the making", [after.files - before.files], COUNT, at_most=0)
    return findings
