"""Nodes, their database and their bucket, each in a network namespace of its own."""
import http.client
import json
import os
import random
import signal
import subprocess

from history.bucket import Bucket
from history.database import WITNESS, Databases
from history.machine import Disk, Machine, build
from history.network import HERE, Network
from history.tools import run, wait_for

PORT = 8080
TENANTS = ("north", "south")
# Of a node's maintenance, in seconds: so that what is garbage goes while somebody looks.
COLLECTION = 20
# Seconds by which clocks may differ that no fault steps.
CLOCKS = 2


# Below these free bytes a node takes no sources: its disk is small.
FREE_BYTES = 16 << 20


class Node:
    """One `satchel serve` on a machine of its own, started again after it was killed."""

    def __init__(self, cluster, name, place, role):
        self.cluster, self.name, self.place, self.role = cluster, name, place, role
        self.log = cluster.directory / f"{name}.log"
        self.machine = Machine(cluster.library, cluster.directory / f"{name}.machine")
        self.disk = Disk(cluster.directory / name)
        self.process, self.is_asleep = None, False

    @property
    def takes_requests(self):
        return self.role != "worker"

    def start(self):
        address = f"{self.place.address}:{PORT}"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.place.command(
                    *self.machine.settings, self.cluster.satchel, "serve", "--role", self.role, "--listen", address, "--public-url", f"http://{address}",
                    "--codecs", 1, "--memory", "1G", "--set", f"spool={self.disk.directory}"),
                env=self.cluster.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def status(self, path="/readyz"):
        connection = http.client.HTTPConnection(self.place.address, PORT, timeout=3)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def is_ready(self):
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended by itself:\n{self.log.read_text()[-2000:]}")
        return self.status() == 200

    def await_ready(self):
        wait_for(f"{self.name} to be ready", self.is_ready)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def drain(self):
        self.process.terminate()
        self.process.wait()

    def sleep(self):
        """With its codecs, as a machine does."""
        self.is_asleep = True
        os.killpg(self.process.pid, signal.SIGSTOP)

    def wake(self):
        os.killpg(self.process.pid, signal.SIGCONT)
        self.is_asleep = False


class Cluster:
    def __init__(self, satchel, directory, seed):
        self.satchel, self.directory = satchel, directory
        chance = random.Random(f"{seed}/cluster")
        self.network = Network()
        database = self.network.place("database", "10.77.0.2", "10.77.0.3")
        bucket = self.network.place("bucket", "10.77.0.4")
        self.bucket = Bucket(bucket, directory / "bucket")
        self.library = build(directory)
        self.databases = Databases(database, directory, Machine(self.library, directory / "database.machine"))
        self.environment = {
            **os.environ, **self.bucket.environment, "SATCHEL_STORE": self.databases.url, "SATCHEL_FETCH_ALLOW": HERE,
            "SATCHEL_CALLBACK_ALLOW": HERE, "SATCHEL_INTAKE_FREE_BYTES": str(FREE_BYTES),
            "SATCHEL_ACCESS_KEYS": str(directory / "access.keys"), "SATCHEL_QUOTAS_SUBMISSIONS_PER_MINUTE": "1000000",
            "SATCHEL_MAINTENANCE_INTERVAL": str(COLLECTION), "SATCHEL_POSTGRES_CONNECTIONS": "8"}
        self.command("store", "migrate")
        self.databases.primary.psql(WITNESS)
        self.keys = {tenant: self.key(tenant, "admin") for tenant in TENANTS}
        self.secrets = {tenant: self.command("key", "callback-secret", "--tenant", tenant).strip() for tenant in TENANTS}
        roles = chance.choice([["all", "all", "all"], ["all", "api", "worker"]])
        self.nodes = [
            Node(self, f"node-{number}", self.network.place(f"node-{number}", f"10.77.0.{10 + number}"), role)
            for number, role in enumerate(roles, 1)]
        for node in self.nodes:
            node.machine.set_clock(chance.uniform(-CLOCKS, CLOCKS))
            node.start()
        for node in self.nodes:
            node.await_ready()

    def command(self, *words):
        return run(self.satchel, *words, env=self.environment)

    def key(self, tenant, role):
        made = self.command(
            "key", "create", "--name", "history", "--tenant", tenant, "--role", role, "--format", "json")
        return json.loads(made)["key"]
