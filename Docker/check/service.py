"""A running service: started as an engine would start the image, asked over HTTP."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import time


class Service:
    """`satchel serve` in a container, with a key to use it."""

    def __init__(self, container, image, log):
        self.container, self.image = container, image
        made = container.run("satchel", "key", "create", "--name", "check", "--format", "json")
        if made.returncode != 0:
            raise SystemExit(made.stdout + made.stderr)
        self.key = next(value for value in json.loads(made.stdout).values() if str(value).startswith("satk_"))
        self.log = log
        self.process = container.start(*image.entry, *image.command, stdout=log, stderr=subprocess.STDOUT)

    def output(self):
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()

    def health(self):
        """Runs the image's health check, as an engine does, and answers what it said when it was well."""
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            asked = self.container.run(*self.image.health)
            if asked.returncode == 0:
                return asked.stdout.strip()
            time.sleep(0.2)
        raise SystemExit(f"The service doesn't become healthy:\n{self.output()}")

    @property
    def first(self):
        """Process 1 of the container, as it is called outside."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def children(self, state):
        """How many of process 1's own children are in a state such as Z."""
        count, first = 0, self.first
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                with open(f"/proc/{int(name)}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
                count += fields[0] == state and int(fields[1]) == first
        return count

    def stop(self):
        """As `docker stop` does; the exit status, and how long it took."""
        start = time.monotonic()
        os.kill(self.first, getattr(signal, self.image.stop_signal))
        status = self.process.wait(timeout=60)
        return status, time.monotonic() - start

    def kill(self):
        """Ends process 1 where it lives, and waits until nothing of the container is left."""
        if self.process.poll() is None:
            os.kill(self.first, signal.SIGKILL)
            self.process.wait()


def ask(port, method, path, body=None, **headers):
    """One request to this machine; the answer has its body in `.body`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.body = answer.read()
    connection.close()
    return answer


def submit(port, key, sample, media_type):
    """A job of one file, followed to its end; the job."""
    with open(sample, "rb") as file:
        source = file.read()
    answer = ask(
        port, "POST", f"/v1/jobs?name={os.path.basename(sample)}", source, Authorization=f"Bearer {key}",
        Content_Type=media_type, Prefer="wait=20")
    if answer.status != 200:
        raise SystemExit(f"a job is answered {answer.status}: {answer.body.decode()}")
    return json.loads(answer.body)
