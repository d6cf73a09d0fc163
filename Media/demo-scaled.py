#!/usr/bin/env python3
"""Shows the scaled service: a database, a bucket, two nodes and nginx; a node is killed in the middle of the sample files.

    Media/demo-scaled.py .build/release/satchel

All of it runs on this machine's loopback and ends with this program; nothing of it stays but .demo/scaled.jsonl. Needs what
install-dependencies.sh installs for tests. The exit status is 0 when every sample came to the end that the manifest expects.
"""
import collections
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

MEDIA = pathlib.Path(__file__).resolve().parent
ROOT = MEDIA.parent
sys.path.insert(0, str(ROOT / "Tests/Support"))
from engines import Database, Gateway, free_port, settings, wait_for  # noqa: E402

TENANT_LIMIT = 16  # requests at once: what a busy back end does


def say(text):
    print(text, flush=True)


class Connection:
    """One request at a time; made anew where it broke, as a client library does."""

    def __init__(self, port, key):
        self.port, self.headers = port, {"Authorization": f"Bearer {key}"}
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, method, path, headers=None, body=None):
        """The answer's status, and its body as a value."""
        status, text = self.send(method, path, headers, body)
        return status, json.loads(text or b"null")

    def fetch(self, path):
        return self.send("GET", path)

    def send(self, method, path, headers=None, body=None):
        for attempt in range(5):
            try:
                self.http.request(method, path, body, {**self.headers, **(headers or {})})
                answer = self.http.getresponse()
                status, content = answer.status, answer.read()
                # What a proxy says whose node was killed, or a node that is full.
                if status not in (429, 502, 503, 504):
                    return status, content
            except (OSError, http.client.HTTPException):
                self.http.close()
            time.sleep(0.5 * (attempt + 1))
        raise RuntimeError(f"{method} {path}: no answer")


