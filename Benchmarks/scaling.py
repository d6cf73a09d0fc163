#!/usr/bin/env python3
"""Where more nodes end: a model of nodes over one PostgreSQL and one bucket, fitted to what `bench --only scale` measured.

    Benchmarks/scaling.py [--results .bench/results.json] [--node-cores 4] [--database-cores 16] [--log-mb 100] [--requests 5000]

A node has a share of processors, of which some go into being a node (heartbeats, polling, codecs at rest) and the rest into jobs.
Each further node makes a job dearer by a part of its cost (`contention`: commits that wait, claims that meet). PostgreSQL spends a
part of a processor on each node and some on each job. The first of these that has no more to give is the end: the database's
processors (at 0.7 of them waits grow), the log that its disk takes, the requests that the bucket takes.
"""

import argparse
import json
import statistics
import sys
from dataclasses import dataclass

REQUESTS_PER_JOB = 4  # an upload: the source in and out, and two renditions (SCALE, section 6)
BUSY = 0.7  # of a database's processors


@dataclass(frozen=True)
class Point:
    """What was measured of some nodes."""

    nodes: int
    quota: float  # processors for each
    rate: float  # jobs a second, all together
    node: float  # seconds of the nodes' processors a job, what it costs to be a node included
    database: float  # the same of PostgreSQL
    bucket: float  # and of the gateway


def line(points):
    """The straight line nearest to pairs: where it begins, and by how much it rises."""
    xs, ys = zip(*points)
    if len(set(xs)) < 2:
        return 0.0, statistics.mean(ys) / statistics.mean(xs)
    fitted = statistics.linear_regression(xs, ys)
    return fitted.intercept, fitted.slope


@dataclass(frozen=True)
class Model:
    job: float  # seconds of a node's processor
    rest: float  # processors that a node takes without any job
    contention: float  # part of a job's cost that each further node adds
    database: float  # seconds of PostgreSQL's processors a job
    database_rest: float  # processors that it takes for each node
    bucket: float  # seconds of the gateway's processors a job
    log: float  # bytes a job
    kept: float  # bytes a job

    @classmethod
    def fitted(cls, points, log, kept):
        """Needs two shares of one node, and one point of several nodes."""
        rest, job = line([(point.rate, point.quota) for point in points if point.nodes == 1])
        rest = max(rest, 0)
        dearer = [
            (point.nodes * (point.quota - rest) / point.rate / job - 1) / (point.nodes - 1) for point in points if point.nodes > 1]
        # Of a second of the database: what each node takes of it, and each job.
        database_rest, database = line([(point.rate / point.nodes, point.database * point.rate / point.nodes) for point in points])
        return cls(
            job, rest, max(statistics.median(dearer), 0), database, max(database_rest, 0),
            statistics.median(point.bucket for point in points), log, kept)

    def rate(self, nodes, quota):
        """Jobs a second that the nodes would do, were the engines without end."""
        return nodes * max(quota - self.rest, 0) / (self.job * (1 + self.contention * (nodes - 1)))

    def ends(self, nodes, database_cores, log_bytes, requests):
        """Jobs a second that each engine would take, by what it is that ends there."""
        return {
            "PostgreSQL's processors": max(BUSY * database_cores - self.database_rest * nodes, 0) / self.database,
            "its log": log_bytes / self.log, "the bucket's requests": requests / REQUESTS_PER_JOB,
        }

    def forecast(self, nodes, node_cores, database_cores, log_bytes, requests):
        """Jobs a second, and what it is that keeps them from being more."""
        ends = {"the nodes": self.rate(nodes, node_cores), **self.ends(nodes, database_cores, log_bytes, requests)}
        least = min(ends, key=ends.get)
        return ends[least], least


def told(model, node_cores=4, database_cores=16, log_bytes=100e6, requests=5000):
    """What the model comes to, as sentences and a table."""
    hours = 1e6 / 3600
    found = [
        f"In the model, a job takes {model.job * 1000:.1f} ms of a node's processor, {model.database * 1000:.2f} ms of PostgreSQL's and "
        f"{model.bucket * 1000:.2f} ms of the gateway's. A node without jobs uses {model.rest:.3f} of its processor and "
        f"{model.database_rest:.4f} of PostgreSQL's. Each further node makes a job {model.contention:.1%} more expensive. A million "
        f"jobs take {model.job * hours:.1f} hours of the nodes' processors, {model.database * hours:.1f} of PostgreSQL's and "
        f"{model.bucket * hours:.1f} of the gateway's. They write {model.log / 1e3:.1f} GB of log and keep "
        f"{model.kept / 1e3:.1f} GB."]
    rows, nodes = [], 1
    while True:
        rate, end = model.forecast(nodes, node_cores, database_cores, log_bytes, requests)
        rows.append(f"| {nodes} | {rate:.0f} | {end} |")
        if end != "the nodes" or nodes >= 1024:
            break
        nodes *= 2
    found.append("\n".join([
        f"| nodes of {node_cores} processors | pictures a second | what ends there |", "|---|---|---|", *rows]))
    found.append(
        f"Told for {database_cores} processors of PostgreSQL, a log of {log_bytes / 1e6:.0f} MB and {requests:.0f} requests of the bucket a "
        "second (`Benchmarks/scaling.py` takes others). It is a forecast far beyond what was measured: contention is taken to grow "
        "evenly.")
    return found


def read(file):
    """The model of what was measured last."""
    part = next((part for part in json.load(file) if part["part"] == "scale" and not part["failure"]), None)
    if part is None:
        raise ValueError("nothing was measured: make bench BENCH_OPTIONS='--only scale'")
    findings = part["findings"]
    samples = {one["name"]: statistics.median(one["samples"]) for one in findings["measurements"]}
    points = []
    for row in findings["comparisons"][0]["rows"]:
        nodes, quota = row["name"].split("x")
        if "not fitted" not in row["title"]:
            columns = (row["figures"][name] for name in ("rate", "node", "database", "bucket"))
            points += [
                Point(int(nodes), float(quota), rate, node / 1e3, database / 1e3, bucket / 1e3)
                for rate, node, database, bucket in zip(*columns)]
    return Model.fitted(points, samples["scale.log"] * 1e3, samples["scale.kept"] * 1e3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=argparse.FileType(), default=".bench/results.json")
    parser.add_argument("--node-cores", type=float, default=4, help="processors of each node")
    parser.add_argument("--database-cores", type=float, default=16, help="processors of PostgreSQL")
    parser.add_argument("--log-mb", type=float, default=100, help="of PostgreSQL's log that its disk takes a second")
    parser.add_argument("--requests", type=float, default=5000, help="that the bucket takes a second")
    chosen = parser.parse_args()
    try:
        model = read(chosen.results)
    except ValueError as error:
        sys.exit(f"scaling: {error}")
    print("\n\n".join(told(model, chosen.node_cores, chosen.database_cores, chosen.log_mb * 1e6, chosen.requests)))


if __name__ == "__main__":
    main()
