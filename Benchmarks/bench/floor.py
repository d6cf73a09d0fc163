"""The floor of a queue in PostgreSQL: pgbench with the statements of claiming and delivering (`PostgresRecordStore+Claiming.swift` and
`+Delivering.swift`), prepared and pipelined as Satchel sends them, with the values that it would have computed given by SQL."""

import os
import re
import subprocess

from . import Failure

_TENANT, _SUBMISSION = "bench", "x" * 600

# Photographs that wait, of one attachment each.
_FILL = f"""
INSERT INTO profiles (digest, name, body) VALUES ('bench', 'bench', '{{}}') ON CONFLICT DO NOTHING;
WITH made AS (
    INSERT INTO jobs (tenant, id, run, generation, body_digest, profile, mode, priority, metadata, state, created_at)
    SELECT '{_TENANT}', gen_random_uuid()::text, '', 1, repeat('0', 64), (SELECT min(key) FROM profiles), 'lenient', 1, '{{}}', 'pending', 0
    FROM generate_series(1, :count) RETURNING key),
taken AS (
    INSERT INTO attachments (tenant, id, job, generation, ordinal, run, identifier, state, details, created_at)
    SELECT '{_TENANT}', gen_random_uuid(), key, 1, 0, '', 'photo', 'pending', repeat('x', 300), 0 FROM made)
INSERT INTO queue (job, tenant, run, lane, priority, rank, due_at, state, generation, submission, has_callback)
SELECT key, '{_TENANT}', '', 'fetch', 1, key, 0, 'pending', 1, '{_SUBMISSION}', false FROM made;
"""

_WAITING = """SELECT job, rank, interrupted FROM queue
    WHERE queue.run = '' AND queue.lane = 'fetch' AND queue.priority = {priority} AND queue.state = 'pending'
        AND queue.rank >= greatest(0, :low::bigint) AND (queue.due_at <= :now::bigint OR queue.due_at > :now::bigint + 600000)
    ORDER BY rank, job LIMIT {limit} FOR NO KEY UPDATE SKIP LOCKED"""

_CLAIM = f"""
SELECT floor(extract(epoch from statement_timestamp()) * 1000)::bigint AS now \\gset
BEGIN;
WITH first AS MATERIALIZED ({_WAITING.format(priority=0, limit=":group::int")}),
second AS MATERIALIZED ({_WAITING.format(priority=1, limit=":group::int - (SELECT count(*) FROM first)")}),
taken AS (
    SELECT *, row_number() OVER () AS number
    FROM (SELECT * FROM first UNION ALL SELECT * FROM second) AS both_lines),
claimed AS (
    UPDATE queue SET state = 'running', attempt = attempt + 1, claim = gen_random_uuid(),
        node = '00000000-0000-4000-8000-000000000000', claimed_until = :now::bigint + 30000, interrupted = false
    FROM taken WHERE queue.job = taken.job RETURNING queue.*, taken.number)
SELECT array_agg(job) AS jobs, array_agg(claim) AS claims, coalesce(max(rank), :low::bigint) AS reached,
    coalesce(min(rank) - 1000, :low::bigint) AS low, count(*) AS found, md5(random()::text) AS name
FROM claimed \\gset
\\startpipeline
SELECT jobs.key, jobs.tenant, jobs.id, jobs.run, profiles.body FROM jobs JOIN profiles ON profiles.key = jobs.profile
WHERE jobs.key = ANY(:jobs::bigint[]);
SELECT attachments.job, attachments.id, attachments.ordinal FROM attachments
    JOIN queue ON queue.job = attachments.job AND queue.generation = attachments.generation
WHERE attachments.job = ANY(:jobs::bigint[]) ORDER BY attachments.job, attachments.ordinal;
INSERT INTO virtual_time (lane, priority, slot, rank) VALUES ('fetch', 1, :client_id, :reached)
ON CONFLICT (lane, priority, slot) DO UPDATE SET rank = greatest(virtual_time.rank, excluded.rank);
COMMIT;
\\endpipeline
"""

_HOLD = """
BEGIN;
\\startpipeline
SELECT * FROM queue WHERE claim = ANY(:claims::uuid[]) ORDER BY job FOR UPDATE;
SELECT jobs.* FROM queue JOIN jobs ON jobs.key = queue.job WHERE queue.claim = ANY(:claims::uuid[]) ORDER BY jobs.key FOR UPDATE OF jobs;
SELECT attachments.* FROM queue JOIN attachments ON attachments.job = queue.job WHERE queue.claim = ANY(:claims::uuid[]);
\\endpipeline
SELECT array_agg(id ORDER BY job) AS attachments FROM attachments WHERE job = ANY(:jobs::bigint[]) \\gset
"""

_BLOBS = "generate_series(1, :found::int * 2) AS number"

