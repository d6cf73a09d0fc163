"""Uploads by clients that others wrote, directly and behind the shipped nginx: tuspy and curl go on where they were."""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import tusclient.client
import tusclient.exceptions

from deployment import ENVIRONMENT, SATCHEL, satchel
from test_nginx import fronted, free_port

CURL = shutil.which("curl")
BYTES = random.Random(7).randbytes(3 << 20)
HASH = hashlib.sha256(BYTES).hexdigest()


class Service:
    """`satchel serve` on a store of its own, which may be killed and started again."""

    def __init__(self, home, variables=None):
        self.home, self.port, self.process = pathlib.Path(home), free_port(), None
        self.environment = {
            **ENVIRONMENT, "HOME": str(home), "SATCHEL_STORE": f"{home}/store", "SATCHEL_ACCESS_KEYS": f"{home}/access.keys",
            **(variables or {})}
        made = satchel(
            "key", "create", "--name", "tests", "--role", "admin", "--format", "json", environment=self.environment)
        self.key = json.loads(made.stdout)["key"]
        self.start()

    def start(self):
        with open(self.home / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [SATCHEL, "serve", "--listen", f"127.0.0.1:{self.port}", "--codecs", "1"], env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError((self.home / "log").read_text(encoding="utf-8"))
            time.sleep(0.05)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Authorization": f"Bearer {self.key}", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def open(self, **wishes):
        status, _, body = self.ask("POST", "/v1/uploads", json.dumps(wishes), {"Content-Type": "application/json"})
        assert status == 201, body
        upload = json.loads(body)
        return upload["id"], "/u/" + upload["url"].rsplit("/", 1)[1]

    def upload(self, id):
        return json.loads(self.ask("GET", f"/v1/uploads/{id}")[2])

    def offset(self, path):
        _, headers, _ = self.ask("HEAD", path, headers={"Tus-Resumable": "1.0.0"})
        return int(headers["Upload-Offset"])


class Cutting:
    """A way to a port that breaks each connection after so many bytes towards it; the last bound is for all others."""

    def __init__(self, port, *bounds):
        self.target, self.bounds = port, list(bounds)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                bound = self.bounds.pop(0) if len(self.bounds) > 1 else self.bounds[0]
                server = socket.create_connection(("127.0.0.1", self.target), 30)
                threading.Thread(target=self.pass_on, args=(client, server, bound), daemon=True).start()
                threading.Thread(target=self.pass_on, args=(server, client, None), daemon=True).start()

    def pass_on(self, source, sink, bound):
        passed = 0
        with contextlib.suppress(OSError):
            while piece := source.recv(65536 if bound is None else min(65536, max(1, bound - passed))):
                sink.sendall(piece)
                passed += len(piece)
                if bound is not None and passed >= bound:
                    break
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()


class UploadTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.service = Service(cls.place.name)
        cls.addClassCleanup(cls.service.stop)
        cls.file = os.path.join(cls.place.name, "IMG_0042.MOV")
        pathlib.Path(cls.file).write_bytes(BYTES)

    def expect_whole(self, id):
        upload = self.service.upload(id)
        self.assertEqual((upload["state"], upload["length"], upload["sha256"]), ("complete", len(BYTES), HASH))

    def wait_for_bytes(self, id):
        """Until what was sent is recorded. Whoever asks the upload's URL ends what is underway, so the back end is asked."""
        end = time.monotonic() + 30
        while self.service.upload(id)["offset"] == 0:
            self.assertLess(time.monotonic(), end, "nothing was recorded")
            time.sleep(0.02)

    def by_tus(self, port, path, **options):
        client = tusclient.client.TusClient(f"http://127.0.0.1:{port}{path}")
        options = {"chunk_size": 1 << 20, "url": client.url, **options}
        return client.uploader(file_path=self.file, **options)

    @contextlib.contextmanager
    def behind_nginx(self):
        with fronted("nginx.conf", [f"127.0.0.1:{self.service.port}"]) as (port, log):
            yield port, log

    def test_tuspy_uploads_directly_and_behind_nginx_with_checksums_and_by_creation(self):
        with self.behind_nginx() as (front, _):
            for port in (self.service.port, front):
                id, path = self.service.open(length=len(BYTES))
                self.by_tus(port, path, upload_checksum=True).upload()
                self.expect_whole(id)
                client = tusclient.client.TusClient(
                    f"http://127.0.0.1:{port}/v1/uploads", headers={"Authorization": f"Bearer {self.service.key}"})
                uploader = client.uploader(
                    file_path=self.file, chunk_size=1 << 20, metadata={"filename": "IMG_0042.MOV"})
                # Where the service is known from outside isn't where it is here.
                uploader.set_url(f"http://127.0.0.1:{port}/u/" + uploader.create_url().rsplit("/", 1)[1])
                uploader.offset = 0
                uploader.upload()
                latest = json.loads(self.service.ask("GET", "/v1/uploads?limit=1")[2])["uploads"][0]
                self.assertEqual((latest["name"], latest["sha256"]), ("IMG_0042.MOV", HASH))

    def test_tuspy_goes_on_after_a_connection_was_cut(self):
        with self.behind_nginx() as (front, _):
            for port in (self.service.port, front):
                id, path = self.service.open(length=len(BYTES))
                # It asks first where it stands.
                way = Cutting(port, 1 << 30, 1 << 20, 1 << 30)
                self.addCleanup(way.close)
                with self.assertRaises((OSError, tusclient.exceptions.TusCommunicationError)):
                    self.by_tus(way.port, path, chunk_size=len(BYTES)).upload()
                self.wait_for_bytes(id)
                self.assertLess(self.service.offset(path), len(BYTES))
                uploader = self.by_tus(way.port, path)
                self.assertGreater(uploader.offset, 0, "what came before counts")
                uploader.upload()
                self.expect_whole(id)

    def test_no_offset_that_was_told_is_taken_back_when_the_service_is_killed(self):
        id, path = self.service.open(length=len(BYTES))
        told, pause = 0, random.Random(3)
        for _ in range(4):
            stop = threading.Event()

            def send(at=told):
                connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
                with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
                    connection.putrequest("PATCH", path)
                    for name, value in {
                        "Tus-Resumable": "1.0.0", "Upload-Offset": str(at), "Content-Length": str(len(BYTES) - at),
                        "Content-Type": "application/offset+octet-stream",
                    }.items():
                        connection.putheader(name, value)
                    connection.endheaders()
                    for start in range(at, len(BYTES), 50_000):
                        if stop.wait(0.06):
                            return
                        connection.send(BYTES[start:start + 50_000])

            sender = threading.Thread(target=send)
            sender.start()
            end = time.monotonic() + pause.uniform(1.0, 1.8)
            while time.monotonic() < end:
                # What the back end reads was told, too.
                told = max(told, self.service.upload(id)["offset"])
                time.sleep(0.02)
            self.service.kill()
            stop.set()
            sender.join()
            self.service.start()
            offset = self.service.offset(path)
            self.assertGreaterEqual(offset, told)
            told = offset
        self.assertGreater(told, 0)
        self.by_tus(self.service.port, path).upload()
        self.expect_whole(id)

    def curl(self, port, path, *options):
        return subprocess.run(
            [CURL, "-sS", "-o", "/dev/null", "-w", "%{http_code}", *options, "-T", self.file, f"http://127.0.0.1:{port}{path}"],
            capture_output=True, text=True, check=False, timeout=120)

    def test_curl_uploads_and_goes_on_behind_nginx_too(self):
        self.assertIsNotNone(CURL, "curl is missing")
        with self.behind_nginx() as (front, _):
            for port in (self.service.port, front):
                id, path = self.service.open()
                way = Cutting(port, 1 << 20, 1 << 30)
                self.addCleanup(way.close)
                self.assertNotEqual(self.curl(way.port, path).returncode, 0)
                self.wait_for_bytes(id)
                offset = self.service.offset(path)
                self.assertTrue(0 < offset < len(BYTES), offset)
                told = self.curl(way.port, path, "-C", str(offset))
                self.assertEqual((told.returncode, told.stdout), (0, "200"), told.stderr)
                self.expect_whole(id)

    def test_behind_nginx_a_client_that_asks_for_interim_responses_gets_its_answer(self):
        with self.behind_nginx() as (front, _):
            for port, interims in ((self.service.port, True), (front, False)):
                _, path = self.service.open()
                with socket.create_connection(("127.0.0.1", port), 30) as client:
                    client.sendall(
                        f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUpload-Complete: ?1\r\n"
                        "Upload-Draft-Interop-Version: 6\r\nContent-Length: 5\r\n\r\nhello".encode())
                    answer = b""
                    while piece := client.recv(65536):
                        answer += piece
                self.assertEqual(b" 104 " in answer, interims)
                self.assertIn(b" 200 OK", answer)

    def test_no_log_of_nginx_has_a_ticket(self):
        with self.behind_nginx() as (front, log):
            _, path = self.service.open()
            self.curl(front, path)
            ticket = path.rsplit("/", 1)[1]
            end = time.monotonic() + 30
            while not log() and time.monotonic() < end:
                time.sleep(0.01)
            told = "\n".join(log())
        self.assertNotIn(ticket[5:], told)
        self.assertIn(f"/u/{ticket[:8]}…", told)

    def test_the_command_uploads_over_a_way_that_breaks(self):
        id, path = self.service.open()
        way = Cutting(self.service.port, 500_000, 900_000, 1 << 30)
        self.addCleanup(way.close)
        told = satchel("upload", self.file, "--to", f"http://127.0.0.1:{way.port}{path}", timeout=120)
        self.assertEqual((told.returncode, told.stdout), (0, "Uploaded.\n"), told.stderr)
        self.expect_whole(id)
        gone = satchel("upload", self.file, "--to", f"http://127.0.0.1:{way.port}/u/satu_none", timeout=60)
        self.assertEqual(gone.returncode, 1)
        self.assertIn("there is no upload at this URL", gone.stderr)


if __name__ == "__main__":
    unittest.main()
