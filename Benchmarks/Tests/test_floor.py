"""What pgbench runs is what Satchel runs."""

import unittest
from pathlib import Path

from bench import floor

_SOURCES = Path(__file__).resolve().parents[2] / "Sources/Service/Stores"

# Of each statement what decides its cost.
_SHARED = (
    "ORDER BY rank, job LIMIT",
    "SELECT * FROM first UNION ALL SELECT * FROM second",
    "UPDATE queue SET state = 'running', attempt = attempt + 1, claim = ",
    "JOIN queue ON queue.job = attachments.job AND queue.generation = attachments.generation",
    "DO UPDATE SET rank = greatest(virtual_time.rank, excluded.rank)",
    "ORDER BY job FOR UPDATE",
    "ORDER BY jobs.key FOR UPDATE OF jobs",
    "FROM queue JOIN attachments ON attachments.job = queue.job",
    "INSERT INTO tombstones (name, made_at) SELECT",
    "INSERT INTO blobs (tenant, sha256, name, bytes, refs)",
    "ON CONFLICT (tenant, sha256) WHERE NOT damaged DO UPDATE SET refs =",
    "DELETE FROM tombstones WHERE name = ANY(",
    "INSERT INTO renditions (tenant, attachment, role, blob, sha256, bytes, media_type, width, height,",
    "DELETE FROM queue WHERE job = ",
    "UPDATE jobs SET state = ",
    "DO UPDATE SET stored_bytes = usage.stored_bytes + excluded.stored_bytes,",
    "LEFT JOIN calls ON calls.job = jobs.key AND calls.generation = jobs.generation",
)


def _plain(text):
    return " ".join(text.split())


class FloorTests(unittest.TestCase):
    def test_its_statements_are_those_of_the_store(self):
        sources = _plain(" ".join(file.read_text() for file in sorted(_SOURCES.rglob("*.swift"))))
        script = _plain(floor.script(2))
        for words in map(_plain, _SHARED):
            self.assertIn(words, sources)
            self.assertIn(words, script)

    def test_a_group_is_recorded_job_by_job(self):
        self.assertEqual(floor.script(32).count("DELETE FROM queue WHERE job = "), 32)
        self.assertEqual(floor.script(32).count("INSERT INTO renditions"), 64)
