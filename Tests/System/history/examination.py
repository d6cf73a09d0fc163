"""What is asked of the service when all is quiet: its tables, its bucket, and each rendition once more."""
import hashlib
import json
import time

from history.clients import Lessee, Reader
from history.history import now
from history.tools import wait_for

TABLES = {
    "jobs": "SELECT key, tenant, id, state, generation, delivered_claim, finished_at FROM jobs",
    "queue": "SELECT job, state, lane, attempt, due_at, claim FROM queue",
    "attachments": "SELECT tenant, id, job, generation, identifier, state, code, source FROM attachments",
    "renditions": "SELECT tenant, attachment, role, blob, encode(sha256, 'hex') AS sha256, bytes FROM renditions",
    "blobs": "SELECT tenant, name, encode(sha256, 'hex') AS sha256, bytes, refs, damaged FROM blobs",
    "retained_sources": "SELECT name FROM retained_sources",
    "garbage": "SELECT kind, name, floor(extract(epoch FROM clock_timestamp())) - due_at / 1000 AS age FROM garbage",
    "usage": """SELECT tenant, sum(stored_bytes)::bigint AS stored_bytes, sum(unfinished_jobs)::bigint AS unfinished_jobs,
        sum(open_leases)::bigint AS open_leases FROM usage GROUP BY tenant""",
    "leases": "SELECT tenant, count(*) AS open FROM access WHERE kind = 'lease' AND ended_at IS NULL GROUP BY tenant",
    "witness": "SELECT * FROM witness ORDER BY seq",
    "notifications": """SELECT tenant, id, generation, state, next_at - floor(extract(epoch FROM clock_timestamp()) * 1000) AS left
        FROM notifications""",
    "firings": """SELECT firings.id, firings.tenant, notifications.id AS notification, firings.generation, firings.number,
        firings.state, firings.place, firings.idempotency_key AS key
        FROM firings JOIN notifications ON notifications.key = firings.notification""",
    "calls": """SELECT calls.id, calls.tenant, calls.type, jobs.id AS job, calls.generation, calls.subject, calls.state, calls.reason,
        calls.attempt, calls.finished_at / 1000.0 AS finished, calls.due_at - floor(extract(epoch FROM clock_timestamp()) * 1000) AS left
        FROM calls LEFT JOIN jobs ON jobs.key = calls.job""",
    "uploads": "SELECT id, tenant, state, length, received, sha256, source FROM uploads",
    "responses": """SELECT responses.tenant, responses.id, responses.place, responses.firing, notifications.id AS notification
        FROM responses JOIN notifications ON notifications.key = responses.notification""",
}
PATIENCE = 240
# What is still to be done: jobs, notifications that are due by the clock of the database, firings without their payload.
UNDERWAY = """SELECT 1 AS one FROM queue
    UNION ALL SELECT 1 FROM notifications WHERE next_at <= floor(extract(epoch FROM clock_timestamp()) * 1000) + 6000
    UNION ALL SELECT 1 FROM firings WHERE waits_until IS NOT NULL
    UNION ALL SELECT 1 FROM calls WHERE state = 'pending' AND due_at <= floor(extract(epoch FROM clock_timestamp()) * 1000) + 30000 LIMIT 1"""


def settle(cluster):
    """Until every job has ended and what was due has fired, or too much time has passed; how long it took."""
    start = now()
    while now() - start < PATIENCE and cluster.databases.query(UNDERWAY):
        time.sleep(0.5)
    return now() - start


def examine(world):
    """After the clients have ended."""
    cluster, recorder = world.cluster, world.recorder
    for puller in world.pullers:
        for tenant in puller.cursors:
            wait_for("the last firings", lambda: puller.pull(tenant) == [])
    # One snapshot, so that its tables belong together.
    selections = ", ".join(
        f"'{name}', (SELECT coalesce(json_agg(asked), '[]') FROM ({sql}) AS asked)" for name, sql in TABLES.items())
    tables = cluster.databases.query(f"SELECT json_build_object({selections}) AS tables")[0]["tables"]
    recorder.note("table", name="objects", rows=[{"name": name, "bytes": size} for name, size in cluster.bucket.objects().items()])
    for name, rows in tables.items():
        recorder.note("table", name=name, rows=rows)
    recorder.note("table", name="ends", rows=[end for node in cluster.nodes for end in ends(node)])
    for row in tables["uploads"]:
        if row["state"] == "complete":
            start, data = now(), whole(cluster.bucket, row["source"])
            recorder.note(
                "call", op="open_whole", client="examiner", tenant=None, start=start, end=now(), status=200 if data is not None else 404,
                upload=row["id"], sha256=hashlib.sha256(data or b"").hexdigest())
    open_all(world, tables)


def whole(bucket, source):
    """An upload's bytes; None where some aren't there."""
    data = bucket.read(source + "/whole")
    if data is not None:
        return data
    parts = [bucket.read(f"{source}/{part['name']}") for part in json.loads(bucket.read(source + "/parts") or b"[null]") if part]
    return b"".join(parts) if parts and None not in parts else None


def ends(node):
    """The jobs that came to their end at a node, as its log has them."""
    for line in node.log.read_text(errors="replace").splitlines():
        if line.startswith("{") and '"message":"job"' in line:
            end = json.loads(line)
            yield {"client": node.place.address, "tenant": end["tenant"], "job": end["job"], "generation": end["generation"]}


def open_all(world, tables):
    """Each rendition that the records name, through each node in turn."""
    reader, renditions = Reader(world, "examiner"), {}
    for row in tables["renditions"]:
        renditions.setdefault((row["tenant"], row["attachment"]), {})[row["role"]] = row
    lessee = Lessee(world, "lessee-examiner")
    for number, ((tenant, attachment), roles) in enumerate(sorted(renditions.items())):
        lease = lessee.lease({"tenant": tenant, "attachment": attachment, "renditions": {role: row["sha256"] for role, row in roles.items()}})
        if lease is None:
            world.recorder.note("call", op="open", client="examiner", tenant=tenant, attachment=attachment, start=now(), end=now(), status=None)
            continue
        for role in roles:
            reader.read(lease, role, node=world.fronts[number % len(world.fronts)], op="open")
