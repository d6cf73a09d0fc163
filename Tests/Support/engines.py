"""The engines of the scaled service, for those who show or measure it: PostgreSQL and Ceph's gateway on this machine's loopback,
each for as long as a `with` lasts. They need what install-dependencies.sh installs for tests."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

GATEWAY = pathlib.Path(__file__).resolve().parent / "s3/gateway.sh"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(what, ask, patience=60):
    """Until `ask` raises nothing of the network; gives what it gave."""
    end = time.monotonic() + patience
    while True:
        try:
            return ask()
        except (OSError, RuntimeError) as error:
            if time.monotonic() > end:
                sys.exit(f"{what} didn't come up: {error}")
            time.sleep(0.1)


class Database:
    """PostgreSQL on a port of its own, with a database `satchel` of the role `satchel`."""

    def __init__(self, place, port, settings=(), prefix=()):
        """`settings` are the server's, as `name=value`; `prefix` is a command that it is run by, `taskset …` say."""
        bins = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: int(file.parts[-3]))
        if not bins:
            sys.exit("PostgreSQL's server is missing: ./install-dependencies.sh test")
        self.bin, self.place, self.port, self.settings, self.process = bins[-1].parent, place, port, settings, None
        # The server won't run as root.
        guise = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []
        self.guise = [*prefix, *guise]
        place.mkdir()
        if guise:
            shutil.chown(place, "postgres", "postgres")
        self.run("initdb", "-D", place / "data", "-A", "trust", "-U", "satchel", "-E", "UTF8", "--locale=C")

    @property
    def url(self):
        return f"postgres://satchel@127.0.0.1:{self.port}/satchel"

    def run(self, program, *arguments):
        """What it says."""
        made = subprocess.run(
            [*self.guise, self.bin / program, *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/",
            text=True)
        return made.stdout

    def ask(self, sql):
        """The rows of one statement, each a list of texts."""
        found = self.run("psql", "-XAtq", "-F", "\t", "-d", self.url, "-c", sql)
        return [line.split("\t") for line in found.splitlines()]

    @contextlib.contextmanager
    def running(self):
        settings = ["log_min_messages=fatal", "log_checkpoints=off", *self.settings]
        self.process = subprocess.Popen(
            [*self.guise, self.bin / "postgres", "-D", self.place / "data", "-p", str(self.port), "-h", "127.0.0.1",
             "-k", self.place, *(word for setting in settings for word in ("-c", setting))],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        try:
            wait_for("PostgreSQL", lambda: socket.create_connection(("127.0.0.1", self.port), 1).close())
            wait_for("the database", self._create)
            yield self
        finally:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()

    def _create(self):
        try:
            self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "satchel", "satchel")
        except subprocess.CalledProcessError as error:
            raise RuntimeError(error) from error


class Gateway:
    """Ceph's gateway with a bucket `satchel`."""

    def __init__(self, place, prefix=()):
        self.place, self.prefix, self.process, self.environment = place, prefix, None, {}

    @contextlib.contextmanager
    def running(self):
        self.process = subprocess.Popen(
            [*self.prefix, GATEWAY, self.place, "satchel"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if self.process.stdout.readline().strip() != "ready":
                sys.exit("Ceph's gateway didn't come up")
            words = (self.place / "env").read_text().replace("export", "").split()
            self.environment = dict(word.split("=", 1) for word in words)
            yield self
        finally:
            self.process.stdin.close()
            self.process.wait()


def settings(database, gateway, prefix, keys):
    """The environment of nodes that share both; `prefix` is theirs in the bucket, `keys` the file of their access keys."""
    return {
        **gateway.environment, "SATCHEL_STORE": database.url, "SATCHEL_BLOBS": f"s3://satchel/{prefix}",
        "SATCHEL_S3_ENDPOINT": gateway.environment["AWS_ENDPOINT_URL_S3"], "SATCHEL_S3_PATH_STYLE": "true",
        "SATCHEL_ACCESS_KEYS": str(keys)}
