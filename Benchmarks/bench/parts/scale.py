"""Nodes over one PostgreSQL and one bucket: what a job and a read cost the engines, what photographs cost beside a store of one
machine, what more nodes gain at the same share of a processor each, and what the model of `scaling.py` says of these. Beside them the floor: a
queue without the work, and pgbench with the same statements."""

import json
import threading
import time
from urllib.parse import urlsplit

import scaling

from .. import Failure, floor
from ..cluster import Cluster, remove_shares
from ..corpus.inputs import files
from ..figures import (
    KILOBYTES, MICROSECONDS, MILLISECONDS, OWN, PER_SECOND, SECONDS, Axis, Column, Comparison, Findings, Line, Plot, Row, median,
    percentile, ratios,
)
from ..service import Service, in_parallel, unlike
from .delivery import ask

_PICTURES, _JOBS, _READ_CONNECTIONS = 100, 400, 32
# Nodes, the part of a processor for each, and whether the model is fitted on it. All together use less than a processor.
_POINTS = ((1, 0.2, True), (1, 0.4, True), (2, 0.2, True), (2, 0.4, False), (4, 0.2, False))
_CLIENTS_PER_NODE = 8
_COLUMNS = [
    Column("rate", "pictures", PER_SECOND), Column("node", "CPU of the nodes per picture", MILLISECONDS),
    Column("database", "of PostgreSQL", MILLISECONDS), Column("bucket", "of the gateway", MILLISECONDS),
    Column("forecast", "pictures, by the model", PER_SECOND),
]


def measure(run):
    findings = Findings("scale")
    bodies = [file.read_bytes() for file in files(run.inputs.small_pictures(_PICTURES))]
    try:
        with Cluster(run) as cluster:
            _queue(run, cluster, findings)
            costs = _engines(run, cluster, bodies, findings)
            _beside_embedded(run, cluster, findings)
            _elsewhere(run, cluster, bodies, findings)
            _killed(run, cluster, bodies, findings)
            _more_nodes(run, cluster, bodies, costs, findings)
    finally:
        remove_shares()
    return findings


