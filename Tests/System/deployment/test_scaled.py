"""The values of compose.scaled.yaml and its files, on this machine's PostgreSQL, Ceph's gateway and nginx."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from deployment import DOCKER, ENVIRONMENT, ROOT, SATCHEL, composed, satchel, variables
from test_nginx import bucket_places, fronted, free_port

SERVICES = composed("compose.scaled.yaml")["services"]
PUBLIC_URL = "https://media.example.com"
SAMPLE = ROOT / "Media/jpeg/coffee.jpg"


def wait_for(what, ask, seconds=90):
    end = time.monotonic() + seconds
    while not ask():
        if time.monotonic() > end:
            raise AssertionError(f"{what} in {seconds} s")
        time.sleep(0.1)


def answers(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def unprivileged():
    """Before a command that won't run as root: PostgreSQL's server."""
    if os.getuid() != 0:
        return []
    mapped = pathlib.Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    if len(mapped) > 3 or mapped[:2] == ["0", "0"]:
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]


@contextlib.contextmanager
def database(place, given):
    """As PostgreSQL's image makes it of the compose file's values: passwords, an owner, then what is mounted for its beginning."""
    values = variables(SERVICES["database"], given)
    bin = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    port, guise = free_port(), unprivileged()
    place.mkdir()
    (place / "password").write_text(values["POSTGRES_PASSWORD"], encoding="ascii")
    if guise[:1] == ["setpriv"]:
        for path in (place, place / "password"):
            shutil.chown(path, "postgres", "postgres")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run(
        [*guise, bin / "initdb", "-D", place / "data", "-A", "scram-sha-256", "-U", values["POSTGRES_USER"], "--locale=C",
         "-E", "UTF8", f"--pwfile={place}/password"], check=True, **quiet)
    with open(place.parent / "database.log", "wb") as log:
        server = subprocess.Popen(
            [*guise, bin / "postgres", "-D", place / "data", "-p", str(port), "-h", "127.0.0.1", "-k", place], stderr=log, **quiet)
    try:
        wait_for("PostgreSQL answers", lambda: answers(port))
        client = {
            **ENVIRONMENT, **values, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGPASSWORD": values["POSTGRES_PASSWORD"],
            "PATH": f"{bin}:{os.environ['PATH']}"}
        wait_for("it takes statements", lambda: subprocess.run(
            [bin / "psql", "-U", values["POSTGRES_USER"], "-d", "postgres", "-c", f"CREATE DATABASE {values['POSTGRES_DB']}"],
            env=client, check=False, stderr=subprocess.DEVNULL, **quiet).returncode == 0)
        (script,) = [
            volume.split(":")[0] for volume in SERVICES["database"]["volumes"] if "docker-entrypoint-initdb.d" in volume]
        subprocess.run([DOCKER / script], env=client, check=True, **quiet)
        yield port
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def bucket(place):
    gateway = subprocess.Popen(
        [ROOT / "Tests/Support/s3/gateway.sh", place, "satchel"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert gateway.stdout.readline().strip() == "ready"
        words = (place / "env").read_text(encoding="utf-8").replace("export", "").split()
        yield dict(word.split("=", 1) for word in words)
    finally:
        gateway.stdin.close()
        gateway.stdout.close()
        gateway.wait()


@contextlib.contextmanager
def given_keys(place):
    """The keys on a mount that can't be written, as an engine has a secret; and what changes them, from outside."""
    outside, inside = place / "outside", place / "secrets"
    outside.mkdir()
    inside.mkdir()
    # A file system of their own: of another's mount not every option may be changed.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", outside], check=True)

    def put(*arguments):
        made = subprocess.run([DOCKER / "access-keys.sh", *arguments], check=True, capture_output=True, text=True).stdout
        new = outside / "new"
        new.write_text(made, encoding="ascii")
        new.chmod(0o440)
        new.rename(outside / "access.keys")
        return json.loads(made)

    put()
    subprocess.run(["mount", "--bind", outside, inside], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", inside], check=True)
    try:
        yield inside / "access.keys", put
    finally:
        subprocess.run(["umount", "--lazy", inside, outside], check=True)


def ask(port, method, path, key=None, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {**headers, **({"Authorization": f"Bearer {key}"} if key else {})})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def seen(port, method, path, **headers):
    """Status, body and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    made = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return made


class ScaledTests(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.stack, self.place = stack, pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.place.chmod(0o755)
        store = stack.enter_context(bucket(self.place / "bucket"))
        given = {
            "SATCHEL_PUBLIC_URL": PUBLIC_URL, "SATCHEL_BLOBS": "s3://satchel/compose",
            "SATCHEL_DATABASE_PASSWORD": "one's", "SATCHEL_DATABASE_OWNER_PASSWORD": "two",
            "SATCHEL_S3_ENDPOINT": store["AWS_ENDPOINT_URL_S3"], "SATCHEL_S3_PATH_STYLE": "true",
            "AWS_ACCESS_KEY_ID": store["AWS_ACCESS_KEY_ID"], "AWS_SECRET_ACCESS_KEY": store["AWS_SECRET_ACCESS_KEY"],
        }
        self.database = stack.enter_context(database(self.place / "database", given))
        self.keys, self.put_keys = stack.enter_context(given_keys(self.place))
        self.given = given

    def environment(self, service, number=1):
        """Of one container; only places are others."""
        made = variables(SERVICES[service], self.given)
        return {
            **made, "SATCHEL_STORE": made["SATCHEL_STORE"].replace("@database/", f"@127.0.0.1:{self.database}/"),
            "SATCHEL_ACCESS_KEYS": str(self.keys), "SATCHEL_SPOOL": f"{self.place}/{service}-{number}",
            # Two nodes and their tests share this machine.
            "SATCHEL_CODECS": "2",
        }

    def run_once(self, service, *command):
        told = satchel(*command, environment=self.environment(service))
        self.assertEqual(told.returncode, 0, told.stderr + told.stdout)
        return told.stdout

    def serve(self, service, number, **settings):
        port = free_port()
        log = self.place / f"{service}-{number}.log"
        environment = {
            **ENVIRONMENT, **self.environment(service, number), "SATCHEL_LISTEN": f"127.0.0.1:{port}",
            "SATCHEL_CLUSTER_ADVERTISE": f"http://127.0.0.1:{port}", **settings}
        with open(log, "wb") as output:
            process = subprocess.Popen([SATCHEL, "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

        def end():
            process.kill()
            process.wait()

        self.stack.callback(end)

        def is_ready():
            self.assertIsNone(process.poll(), log.read_text(encoding="utf-8"))
            return answers(port) and ask(port, "GET", "/readyz")[0] == 200

        wait_for(f"{service} is ready", is_ready)
        return port, process

    def submit(self, port, key):
        status, content = ask(
            port, "POST", "/v1/jobs?name=coffee.jpg", key, SAMPLE.read_bytes(), Content_Type="image/jpeg", Prefer="wait=60")
        self.assertEqual(status, 200, content)
        job = json.loads(content)
        self.assertEqual(job["state"], "delivered", content)
        main = job["attachments"][0]["renditions"]["main"]
        self.assertTrue(main["url"].startswith(PUBLIC_URL + "/c/"))
        return urllib.parse.urlsplit(main["url"]).path, main["bytes"]

    def check_accelerated(self, plain, path, key):
        """A node that leaves the bytes to nginx, beside one that doesn't: clients see no difference."""
        node, _ = self.serve("api", 3, SATCHEL_CONTENT_ACCEL_PREFIX="/satchel-blobs/")
        server = urllib.parse.urlsplit(self.given["SATCHEL_S3_ENDPOINT"]).netloc
        front, log = self.stack.enter_context(fronted("scaled.conf", [f"127.0.0.1:{node}"], bucket_places(server)))
        status, content, straight = seen(node, "GET", path)
        self.assertEqual((status, content), (200, b""))
        blob = straight["X-Accel-Redirect"]
        self.assertTrue(blob.startswith("/satchel-blobs/") and "X-Amz-Signature=" in blob, blob)
        tag = straight["ETag"]
        for method, asked in (
                ("GET", {}), ("HEAD", {}), ("GET", {"Range": "bytes=100-199"}), ("GET", {"Range": "bytes=-1"}),
                ("GET", {"Range": "bytes=100-199", "If-Range": tag}), ("GET", {"Range": "bytes=100-199", "If-Range": '"another"'}),
                ("GET", {"If-None-Match": tag}), ("GET", {"If-None-Match": '"another"'}), ("GET", {"If-Match": tag}),
                ("GET", {"If-Match": '"another"'}), ("GET", {"If-Modified-Since": "Thu, 26 Nov 2099 00:00:00 GMT"})):
            with self.subTest(method=method, asked=asked):
                one, other = seen(plain, method, path, **asked), seen(front, method, path, **asked)
                self.assertEqual(other[:2], one[:2])
                for headers in (one[2], other[2]):
                    for name in ("Date", "Server", "Connection", "X-Request-Id"):
                        headers.pop(name, None)
                self.assertEqual(other[2], one[2])
        # Behind the last byte, as the bucket says it.
        self.assertEqual(seen(front, "GET", path, Range="bytes=99999999-")[0], 416)
        # Nobody gets there but by a token that is good, and nothing else of the bucket is to be had.
        self.assertEqual(seen(front, "GET", blob)[0], 404)
        self.assertEqual(seen(front, "GET", path.replace("/c/", "/c/x"))[0], 404)
        self.assertNotIn("X-Amz-Signature", "\n".join(log()))
        self.assertEqual(ask(front, "GET", "/v1/jobs", key)[0], 403)

    def test_the_scaled_service_works_as_its_compose_file_says(self):
        self.run_once("migrate", *SERVICES["migrate"]["command"])
        # Again, as each start of the whole does.
        self.run_once("migrate", *SERVICES["migrate"]["command"])
        key = json.loads(self.run_once("api", "key", "create", "--tenant", "app", "--role", "submit", "--format", "json"))["key"]
        found = satchel("doctor", environment=self.environment("worker")).stdout
        self.assertIn("database", found)
        self.assertNotIn("has no access to", found)
        self.assertNotIn("owns the tables", found)

        apis = [self.serve("api", number) for number in (1, 2)]
        worker, _ = self.serve("worker", 1)
        self.assertEqual(ask(worker, "GET", "/v1/jobs", key)[0], 404)
        front = self.stack.enter_context(fronted("scaled.conf", [f"127.0.0.1:{port}" for port, _ in apis]))[0]
        path, size = self.submit(front, key)
        for port in (front, apis[0][0], apis[1][0]):
            status, content = ask(port, "GET", path)
            self.assertEqual((status, len(content)), (200, size))

        self.check_accelerated(apis[0][0], path, key)

        # A rotation: every node knows the next key before one uses it, and forgets none.
        first = json.loads(self.keys.read_text(encoding="ascii"))
        self.put_keys("next", self.keys)
        used = self.put_keys("use", self.keys)
        self.assertEqual(len(used), 2)
        self.assertEqual(used[1], first[0])
        later, _ = self.submit(front, key)
        for port in (apis[0][0], apis[1][0]):
            self.assertEqual([ask(port, "GET", one)[0] for one in (path, later)], [200, 200])
        refused = subprocess.run(["touch", self.keys], capture_output=True, check=False)
        self.assertNotEqual(refused.returncode, 0)

        # One node less, and nobody notices.
        apis[0][1].kill()
        apis[0][1].wait()
        self.assertEqual([ask(front, "GET", path)[0] for _ in range(8)], [200] * 8)
        self.submit(front, key)
