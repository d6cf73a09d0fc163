"""What the service holds: memory and processes as the kernel tells them, files that no record names, and, by triggers that its database
has for this, what ended."""
import os
import pathlib
import re
import sqlite3
import time

from storm.service import codecs

# Of the database alone that the soak uses; rows as `history.checker` reads them.
WITNESS = """
CREATE TABLE witness (
    seq INTEGER PRIMARY KEY, what TEXT NOT NULL, job INTEGER NOT NULL, generation INTEGER NOT NULL, state TEXT, earlier_state TEXT,
    claim TEXT, earlier TEXT);
CREATE TRIGGER witness_gone AFTER DELETE ON queue BEGIN
    INSERT INTO witness (what, job, generation, earlier) VALUES ('gone', OLD.job, OLD.generation, OLD.claim);
END;
CREATE TRIGGER witness_end AFTER UPDATE OF state, finished_at, delivered_claim ON jobs
WHEN NEW.state <> 'pending' AND (OLD.state, OLD.finished_at, OLD.delivered_claim)
    IS NOT (NEW.state, NEW.finished_at, NEW.delivered_claim)
BEGIN
    INSERT INTO witness (what, job, generation, state, earlier_state, claim)
    VALUES ('ended', NEW.key, NEW.generation, NEW.state, OLD.state, NEW.delivered_claim);
END;
"""
# Whose files these are, by directory.
NAMED = {
    "spool": """SELECT source FROM attachments WHERE source IS NOT NULL
        UNION SELECT name FROM retained_sources UNION SELECT source FROM uploads WHERE finished_at IS NULL""",
    "staging": "SELECT '' WHERE false",
    "blobs": "SELECT name FROM blobs",
}
TABLES = {
    "jobs": "SELECT key, tenant, id, state, generation, delivered_claim, finished_at FROM jobs",
    "queue": "SELECT job, state, lane, attempt, due_at, claim FROM queue",
    "attachments": "SELECT tenant, id, job, generation, identifier, state FROM attachments",
    "witness": "SELECT *, 0 AS txid FROM witness ORDER BY seq",
}
# Files that are younger may belong to something that is underway.
YOUTH = 60


class Records:
    """The store's database, beside the service."""

    def __init__(self, store):
        self.path = store / "records.sqlite"

    def query(self, sql):
        connection = sqlite3.connect(self.path, timeout=20)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql)]
        finally:
            connection.close()

    def watch(self):
        connection = sqlite3.connect(self.path, timeout=20)
        connection.executescript(WITNESS)
        connection.close()

    def underway(self):
        return self.query("SELECT count(*) AS count FROM queue")[0]["count"]

    def strays(self, youth=YOUTH):
        """Files that are older, and no record's."""
        # Listed first: what comes meanwhile isn't among them, and what goes is neither.
        now, found = time.time(), {}
        for directory in NAMED:
            for path in (self.path.parent / directory).rglob("*"):
                try:
                    if path.is_file() and now - path.stat().st_mtime >= youth:
                        found.setdefault(directory, []).append(path)
                except FileNotFoundError:
                    pass
        strays = []
        for directory, paths in found.items():
            named = {next(iter(row.values())) for row in self.query(NAMED[directory])}
            strays += [path for path in paths if path.name not in named and path.exists()]
        return strays


def memory(process):
    """Bytes that come from no file; of what processes share each has its part. 0 of one that has ended. What a program has of files depends
    on who else on the machine has them open, and is the kernel's to drop."""
    try:
        rollup = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
        return 1024 * sum(int(kilobytes) for kilobytes in re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+)", rollup, re.MULTILINE))
    except OSError:
        return 0


def descriptors(process):
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return 0


def sample(service, records):
    """One look at all of it."""
    children = codecs(service.program)
    return {
        "service": memory(service.process.pid) / 1e6,
        "memory": sum(memory(process) for process in [service.process.pid, *children]) / 1e6,
        "descriptors": descriptors(service.process.pid), "processes": len(children) + 1, "files": len(records.strays()),
        "underway": records.underway()}