def _queue(run, cluster, findings):
    """Jobs that are claimed and delivered without the work in them, by two nodes, and by pgbench with the same statements."""
    jobs, group = (12_800 if run.is_full else 3_200), 32
    place = run.workplace.unique("queue")
    place.mkdir()
    pinned = ["taskset", "-c", ",".join(map(str, cluster.node_cores))]
    inner = [*pinned, run.workplace.program("inner-bench"), "queue", cluster.database.url, place, 2, group, jobs]
    own, grouped, single = [], [], []
    for _ in run.turns("scale, the queue without work"):
        ((count, seconds),) = run.workplace.inner_lines(inner, 1)
        own.append(int(count) / float(seconds))
        grouped.append(floor.rate(cluster.database, place, group, jobs, prefix=pinned))
        single.append(floor.rate(cluster.database, place, 1, jobs // 4, prefix=pinned))
    findings.add("queue", f"Jobs claimed and delivered without work, 2 nodes, groups of {group}", own, PER_SECOND)
    findings.add("floor", "— by pgbench with the same statements", grouped, PER_SECOND)
    findings.add("queue_floor", "— in terms of it", ratios(own, grouped), at_least=0.7)
    findings.add("queue_single", "— in terms of pgbench's one by one", ratios(own, single), at_least=10)


def _unlike(bodies, count):
    return (unlike(bodies[index % len(bodies)], index) for index in range(count))


def _engines(run, cluster, bodies, findings):
    """What a job, and a read of 20 kB, cost database and bucket. Gives log and kept bytes of a job."""
    job, bucket, log, kept, read = [], [], [], [], []
    place = run.workplace.unique("wrk")
    place.mkdir()
    with cluster.node("--log-level", "error") as node:
        node.deliver_all(8, _unlike(bodies, 50))
        for _ in run.turns("scale, the engines"):
            size, start = cluster.kept_bytes(), (cluster.database_cpu(), cluster.gateway_cpu(), cluster.log_bytes())
            node.deliver_all(8, _unlike(bodies, _JOBS))
            end = (cluster.database_cpu(), cluster.gateway_cpu(), cluster.log_bytes())
            for samples, one, other, scale in zip((job, bucket, log), start, end, (1e6, 1e6, 1e-3)):
                samples.append((other - one) / _JOBS * scale)
            kept.append((cluster.kept_bytes() - size) / _JOBS / 1e3)
            connection = node.connect()
            made = json.loads(node.deliver(connection, unlike(bodies[0], "read"), "profile=notification&lease_ttl=86400").body)
            path = urlsplit(made["attachments"][0]["renditions"]["main"]["url"]).path
            start, began = cluster.database_cpu(), time.monotonic()
            requests = ask(place, node.port, path, _READ_CONNECTIONS)[0] * (time.monotonic() - began)
            read.append((cluster.database_cpu() - start) / requests * 1e6)
    findings.add("database", "CPU of PostgreSQL per picture of 20 kB", job, MICROSECONDS, at_most=300)
    findings.add("bucket", "— of Ceph's gateway, with its monitor and storage", bucket, MICROSECONDS)
    findings.add("log", "— PostgreSQL's log", log, KILOBYTES, at_most=8)
    findings.add("kept", "— kept in tables and indexes, tidied", kept, KILOBYTES, at_most=3.5)
    findings.add("read", f"CPU of PostgreSQL per read of a rendition, {_READ_CONNECTIONS} connections", read, MICROSECONDS, at_most=10)
    return {"log": median(log) * 1e3, "kept": median(kept) * 1e3}


def _beside_embedded(run, cluster, findings):
    """Photographs, of a node over the engines and of a service with a store of its own on the same processors."""
    count = 48 if run.is_full else 24
    bodies = [file.read_bytes() for file in files(run.inputs.photographs(count))]
    cpu, latency = ([], []), ([], [])
    with cluster.node() as scaled, Service(run.workplace, cores=cluster.node_cores) as embedded:
        for service in (scaled, embedded):
            service.deliver_all(2, (unlike(body, "first") for body in bodies[:4]))
        for turn in run.turns("scale, photographs"):
            for index, service in enumerate((scaled, embedded)):
                start = service.cpu()
                seconds, _ = service.deliver_all(1, (unlike(body, turn) for body in bodies))
                cpu[index].append((service.cpu() - start) / count * 1000)
                latency[index].append(percentile(0.5, seconds) * 1000)
    findings.add(
        "photographs", "Photographs: CPU of Satchel's processes, in terms of an embedded store's", ratios(*cpu), at_most=1.10)
    more = [one - other for one, other in zip(*latency)]
    findings.add("photographs_more", "— time of one more than with an embedded store", more, MILLISECONDS, at_most=25)


def _elsewhere(run, cluster, bodies, findings):
    """Jobs that one node takes and another, idle one does, beside a node that does its own."""
    found = ([], [])
    count = 100
    with cluster.node() as own:
        own.deliver_all(1, _unlike(bodies, 20))
        for _ in run.turns("scale, a node's own jobs", most=1):
            found[0].extend(own.deliver_all(1, _unlike(bodies, count))[0])
    with cluster.node("--role", "worker"), cluster.node("--role", "api") as front:
        front.deliver_all(1, _unlike(bodies, 20))
        for _ in run.turns("scale, jobs for another node", most=1):
            found[1].extend(front.deliver_all(1, _unlike(bodies, count))[0])
    for name, part, most in (("p50", 0.5, 60), ("p99", 0.99, 300)):
        more = (percentile(part, found[1]) - percentile(part, found[0])) * 1000
        findings.add(
            f"elsewhere_{name}", f"A picture that an idle node takes from another, {name}: more than where it was submitted", [more],
            MILLISECONDS, at_most=most)


def _killed(run, cluster, bodies, findings):
    """From SIGKILL of a node at work to the end of the last of its jobs elsewhere."""
    found = []
    for _ in run.turns("scale, a node killed"):
        # Slow enough to have work when it is killed; its jobs were begun at once.
        with cluster.node() as other, cluster.node(quota=0.1) as victim:
            connection = victim.connect()
            jobs = [
                json.loads(victim.submit(connection, body, "image/jpeg", Prefer="respond-async").body)["id"]
                for body in _unlike(bodies, 4)]
            victim.kill()
            killed, left, asking = time.monotonic(), jobs, other.connect()
            while left:
                left = [job for job in left if _state(other, asking, job) in ("pending", "running")]
                if time.monotonic() - killed > 60:
                    raise Failure(f"{len(left)} jobs of a killed node didn't come to their end in a minute")
                time.sleep(0.02)
            found.append(time.monotonic() - killed)
    findings.add("killed", "From a node's SIGKILL to the end of all that it had begun", found, SECONDS, at_most=12)


def _state(service, connection, job):
    answer = connection.send("GET", f"/v1/jobs/{job}", service.authorization)
    if answer.status != 200:
        raise Failure(f"a job that was accepted isn't known: {answer.status}")
    return json.loads(answer.body)["state"]


def _more_nodes(run, cluster, bodies, costs, findings):
    rows, points = [], []
    for count, quota, is_fitted in _POINTS:
        row = Row(f"{count}x{quota}", f"{count} of {quota} processors{'' if is_fitted else ', not fitted'}", OWN, {
            column.name: [] for column in _COLUMNS[:-1]})
        with cluster.nodes(count, "--log-level", "error", quota=quota) as nodes:
            for _ in run.turns(f"scale, {row.title}"):
                point = _point(cluster, nodes, quota, bodies, 20 if run.is_full else 10)
                points.append((point, is_fitted))
                for name, value in (
                        ("rate", point.rate), ("node", point.node * 1000), ("database", point.database * 1000),
                        ("bucket", point.bucket * 1000)):
                    row.figures[name].append(value)
        rows.append(row)
    model = scaling.Model.fitted([point for point, is_fitted in points if is_fitted], **costs)
    for row, (count, quota, _) in zip(rows, _POINTS):
        row.figures["forecast"] = [model.rate(count, quota)]
    findings.comparisons.append(Comparison("nodes", "Pictures of 20 kB, nodes with a share of a processor each", _COLUMNS, rows))
    rates = {(count, quota): row.figures["rate"] for (count, quota, _), row in zip(_POINTS, rows)}
    findings.add("two", "Two nodes in terms of one, 0.2 processors each", ratios(rates[2, 0.2], rates[1, 0.2]), at_least=1.9)
    findings.add("four", "Four nodes in terms of one", ratios(rates[4, 0.2], rates[1, 0.2]), at_least=3.7)
    wrong = [abs(model.rate(count, quota) / median(rates[count, quota]) - 1) for count, quota, is_fitted in _POINTS if not is_fitted]
    findings.add("forecast", "The model's greatest error on points that it wasn't fitted on", [max(wrong)], at_most=0.15)
    findings.notes += scaling.told(model)
    findings.plots.append(Plot(
        "scale", "Pictures of 20 kB against nodes of 0.2 processors", Axis("nodes"), Axis("pictures a second"), [
            Line("measured", OWN, [[count, median(rates[count, 0.2])] for count in (1, 2, 4)]),
            Line("model", "floor", [[count, model.rate(count, 0.2)] for count in (1, 2, 3, 4)])]))


def _point(cluster, nodes, quota, bodies, seconds):
    """Clients of each node submit and wait, for a while; the first seconds don't count."""
    finished, lock, is_over = [0], threading.Lock(), threading.Event()

    def client(mine):
        node = nodes[next(iter(mine))]
        connection, index = node.connect(), 0
        while not is_over.is_set():
            node.deliver(connection, unlike(bodies[index % len(bodies)], index))
            with lock:
                finished[0] += 1
            index += 1

    everybody = [index for index in range(len(nodes)) for _ in range(_CLIENTS_PER_NODE)]
    clients = threading.Thread(target=lambda: in_parallel(len(everybody), client, everybody))
    clients.start()
    try:
        time.sleep(4)
        start, before = time.monotonic(), (finished[0], sum(node.cpu() for node in nodes), cluster.database_cpu(), cluster.gateway_cpu())
        time.sleep(seconds)
        after = (finished[0], sum(node.cpu() for node in nodes), cluster.database_cpu(), cluster.gateway_cpu())
        took = time.monotonic() - start
    finally:
        is_over.set()
        clients.join()
    jobs, *cpu = (later - earlier for earlier, later in zip(before, after))
    if not jobs:
        raise Failure(f"{len(nodes)} nodes of {quota} processors finished nothing in {seconds} s")
    return scaling.Point(len(nodes), quota, jobs / took, *(each / jobs for each in cpu))
