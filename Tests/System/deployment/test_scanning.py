"""Scanning by Debian's clamd, with signatures of the test's own: what it finds is delivered by nobody, and while it is away
nothing is."""

import contextlib
import hashlib
import json
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock

from deployment import ENVIRONMENT, ROOT, SATCHEL
from test_uploads import Service

# EICAR's file for tests of scanners (https://www.eicar.org), in two parts so that no scanner takes this one for it.
EICAR = (r"X5O!P%@AP[4\PZX54(P^)7CC)7}$" + "EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*").encode()
PICTURE = (ROOT / "Media/png/alpha.png").read_bytes()


class Clamd:
    """clamd on a socket of its own, which knows nothing but EICAR's file, alone and within another."""

    def __init__(self, home):
        self.home, self.process = pathlib.Path(home), None
        self.socket = self.home / "clamd.ctl"
        signatures = self.home / "signatures"
        signatures.mkdir()
        (signatures / "eicar.hdb").write_text(f"{hashlib.md5(EICAR).hexdigest()}:{len(EICAR)}:Eicar\n", encoding="ascii")
        (signatures / "eicar.ndb").write_text(f"Eicar-Within:0:*:{EICAR.hex()}\n", encoding="ascii")
        (self.home / "clamd.conf").write_text(
            f"Foreground yes\nLocalSocket {self.socket}\nDatabaseDirectory {signatures}\nTemporaryDirectory {home}\n",
            encoding="utf-8")

    def start(self):
        with open(self.home / "clamd.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/clamd", "-c", self.home / "clamd.conf"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as ping:
                ping.connect(str(self.socket))
                ping.sendall(b"zPING\0")
                if ping.recv(16) == b"PONG\0":
                    return
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError((self.home / "clamd.log").read_text(encoding="utf-8"))
            time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class ScanningTest(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.clamd = Clamd(self.home)
        self.clamd.start()
        self.addCleanup(lambda: self.clamd.process.poll() is None and self.clamd.stop())
        self.scanning = {"SATCHEL_SCAN_SOCKET": str(self.clamd.socket)}

    def submit(self, service, body, name, deadline=20):
        status, _, answer = service.ask(
            "PUT", f"/v1/jobs/{name}?deadline={deadline}", body, {"Content-Type": "image/png", "Prefer": "wait=30"})
        self.assertIn(status, (200, 201), answer)
        job = json.loads(answer)
        return job["state"], job["attachments"][0]

    def test_what_clamd_finds_is_not_delivered_and_while_it_is_away_nothing_is(self):
        with unittest.mock.patch.dict(ENVIRONMENT, self.scanning):
            service = Service(self.home)
        self.addCleanup(service.stop)
        state, picture = self.submit(service, PICTURE, "clean")
        self.assertEqual(state, "delivered", picture)
        scan = next(step for step in picture["steps"] if step["name"] == "scan")
        self.assertTrue(scan["note"].startswith(f"clean, by the scanner: {len(PICTURE)} bytes"), scan)
        for name, body, found in [("eicar", EICAR, "Eicar"), ("within", PICTURE + EICAR, "Eicar-Within")]:
            state, rejected = self.submit(service, body, name)
            self.assertEqual((state, rejected["error"]["code"]), ("failed", "rejected_by_scan"), rejected)
            self.assertIn(found, rejected["error"]["message"])
            self.assertFalse(rejected["error"]["retryable"])
        self.clamd.stop()
        # Not the bytes that were found to be clean.
        state, failed = self.submit(service, PICTURE + b"other", "away")
        self.assertEqual((state, failed["error"]["code"]), ("failed", "scan_failed"), failed)
        self.assertTrue(failed["error"]["retryable"])
        self.clamd.start()
        status, _, answer = service.ask("POST", "/v1/jobs/away/retry")
        self.assertEqual(status, 202, answer)
        status, _, answer = service.ask("GET", "/v1/jobs/away", headers={"Prefer": "wait=30"})
        self.assertEqual(json.loads(answer)["state"], "delivered", answer)
        metrics = service.ask("GET", "/metrics")[2].decode()
        for verdict, least in [("clean", 2), ("rejected", 2), ("failed", 1)]:
            line = next(line for line in metrics.splitlines() if f'satchel_scans_total{{verdict="{verdict}"}}' in line)
            self.assertGreaterEqual(float(line.split()[-1]), least)

    def test_files_of_a_batch_are_scanned_too(self):
        files = self.home / "files"
        files.mkdir()
        (files / "clean.png").write_bytes(PICTURE)
        (files / "within.png").write_bytes(PICTURE + EICAR)
        environment = {
            **ENVIRONMENT, **self.scanning, "HOME": str(self.home), "SATCHEL_STORE": f"{self.home}/store",
            "SATCHEL_ACCESS_KEYS": f"{self.home}/access.keys"}
        batch = subprocess.run(
            [SATCHEL, "batch", files, "--codecs", "1", "--format", "jsonl"], env=environment, capture_output=True, text=True, check=False)
        lines = {pathlib.Path(line["path"]).name: line for line in map(json.loads, batch.stdout.splitlines())}
        self.assertEqual(lines["clean.png"]["state"], "delivered", batch.stderr)
        self.assertEqual(lines["within.png"]["error"]["code"], "rejected_by_scan", batch.stdout)
        added = subprocess.run(
            [SATCHEL, "add", files / "within.png"], env=environment, capture_output=True, text=True, check=False)
        self.assertNotEqual(added.returncode, 0)
        self.assertIn("Eicar-Within", added.stdout + added.stderr)


if __name__ == "__main__":
    unittest.main()
