"""The showcase of `make demo`: what it prints, its page, and what it takes for a fault.

    PYTHONPATH=Tests/System SATCHEL=.build/debug/satchel python3 -B -m unittest -q demo.test_demo
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SATCHEL = (ROOT / os.environ.get("SATCHEL", ".build/debug/satchel")).resolve()
SAMPLES = ["earth.jpg", "cup.jpg", "IMG_0042.HEIC", "rocket.jpg", "film.gif", "clip.mp4", "voice.flac", "hostile.png"]


class DemoTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(dir="/tmp", prefix="d")
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)

    def run_demo(self, satchel=SATCHEL):
        return subprocess.run(
            [ROOT / "Media/demo.sh", satchel, self.place], capture_output=True, text=True, check=False, timeout=120)

    def wrapper(self, text):
        """A satchel that does something else for one command."""
        path = self.place / "satchel"
        path.write_text(f'#!/bin/sh\nreal={SATCHEL}\n{text}\n', encoding="utf-8")
        path.chmod(0o755)
        return path

    def test_output_and_page(self):
        # The second run begins with what the first one left.
        for _ in range(2):
            done = self.run_demo()
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), 23, "with a prompt, it fits a screen")
        self.assertLessEqual(max(map(len, lines)), 80)
        rows = {line.split()[0]: line for line in lines if line.split()[:1] and line.split()[0] in SAMPLES}
        self.assertEqual(list(rows), SAMPLES)
        for name, removed in {
            "earth.jpg": "camera, date", "cup.jpg": "GPS, camera, texts", "IMG_0042.HEIC": "GPS, camera, texts",
            "rocket.jpg": "camera, rotation", "film.gif": "-", "clip.mp4": "8 of 18 s", "voice.flac": "texts",
            "hostile.png": "too_many_pixels",
        }.items():
            self.assertRegex(rows[name], rf" \d\.\d\d s  {removed}$")
        self.assertRegex(rows["earth.jpg"], r" 880 kB +4032×3024 +\d+ kB +1038×779 ")
        grown = [name for name in rows if "*" in rows[name]]
        for name in grown:
            self.assertTrue(any(line.startswith(f"* {name} grew: ") for line in lines), name)
        samples = json.loads((ROOT / "Media/manifest.json").read_text(encoding="utf-8"))["files"]
        self.assertIn(f"make demo-all prepares all {len(samples)} samples", lines[-1])

        page = (self.place / "index.html").read_text(encoding="utf-8")
        paths = re.findall(r'(?:src|href|poster)="([^"]*)"', page)
        self.assertTrue(all((self.place / path).is_file() for path in paths), paths)
        for name in SAMPLES:
            self.assertEqual(f"samples/{name}" in paths, name != "hostile.png", name)
            self.assertEqual(any(path.startswith(f"results/{name}.main.") for path in paths), name != "hostile.png", name)
        self.assertEqual(
            (self.place / "opened.jpg").read_bytes(), (self.place / "results/earth.jpg.main.jpg").read_bytes())

    def test_a_result_that_keeps_the_place_is_a_fault(self):
        done = self.run_demo(self.wrapper(
            f'"$real" "$@"; status=$?\n'
            f'[ "$1" != batch ] || cp {self.place}/samples/cup.jpg {self.place}/results/cup.jpg.main.jpg\nexit $status'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cup.jpg: the result has GPS, camera, texts", done.stderr)

    def test_a_lease_that_outlives_its_revocation_is_a_fault(self):
        done = self.run_demo(self.wrapper('[ "$1" = revoke ] || exec "$real" "$@"'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("after it was revoked", done.stderr)

    def test_a_sample_that_fails_is_a_fault(self):
        done = self.run_demo(self.wrapper(
            f'[ "$1" != batch ] || cp Media/trouble/truncated.jpg {self.place}/samples/rocket.jpg\nexec "$real" "$@"'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("Another file than hostile.png failed", done.stderr)


if __name__ == "__main__":
    unittest.main()
