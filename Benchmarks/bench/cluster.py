"""Nodes over one database and one bucket: the engines on a processor of their own, the nodes on what is left, each with its share."""

import os
import sys
import uuid
from contextlib import ExitStack, contextmanager
from pathlib import Path

from . import Failure, processes
from .commands import Command, usable_cores
from .service import Service, free_port

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Support"))
import engines  # noqa: E402

_GROUPS = Path("/sys/fs/cgroup")


class Cluster:
    """Keeps what nodes share while a `with` lasts."""

    def __init__(self, run):
        cores = usable_cores()
        if len(cores) < 2:
            raise Failure("engines and nodes need a processor each, and there is one")
        self.run, self.engine_cores, self.node_cores = run, cores[-1:], cores[:-1]
        self.stack = ExitStack()

    def __enter__(self):
        # Whoever asks is no node either.
        self.stack.callback(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        os.sched_setaffinity(0, self.engine_cores)
        place = self.run.workplace.unique("cluster")
        place.mkdir()
        # The server's user isn't this one.
        place.chmod(0o755)
        pinned = ["taskset", "-c", ",".join(map(str, self.engine_cores))]
        try:
            self.database = self.stack.enter_context(
                engines.Database(place / "database", free_port(), ["max_connections=200"], pinned).running())
            self.gateway = self.stack.enter_context(engines.Gateway(place / "bucket", pinned).running())
        except SystemExit as error:
            self.stack.close()
            raise Failure(str(error)) from error
        self.environment = {
            **engines.settings(self.database, self.gateway, "bench", place / "keys"), "SATCHEL_QUOTAS_SUBMISSIONS_PER_MINUTE": "1000000",
        }
        Command([self.run.workplace.satchel_program, "store", "migrate"], self.environment).run()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def node(self, *settings, quota=None):
        """A `with` of one more node. `quota` is the part of a processor that it gets; all that it can use where it is None."""
        place = self.run.workplace.unique("spool")
        return Service(
            self.run.workplace, "--set", f"spool={place}", *settings, environment=self.environment, cores=self.node_cores,
            prefix=[] if quota is None else _share(quota))

    @contextmanager
    def nodes(self, count, *settings, quota=None):
        with ExitStack() as stack:
            yield [stack.enter_context(self.node(*settings, quota=quota)) for _ in range(count)]

    def database_cpu(self):
        """Seconds of processors so far, those of connections that ended included."""
        return processes.cpu(self.database.process.pid)

    def gateway_cpu(self):
        return processes.cpu(self.gateway.process.pid)

    def log_bytes(self):
        """Of the database's log, so far."""
        return int(self.database.ask("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")[0][0])

    def kept_bytes(self):
        """What the database's tables and indexes take once they are tidied."""
        self.database.ask("VACUUM FULL")
        return int(self.database.ask("SELECT pg_database_size('satchel')")[0][0])


def _share(quota):
    """The words that put a program, and all that it starts, into a control group with this part of a processor."""
    name, period = f"satchel-bench-{uuid.uuid4()}", 100_000
    # The older kind has a tree for each resource.
    place = _GROUPS / "cpu" if (_GROUPS / "cpu").is_dir() else _GROUPS
    try:
        group = place / name
        group.mkdir()
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / "cpu.cfs_quota_us").write_text(str(int(quota * period)))
        else:
            (group / "cpu.max").write_text(f"{int(quota * period)} {period}")
    except OSError as error:
        raise Failure(f"a share of a processor for each node needs control groups, as root: {error}") from error
    return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(group / "cgroup.procs")]


def remove_shares():
    """The groups of programs that have ended."""
    for place in (_GROUPS / "cpu", _GROUPS):
        for group in place.glob("satchel-bench-*"):
            try:
                group.rmdir()
            except OSError:
                pass  # somebody is still in it