_REFER = f"""
\\startpipeline
INSERT INTO tombstones (name, made_at) SELECT :name::text || number, :now::bigint FROM {_BLOBS} ORDER BY 1
ON CONFLICT DO NOTHING RETURNING name;
INSERT INTO blobs (tenant, sha256, name, bytes, refs)
SELECT '{_TENANT}', sha256((:name::text || number)::bytea), :name::text || number, 4096, 1 FROM {_BLOBS} ORDER BY 2
ON CONFLICT (tenant, sha256) WHERE NOT damaged DO UPDATE SET refs = blobs.refs + excluded.refs
RETURNING tenant, encode(sha256, 'hex') AS hash, name, bytes, refs;
DELETE FROM tombstones WHERE name = ANY(ARRAY(SELECT :name::text || number FROM {_BLOBS}));
\\endpipeline
"""

_RENDITION = f"""
INSERT INTO renditions (tenant, attachment, role, blob, sha256, bytes, media_type, width, height, duration)
VALUES ('{_TENANT}', (:attachments::uuid[])[{{index}}], '{{role}}', :name::text || {{number}}, sha256((:name::text || {{number}})::bytea),
    4096, 'image/jpeg', 1038, 779, NULL);"""

_RECORD = f"""
UPDATE attachments SET state = 'delivered', fidelity = 'full', kind = 'image', best = 'main', details = repeat('x', 600),
    finished_at = :now::bigint, expires_at = NULL, source = NULL
WHERE tenant = '{_TENANT}' AND id = (:attachments::uuid[])[{{index}}];
{{renditions}}
DELETE FROM queue WHERE job = (:jobs::bigint[])[{{index}}];
UPDATE jobs SET state = 'delivered', attempt = 1, deadline_at = NULL, delivered_claim = (:claims::uuid[])[{{index}}],
    finished_at = :now::bigint, expires_at = NULL
WHERE key = (:jobs::bigint[])[{{index}}];
"""

_FINISH = f"""
SELECT name FROM blobs WHERE name = ANY('{{}}'::text[]);
SELECT jobs.*, profiles.name AS profile_name, queue.state AS queue_state, calls.state AS call_state
FROM jobs JOIN profiles ON profiles.key = jobs.profile LEFT JOIN queue ON queue.job = jobs.key
    LEFT JOIN calls ON calls.job = jobs.key AND calls.generation = jobs.generation
WHERE jobs.key = ANY(:jobs::bigint[]);
SELECT attachments.* FROM attachments JOIN jobs ON jobs.key = attachments.job AND jobs.generation = attachments.generation
WHERE attachments.job = ANY(:jobs::bigint[]) ORDER BY attachments.job, ordinal;
SELECT renditions.*, encode(renditions.sha256, 'hex') AS hash FROM attachments
    JOIN jobs ON jobs.key = attachments.job AND jobs.generation = attachments.generation
    JOIN renditions ON renditions.tenant = attachments.tenant AND renditions.attachment = attachments.id
WHERE attachments.job = ANY(:jobs::bigint[]);
INSERT INTO usage VALUES ('{_TENANT}', :client_id, :found::int * 8192, -:found::int, 0)
ON CONFLICT (tenant, slot) DO UPDATE SET stored_bytes = usage.stored_bytes + excluded.stored_bytes,
    unfinished_jobs = usage.unfinished_jobs + excluded.unfinished_jobs, open_leases = usage.open_leases + excluded.open_leases;
COMMIT;
\\endpipeline
"""


def script(group):
    """Claims so many jobs and delivers them, each with two renditions that nobody had before."""
    recorded = "".join(
        _RECORD.format(index=index, renditions="".join(
            _RENDITION.format(index=index, role=role, number=2 * index - offset) for role, offset in (("main", 1), ("thumbnail", 0))))
        for index in range(1, group + 1))
    return _CLAIM + _HOLD + _REFER + "\\startpipeline\n" + recorded + _FINISH


def rate(database, place, group, jobs, clients=2, prefix=()):
    """Jobs a second by so many clients, of a server (`engines.Database`) whose database has the schema of a store.

    `prefix` is a command that pgbench is run by.
    """
    rounds = jobs // (group * clients)
    if not rounds:
        raise Failure(f"{jobs} jobs are fewer than {clients} groups of {group}")
    # Some more, so that nobody finds less than a whole group beside what others hold.
    spare = group * clients
    for statement in _FILL.replace(":count", str(rounds * group * clients + spare)).split(";\n"):
        if statement.strip():
            database.ask(statement)
    database.ask("ANALYZE")
    file = place / f"floor-{group}.sql"
    file.write_text(script(group))
    line = [
        *prefix, database.bin / "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", str(clients), "-t", str(rounds),
        "-D", f"group={group}", "-D", "low=0", "-f", file, database.url]
    # Plans as a node's connections make them.
    environment = os.environ | {"PGOPTIONS": "-c plan_cache_mode=force_generic_plan -c jit=off"}
    made = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    found = re.search(r"^tps = ([0-9.]+) \(without initial", made.stdout, re.M)
    failed = re.search(r"^number of failed transactions: ([0-9]+)", made.stdout, re.M)
    if made.returncode or not found or (failed and int(failed[1])):
        raise Failure(f"pgbench: {(made.stderr or made.stdout).strip()[-500:]}")
    left = int(database.ask("SELECT count(*) FROM queue")[0][0])
    if left != spare:
        raise Failure(f"pgbench left {left} jobs, not {spare}")
    database.ask("DELETE FROM jobs WHERE state = 'pending'")
    return float(found[1]) * group
