import contextlib
import http.client
import http.server
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from deployment import DOCKER


def bucket_places(server):
    """The bucket in bucket.conf and scaled.conf, on a server of this machine without TLS."""
    return {
        "server bucket.example.com:443 resolve;": f"server {server};", "default bucket.example.com;": f"default {server};",
        "proxy_pass https://bucket;": "proxy_pass http://bucket;"}


CONFIGURATIONS = {
    "nginx.conf": lambda upstream, port: {
        "server satchel:8080;": f"server {upstream[0]};", "listen 8080;": f"listen 127.0.0.1:{port};"},
    # 'resolve' is known since 1.27.3, and Debian's is older.
    "scaled.conf": lambda upstream, port: {
        "server api:8080 resolve max_fails=3 fail_timeout=5s;": " ".join(
            f"server {one} max_fails=3 fail_timeout=5s;" for one in upstream),
        "listen 8080;": f"listen 127.0.0.1:{port};", **bucket_places(f"127.0.0.1:{port}")},
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def written(name, home, upstream, port, places=None):
    """Copies the configuration and what it includes into a directory, with only its places changed; each is there once."""
    texts = {}
    for included in [name, "http.conf", "locations.conf", "bucket.conf"]:
        # Temporary files beside, for /tmp is everybody's here.
        texts[included] = (DOCKER / "nginx" / included).read_text(encoding="utf-8").replace(" /tmp/", f" {home}/")
    for old, new in {**CONFIGURATIONS[name](upstream, port), **(places or {})}.items():
        assert sum(text.count(old) for text in texts.values()) == 1, f"{name}: '{old}' should be there once"
        texts = {included: text.replace(old, new) for included, text in texts.items()}
    if os.getuid() == 0:
        # Its workers would be somebody whose files these aren't.
        texts[name] = "user root;\n" + texts[name]
    for included, text in texts.items():
        pathlib.Path(home, included).write_text(text, encoding="utf-8")
    return f"{home}/{name}"


@contextlib.contextmanager
def fronted(name, upstream, places=None):
    """nginx with this configuration, but for some places, before those servers: its port, and what it has logged."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        path = written(name, home, upstream, port, places)
        said = pathlib.Path(home, "log")
        with open(said, "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                ["nginx", "-c", path, "-e", f"{home}/errors", "-g", "daemon off;"], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        try:
            end = time.monotonic() + 30
            while True:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), 5).close()
                    break
                if process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(said.read_text(encoding="utf-8"))
                time.sleep(0.02)
            yield port, lambda: said.read_text(encoding="utf-8").splitlines()
        finally:
            process.terminate()
            process.wait()


class Node:
    """A server that notes each request, and answers as it is told: a status, `break` off, or `gradually`."""

    def __init__(self, answer=200):
        node = self
        self.answer, self.requests, self.pieces = answer, [], threading.Semaphore(0)
        self.more = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def handle_one(self):
                node.requests.append((self.command, self.path))
                if node.answer == "break":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                elif node.answer == "gradually":
                    self.gradually()
                else:
                    self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    self.send_response(node.answer)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def gradually(self):
                """An upload is told of at its first byte; an answer's second half waits for `more`."""
                length = int(self.headers.get("Content-Length") or 0)
                if length:
                    self.rfile.read(1)
                    node.pieces.release()
                    self.rfile.read(length - 1)
                self.send_response(200)
                self.send_header("Content-Length", "4")
                self.end_headers()
                self.wfile.write(b"on")
                self.wfile.flush()
                if not length:
                    node.more.wait(30)
                self.wfile.write(b"ce")

            do_GET = do_POST = do_PUT = do_DELETE = handle_one

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # Connections end as they may.
        self.server.handle_error = lambda *arguments: None
        self.name = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.more.set()
        self.server.shutdown()
        self.server.server_close()


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


class NginxTests(unittest.TestCase):
    def nodes(self, *answers):
        made = [Node(answer) for answer in answers]
        for node in made:
            self.addCleanup(node.close)
        return made

    def test_the_configurations_are_nginx_own(self):
        for name in CONFIGURATIONS:
            with self.subTest(name), tempfile.TemporaryDirectory() as home:
                path = written(name, home, ["127.0.0.1:1"], free_port())
                told = subprocess.run(
                    ["nginx", "-t", "-c", path, "-e", f"{home}/errors"], capture_output=True, text=True, check=False)
                self.assertEqual(told.returncode, 0, told.stderr)
                self.assertNotIn("[warn]", told.stderr)

    def test_a_submission_is_never_sent_twice(self):
        breaking, well = self.nodes("break", 200)
        with fronted("scaled.conf", [breaking.name, well.name]) as (port, _):
            answers = [ask(port, "POST", "/v1/jobs", b"photo") for _ in range(4)]
        # Each arrived once, wherever; who broke off may have done it.
        self.assertEqual(len(breaking.requests) + len(well.requests), 4)
        self.assertIn(502, answers)
        self.assertEqual(answers.count(502), len(breaking.requests))

    def test_one_that_could_not_be_sent_goes_to_the_next_node(self):
        (well,) = self.nodes(200)
        with fronted("scaled.conf", [f"127.0.0.1:{free_port()}", well.name]) as (port, _):
            self.assertEqual([ask(port, "POST", "/v1/jobs", b"photo") for _ in range(4)], [200] * 4)
        self.assertEqual(len(well.requests), 4)

    def test_what_is_idempotent_goes_to_the_next_node_where_one_breaks_off_or_has_lost_its_store(self):
        for answer in ("break", 503):
            with self.subTest(answer):
                failing, well = self.nodes(answer, 200)
                with fronted("scaled.conf", [failing.name, well.name]) as (port, _):
                    self.assertEqual([ask(port, "GET", "/v1/jobs/1") for _ in range(4)], [200] * 4)
                self.assertEqual(len(well.requests), 4)
                self.assertGreater(len(failing.requests), 0)

    def test_a_node_that_fails_is_left_alone_for_a_while(self):
        failing, well = self.nodes(503, 200)
        with fronted("scaled.conf", [failing.name, well.name]) as (port, _):
            for _ in range(40):
                ask(port, "GET", "/v1/jobs/1")
        # Of each of nginx' workers three; where there are more of them than requests, its shared zone counts for all.
        self.assertLess(len(failing.requests), 8)

    def test_with_one_node_nothing_is_sent_twice(self):
        (breaking,) = self.nodes("break")
        with fronted("nginx.conf", [breaking.name]) as (port, _):
            self.assertEqual([ask(port, method, "/v1/jobs/1") for method in ("GET", "POST", "DELETE")], [502] * 3)
        self.assertEqual(len(breaking.requests), 3)

    def test_uploads_and_events_stream(self):
        for name in CONFIGURATIONS:
            with self.subTest(name):
                (node,) = self.nodes("gradually")
                with fronted(name, [node.name]) as (port, _):
                    with socket.create_connection(("127.0.0.1", port), 30) as client:
                        client.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n" + b"1" * 50)
                        # It has begun there before it is whole here.
                        self.assertTrue(node.pieces.acquire(timeout=30))
                        client.sendall(b"1" * 50)
                        self.assertIn(b"200 OK", client.recv(1000))
                    with socket.create_connection(("127.0.0.1", port), 30) as client:
                        client.sendall(b"GET /v1/jobs/1/events HTTP/1.1\r\nHost: x\r\n\r\n")
                        told = b""
                        while not told.endswith(b"on"):
                            piece = client.recv(1000)
                            self.assertTrue(piece, told)
                            told += piece
                        node.more.set()

    def test_outside_nobody_sees_metrics_and_no_log_has_a_token(self):
        token = "sata_" + "0123456789" * 4
        for name in CONFIGURATIONS:
            with self.subTest(name):
                (node,) = self.nodes(200)
                with fronted(name, [node.name]) as (port, log):
                    self.assertEqual(ask(port, "GET", "/metrics"), 404)
                    self.assertEqual(ask(port, "GET", "/cluster/events"), 404)
                    self.assertEqual(ask(port, "GET", f"/c/{token}/main.jpg"), 200)
                    # A line comes after its answer.
                    end = time.monotonic() + 30
                    while len(log()) < 3 and time.monotonic() < end:
                        time.sleep(0.01)
                    lines = [json.loads(line) for line in log()]
                self.assertNotIn(("GET", "/metrics"), node.requests)
                # Each of nginx' workers writes its own, in no order between them.
                self.assertEqual(
                    sorted(line["path"] for line in lines), [f"/c/{token[:8]}…/main.jpg", "/cluster/events", "/metrics"])
