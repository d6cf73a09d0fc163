"""What pgbench runs is what Satchel runs."""

import re
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
    "DELETE FROM queue WHERE job = ",
    "UPDATE jobs SET state = ",
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

    def test_its_columns_are_those_of_the_store(self):
        renditions, jobs, usage = (
            self._columns(*place) for place in (
                ("Records/RecordStore+Delivering.swift", 'into: "renditions"'),
                ("Records/RecordStore+Delivering.swift", '"jobs",'),
                ("Engine/RecordTransaction.swift", 'to: "usage"')))
        script = _plain(floor.script(1))
        own = re.search(r"INSERT INTO renditions \((.*?)\)", script)[1].split(", ")
        # The others are those of encryption.
        self.assertEqual(renditions[:len(own)], own)
        self.assertEqual(jobs, re.findall(r"(\w+) = ", re.search(r"UPDATE jobs SET (.*?) WHERE", script)[1]))
        sums = re.findall(r"(\w+) = usage\.", script)
        self.assertEqual(usage, ["tenant", "slot", *sums])

    def _columns(self, name, call):
        """Those that are named in a statement's call."""
        source = (_SOURCES / name).read_text()
        start = source.index(call) + len(call)
        end = re.compile(r"\]\)\n|\)\.sql").search(source, start).start()
        return [name or other for name, other in re.findall(r'"(\w+)":|\("(\w+)",', source[start:end])]

    def test_a_group_is_recorded_job_by_job(self):
        self.assertEqual(floor.script(32).count("DELETE FROM queue WHERE job = "), 32)
        self.assertEqual(floor.script(32).count("INSERT INTO renditions"), 64)
