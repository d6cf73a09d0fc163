import os
import pathlib
import subprocess
import tempfile
import unittest

from soak.samples import NAMED, TABLES, Records

MEDIA = pathlib.Path(__file__).resolve().parents[4] / "Media"


class SampleTests(unittest.TestCase):
    def test_the_store_has_what_is_looked_at_and_tells_what_ends(self):
        with tempfile.TemporaryDirectory() as home:
            store = pathlib.Path(home) / "store"
            environment = {**os.environ, "SATCHEL_STORE": str(store), "SATCHEL_ACCESS_KEYS": f"{home}/access.keys"}

            def add(name):
                subprocess.run(
                    [os.environ["SATCHEL"], "add", MEDIA / name], env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)
            add("jpeg/coffee.jpg")
            records = Records(store)
            records.watch()
            add("jpeg/rocket-portrait.jpg")
            for sql in (*NAMED.values(), *TABLES.values()):
                records.query(sql)
            self.assertEqual(["gone", "ended"], sorted((row["what"] for row in records.query(TABLES["witness"])), reverse=True))
            self.assertEqual(0, records.underway())
            self.assertEqual([], records.strays(youth=0))