@contextlib.contextmanager
def proxy(place, port, nodes):
    """nginx, which asks the next node where one doesn't answer."""
    servers = "\n".join(f"server 127.0.0.1:{node} max_fails=1 fail_timeout=2s;" for node in nodes)
    paths = "\n".join(f"{name}_temp_path {place}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (place / "nginx.conf").write_text(f"""
        daemon off; pid {place}/nginx.pid; error_log /dev/null; worker_processes 1;
        {"user root;" if os.getuid() == 0 else ""}
        events {{ worker_connections 512; }}
        http {{
            access_log off; client_max_body_size 0; {paths}
            upstream satchel {{ {servers} }}
            server {{
                listen 127.0.0.1:{port};
                location / {{ proxy_pass http://satchel; proxy_connect_timeout 2s; proxy_set_header Host $host; }}
            }}
        }}""")
    nginx = subprocess.Popen(["nginx", "-c", place / "nginx.conf", "-p", place], stderr=subprocess.DEVNULL)
    try:
        wait_for("nginx", lambda: socket.create_connection(("127.0.0.1", port), 1).close())
        yield
    finally:
        nginx.terminate()
        nginx.wait()


class Node:
    """One `satchel serve`."""

    def __init__(self, satchel, place, name, port, public, environment):
        self.name, self.port = name, port
        with open(place / f"{name}.log", "wb") as log:
            self.process = subprocess.Popen(
                [satchel, "serve", "--listen", f"127.0.0.1:{port}", "--public-url", public, "--set", f"spool={place}/{name}"],
                env=environment, stdout=log, stderr=log)
        self.log = place / f"{name}.log"

    def await_ready(self, key):
        def ask():
            if self.process.poll() is not None:
                sys.exit(f"{self.name} ended:\n{self.log.read_text()[-2000:]}")
            status, _ = Connection(self.port, key).ask("GET", "/readyz")
            if status != 200:
                raise RuntimeError(status)

        wait_for(self.name, ask)

    def ended(self):
        """Jobs that came to their end here, by its log."""
        return sum(json.loads(line)["message"] == "job" for line in self.log.read_text().splitlines() if line.startswith("{"))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def submit(port, key, file):
    """One sample as a job, which is answered at once."""
    path = str(file.relative_to(MEDIA))
    body = file.read_bytes()
    connection = Connection(port, key)
    headers = {"Content-Type": "application/octet-stream", "Idempotency-Key": path.replace("/", "-"), "Prefer": "respond-async"}
    status, answer = connection.ask("POST", "/v1/jobs?profile=message", headers, body)
    return path, len(body), status, answer


def line(path, size, answer):
    """Of a report, as `satchel batch` writes one."""
    attachment = answer["attachments"][0]
    main, error = (attachment.get("renditions") or {}).get("main") or {}, attachment.get("error")
    # A batch passes over what is no medium, where a job of its own is told so.
    state = "skipped" if error and error["code"] == "unrecognized_type" else attachment["state"]
    return {
        "path": path, "source": {"bytes": size}, "state": state, "fidelity": attachment.get("fidelity"),
        "kind": attachment.get("kind"), "error": error, "bytes": main.get("bytes")}


def fetched(connection, answers):
    """Each is compared with its record."""
    count = total = 0
    for answer in answers:
        for attachment in answer["attachments"]:
            if main := (attachment.get("renditions") or {}).get("main"):
                status, content = connection.fetch(urllib.parse.urlsplit(main["url"]).path)
                if status != 200 or hashlib.sha256(content).hexdigest() != main["sha256"]:
                    sys.exit(f"{attachment['id']}: {status}, {len(content)} bytes that are not those of the record")
                count, total = count + 1, total + len(content)
    return f"{count} with the hash of their record, {total / 1e6:.1f} MB."


def main():
    # Whoever ends it ends its servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("The demo was ended."))
    satchel = pathlib.Path(sys.argv[1]).resolve()
    samples = [MEDIA / file["path"] for file in json.loads((MEDIA / "manifest.json").read_text())["files"]]
    with tempfile.TemporaryDirectory(prefix="satchel-demo-") as text, contextlib.ExitStack() as stack:
        place = pathlib.Path(text)
        place.chmod(0o755)
        database = stack.enter_context(Database(place / "database", free_port()).running())
        gateway = stack.enter_context(Gateway(place / "bucket").running())
        environment = {
            **os.environ, **settings(database, gateway, "demo", place / "access.keys"),
            "SATCHEL_QUOTAS_SUBMISSIONS_PER_MINUTE": "100000"}

        def command(*arguments):
            say("$ satchel " + " ".join(arguments))
            made = subprocess.run([satchel, *arguments], env=environment, capture_output=True, text=True)
            if made.returncode != 0:
                sys.exit(made.stderr)
            return made.stdout.strip()

        say(f"PostgreSQL answers at {database.url}, a bucket s3://satchel at {environment['SATCHEL_S3_ENDPOINT']}.")
        say("  " + command("store", "migrate"))
        key = json.loads(command("key", "create", "--name", "demo", "--tenant", "app", "--role", "submit", "--format", "json"))["key"]
        front = free_port()
        public = f"http://127.0.0.1:{front}"
        nodes = [Node(satchel, place, name, free_port(), public, environment) for name in ("node-1", "node-2")]
        for node in nodes:
            stack.callback(node.end)
        for node in nodes:
            node.await_ready(key)
        stack.enter_context(proxy(place, front, [node.port for node in nodes]))
        say(f"{len(nodes)} nodes answer behind nginx at {public}.\n")

        start = time.monotonic()
        jobs, refused = {}, {}
        with concurrent.futures.ThreadPoolExecutor(TENANT_LIMIT) as clients:
            for path, size, status, answer in clients.map(lambda file: submit(front, key, file), samples):
                if status in (200, 202):
                    jobs[answer["id"]] = (path, size)
                else:
                    refused[path] = (status, answer)
        say(f"{len(jobs)} samples of {len(samples)} were accepted in {time.monotonic() - start:.1f} s.")
        for path, (status, answer) in refused.items():
            say(f"  refused: {path}: {status} {answer.get('detail', '')}")

        ended, connection, killed = {}, Connection(front, key), None
        end = time.monotonic() + 600
        while len(ended) < len(jobs) and time.monotonic() < end:
            for job in [job for job in jobs if job not in ended]:
                _, answer = connection.ask("GET", f"/v1/jobs/{job}")
                if answer["state"] not in ("pending", "running"):
                    ended[job] = answer
                if killed is None and len(ended) >= len(jobs) // 4:
                    nodes[1].kill()
                    killed = time.monotonic()
                    say(f"{nodes[1].name} is killed (SIGKILL) as {len(ended)} jobs have ended.")
            time.sleep(0.2)
        took = time.monotonic() - start
        if killed is None or len(ended) < len(jobs):
            sys.exit(f"only {len(ended)} of {len(jobs)} jobs came to their end")
        shares = " and ".join(f"{node.ended()} on {node.name}" for node in nodes)
        say(f"All {len(ended)} came to their end, {time.monotonic() - killed:.1f} s later: {shares}.")
        states = collections.Counter(answer["state"] for answer in ended.values())
        say(f"{took:.1f} s in all: " + ", ".join(f"{count} {state}" for state, count in sorted(states.items())) + ".\n")

        (ROOT / ".demo").mkdir(exist_ok=True)
        report = ROOT / ".demo/scaled.jsonl"
        with open(report, "w") as output:
            for job, answer in ended.items():
                output.write(json.dumps(line(*jobs[job], answer)) + "\n")
            for path, (status, answer) in refused.items():
                # Nothing is stored of an empty file.
                empty = status == 422 and (MEDIA / path).stat().st_size == 0
                error = {"code": answer["code"], "detail": answer["detail"]}
                output.write(json.dumps({"path": path, "source": {"bytes": 0}, "state": "skipped" if empty else "failed", "error": error}) + "\n")
        say("Every main rendition, out of the bucket by the URL of its job: " + fetched(connection, ended.values()))
        verified = subprocess.run([satchel, "store", "verify"], env=environment, capture_output=True, text=True)
        say("$ satchel store verify\n  " + (verified.stdout.strip().splitlines() or [verified.stderr.strip()])[-1])
        if verified.returncode != 0:
            sys.exit(verified.stdout + verified.stderr)
    return subprocess.run([sys.executable, MEDIA / "expected.py", report]).returncode


if __name__ == "__main__":
    sys.exit(main())
