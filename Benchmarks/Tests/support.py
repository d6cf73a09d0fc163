"""What tests share: a run over a directory of their own, with programs that only have to be there."""

import shutil
import tempfile
import unittest
from pathlib import Path

from bench.__main__ import options
from bench.workplace import Run


class RunTestCase(unittest.TestCase):
    def setUp(self):
        self.home = Path(tempfile.mkdtemp(prefix="bench-"))
        self.addCleanup(shutil.rmtree, self.home)
        (self.home / "programs").mkdir()
        for name in ("satchel", "satchel-codec"):
            shutil.copy("/bin/true", self.home / "programs" / name)

    def run_of(self, *arguments):
        place = ["--directory", str(self.home), "--programs", str(self.home / "programs")]
        return Run.of(options([*place, *arguments]))
