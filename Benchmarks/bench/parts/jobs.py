"""Jobs over HTTP beside a batch over the same files, which is what the network side of the service costs; and their latency against
the rate at which they come."""

import time

from .. import progress
from ..corpus.chance import chance
from ..corpus.inputs import files
from ..figures import MILLISECONDS, OWN, PERCENTILES, PER_SECOND, Axis, Findings, Line, Plot, median, percentiles, ratios
from ..service import Service, in_parallel, unlike

_CLIENTS = (1, 2, 32)
# Of the loads, in terms of what 32 busy clients reach; in the table are those of the second list.
_LOADS, _TOLD = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1, 1.1), (0.4, 0.8, 1)
_CONNECTIONS, _PICTURES = 128, 200


def measure(run):
    findings = Findings("jobs")
    _throughput(run, findings)
    _load(run, findings)
    return findings


def _throughput(run, findings):
    count = 96 if run.is_full else 48
    sources = run.inputs.photographs(count)
    bodies = [file.read_bytes() for file in files(sources)]
    batches, over_work, rates, latencies = [], [], {clients: [] for clients in _CLIENTS}, {clients: [] for clients in _CLIENTS}
    for _ in run.turns("jobs over HTTP", most=3):
        batches.append(count / run.workplace.satchel("batch", sources).run().wall)
        for clients in _CLIENTS:
            with Service(run.workplace) as service:
                seconds, wall = service.deliver_all(clients, bodies)
                if clients == 1:
                    over_work.append(median(seconds) / median(service.work()))
            rates[clients].append(count / wall)
            latencies[clients].append(percentiles([1000 * one for one in seconds]))
    for clients in _CLIENTS:
        title = f"Jobs over HTTP, {clients} client{'s' * (clients > 1)}: throughput in terms of a batch of the same photographs"
        # A single client waits for each: the second core has little to do.
        findings.add(f"ratio_{clients}", title, ratios(rates[clients], batches), **({"at_least": 0.95} if clients > 1 else {}))
        findings.add(f"rate_{clients}", "— photographs", rates[clients], PER_SECOND)
        for name in PERCENTILES:
            found = [latency[name] for latency in latencies[clients]]
            findings.add(f"{name}_{clients}", f"— {name} of a job's latency", found, MILLISECONDS)
        if clients == 1:
            findings.add("over_work", "— p50 in terms of the job's own work", over_work, at_most=1.15)
    findings.add("rate_batch", "Photographs of a batch", batches, PER_SECOND)


def _load(run, findings):
    """Pictures of 20 kB, up to what the service can do and beyond.

    They come when they come (a Poisson process from the seed), not when one before is answered, and latency counts from the moment
    at which one was to come: a service that falls behind can't slow down those who ask.
    """
    seconds = 20 if run.is_full else 6
    bodies = [file.read_bytes() for file in files(run.inputs.small_pictures(_PICTURES))]
    progress.say("jobs over HTTP, how many there can be")
    most = _capacity(run, bodies, seconds)
    found = {}
    for load in _LOADS:
        progress.say(f"jobs over HTTP, at {load:.0%} of what there can be")
        found[load] = _latency(run, bodies, most * load, seconds)
    run.workplace.clear()
    findings.add("capacity", "Pictures of 20 kB over HTTP, 32 busy clients", [most], PER_SECOND)
    for load in _TOLD:
        for name in PERCENTILES:
            title = f"— {name} of their latency at {load * 100:.0f} % of that"
            findings.add(f"{name}_at_{load * 100:.0f}", title, [found[load][name]], MILLISECONDS)
    findings.plots.append(Plot(
        "load", "Latency of jobs over HTTP against load", Axis("pictures of 20 kB a second"),
        Axis("from request to finished job, ms", is_logarithmic=True),
        [Line(name, OWN, [[most * load, found[load][name]] for load in _LOADS]) for name in PERCENTILES]))


def _capacity(run, bodies, seconds):
    """Pictures a second."""
    with Service(run.workplace) as service:
        end = time.monotonic() + seconds

        def pictures():
            index = 0
            while time.monotonic() < end:
                yield unlike(bodies[index % len(bodies)], index)
                index += 1

        delivered, wall = service.deliver_all(32, pictures())
    return len(delivered) / wall


def _latency(run, bodies, rate, seconds):
    """Milliseconds, by percentile."""
    random = chance(run.options.seed, "arrivals", int(rate))
    arrivals, found = [random.exponential(1 / rate)], []
    while arrivals[-1] < seconds:
        arrivals.append(arrivals[-1] + random.exponential(1 / rate))
    with Service(run.workplace) as service:
        # The first ones find what is started only once.
        service.deliver_all(1, [unlike(body, "first") for body in bodies[:8]])
        start = time.monotonic()

        def client(left):
            connection = service.connect()
            for index, arrival in left:
                body = unlike(bodies[index % len(bodies)], index)
                time.sleep(max(0, start + arrival - time.monotonic()))
                service.deliver(connection, body)
                found.append((time.monotonic() - start - arrival) * 1000)

        in_parallel(_CONNECTIONS, client, enumerate(arrivals))
    return percentiles(found)
