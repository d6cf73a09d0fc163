"""`satchel serve` over a store in a directory, and the processes of codecs that lie beside the program."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


def codecs(program):
    """The ids of these processes; each zygote has a session of its own."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            name = (entry / "cmdline").read_bytes().split(b"\0")[0].decode() if entry.name.isdigit() else ""
        except OSError:
            continue
        if name.startswith(f"{program.parent}/satchel-"):
            found.append(int(entry.name))
    return found


class Service:
    """Started, ended in either way, and started again over the same store at the same address."""

    def __init__(self, program, home, *settings, prefix=()):
        self.program, self.store, self.log, self.settings, self.prefix = program, home / "store", home / "log", settings, prefix
        self.environment = {
            **os.environ, "SATCHEL_STORE": str(self.store), "SATCHEL_ACCESS_KEYS": str(home / "access.keys")}
        self.key = json.loads(self.command("key", "create", "--name", "tests", "--role", "admin", "--format", "json"))["key"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = None

    def command(self, *words):
        """What a command over the store prints; it has to succeed."""
        return subprocess.run(
            [self.program, *words], env=self.environment, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.program, "serve", "--listen", f"127.0.0.1:{self.port}", *self.settings], env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for _ in range(300):
            if self.process.poll() is not None:
                break
            if self.answers("/readyz") == 200:
                return
            time.sleep(0.1)
        sys.exit(f"the service did not become ready:\n{self.log.read_text()[-2000:]}")

    def answers(self, path):
        """The status; None without an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    @property
    def has_ended(self):
        return self.process.poll() is not None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, patience=30):
        """As an operator does; gives the status, None where it had to be killed."""
        self.process.terminate()
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return None
