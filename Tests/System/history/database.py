"""PostgreSQL: a primary and a synchronous standby, which take turns."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from history.tools import run, wait_for

USER = DATABASE = "satchel"
PORT = 5432

# What is asked of the records at the end is asked of their past, too: the product has no triggers, this test's database does.
WITNESS = """
CREATE TABLE witness (
    seq bigserial PRIMARY KEY, at float8 NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
    txid bigint NOT NULL DEFAULT txid_current(), client inet DEFAULT inet_client_addr(),
    what text NOT NULL, job bigint NOT NULL, generation int, claim uuid, earlier uuid, state text, earlier_state text,
    was_over boolean, was_dead boolean);
CREATE FUNCTION witness_queue() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO witness (what, job, generation, earlier) VALUES ('gone', OLD.job, OLD.generation, OLD.claim);
    ELSE
        INSERT INTO witness (what, job, generation, claim, earlier, was_over, was_dead) VALUES (
            CASE WHEN NEW.generation <> OLD.generation THEN 'renewed' WHEN NEW.claim IS NULL THEN 'freed' ELSE 'claimed' END,
            NEW.job, NEW.generation, NEW.claim, OLD.claim, OLD.claimed_until <= extract(epoch FROM clock_timestamp()) * 1000,
            OLD.node IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM nodes WHERE nodes.id = OLD.node
                    AND abs(heartbeat_at - extract(epoch FROM clock_timestamp()) * 1000) < 10000));
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION witness_jobs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness (what, job, generation, claim, state, earlier_state)
    VALUES ('ended', NEW.key, NEW.generation, NEW.delivered_claim, NEW.state, OLD.state);
    RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER UPDATE ON queue FOR EACH ROW WHEN (OLD.claim IS DISTINCT FROM NEW.claim)
    EXECUTE FUNCTION witness_queue();
CREATE TRIGGER witness_end AFTER DELETE ON queue FOR EACH ROW EXECUTE FUNCTION witness_queue();
CREATE TRIGGER witness AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (NEW.state <> 'pending' AND (OLD.state, OLD.delivered_claim, OLD.finished_at)
        IS DISTINCT FROM (NEW.state, NEW.delivered_claim, NEW.finished_at))
    EXECUTE FUNCTION witness_jobs();
"""


def programs():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: int(file.parts[-3]))
    if not found:
        raise SystemExit("PostgreSQL's server is missing: ./install-dependencies.sh test")
    return found[-1].parent


def guise():
    """The server won't run as root; in a namespace of one ordinary user there is nobody else to become but by another one."""
    fields = pathlib.Path("/proc/self/uid_map").read_text().split()
    if os.getuid() != 0:
        return []
    if len(fields) > 3 or fields[:2] == ["0", "0"]:
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]


class Server:
    def __init__(self, place, address, directory, machine):
        self.place, self.address, self.directory, self.machine = place, address, directory, machine
        self.data = directory / "data"
        self.guise, self.bin = guise(), programs()
        directory.mkdir()
        if self.guise[:1] == ["setpriv"]:
            shutil.chown(directory, "postgres", "postgres")

    def tool(self, program, *words):
        return run(*self.place.command(*self.guise, self.bin / program, *words), cwd="/")

    def start(self, database=DATABASE):
        with open(self.directory / "server.log", "ab") as log:
            subprocess.Popen(
                self.place.command(
                    *self.guise, *self.machine.settings, self.bin / "postgres", "-D", self.data, "-p", PORT, "-h", self.address,
                    "-k", self.directory, "-c", "max_wal_size=256MB", "-c", "wal_keep_size=128MB", "-c", "shared_buffers=64MB"),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True)
        wait_for(f"PostgreSQL at {self.address}", lambda: self.psql("SELECT 1", database))

    def query(self, sql):
        """The rows, as values."""
        text = self.psql(f"SELECT coalesce(json_agg(asked), '[]') FROM ({sql}) AS asked")
        return json.loads(text)

    def psql(self, sql, database=DATABASE):
        return run(
            "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.address, "-p", PORT, "-U", USER, "-d", database, "-c", sql,
            env={**os.environ, "PGCONNECT_TIMEOUT": "5"})

    def processes(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd") == str(self.data):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def signal(self, number):
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """All of it at one moment, as a machine that lost its power."""
        self.signal(signal.SIGSTOP)
        while self.processes():
            self.signal(signal.SIGKILL)


class Databases:
    """Two servers on one machine, whose clock is the service's time."""

    def __init__(self, place, directory, machine):
        self.place, self.machine = place, machine
        first, second = (
            Server(place, address, directory / f"database-{number}", machine) for number, address in enumerate(place.addresses, 1))
        first.tool("initdb", "-D", first.data, "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync")
        with open(first.data / "pg_hba.conf", "a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n")
        self.primary, self.standby = first, second
        with open(first.data / "postgresql.conf", "a") as settings:
            settings.write("log_min_messages = panic\nlog_checkpoints = off\n")
        first.start("postgres")
        first.psql(f"CREATE DATABASE {DATABASE}", "postgres")
        self.make_standby()

    @property
    def url(self):
        hosts = ",".join(f"{address}:{PORT}" for address in self.place.addresses)
        return f"postgres://{USER}@{hosts}/{DATABASE}"

    def query(self, sql):
        return self.primary.query(sql)

    def make_standby(self):
        """A copy of the primary that has to have each commit before it is answered."""
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.standby.tool(
            "pg_basebackup", "-h", self.primary.address, "-p", PORT, "-U", USER, "-D", self.standby.data, "-R", "-X", "stream",
            "--checkpoint=fast", "--no-sync")
        self.standby.start()
        self.primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.psql("SELECT pg_reload_conf()")
        self.await_standby()

    def await_standby(self):
        """Until it has all that was committed."""
        wait_for("the standby", lambda: self.query(
            "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming' AND flush_lsn >= pg_current_wal_flush_lsn()"))

    def fail_over(self, pause):
        self.primary.kill()
        time.sleep(pause)
        self.primary, self.standby = self.standby, self.primary
        self.primary.tool("pg_ctl", "promote", "-D", self.primary.data, "-w")

    def lose_answers(self, pause):
        """Commits of the nodes that become durable, and whose connections end before the answer; how many."""
        self.standby.signal(signal.SIGSTOP)
        try:
            time.sleep(pause)
            lost = self.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'satchel%'")
        finally:
            self.standby.signal(signal.SIGCONT)
        self.await_standby()
        return len(lost)
