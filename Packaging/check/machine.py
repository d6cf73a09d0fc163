"""A machine that runs systemd: a directory with Debian in it, booted by systemd-nspawn."""

import os
import signal
import subprocess
import time


class Machine:
    """On the network of whoever starts it."""

    def __init__(self, root, log):
        self.log = log
        self.process = subprocess.Popen(
            [
                "systemd-nspawn", f"--directory={root}", "--boot", "--register=no", "--keep-unit", "--settings=no",
                "--link-journal=no", "--console=pipe", "--resolv-conf=off", "--timezone=off",
                # Landlock is unknown to systemd 252.
                "--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self",
            ], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.first = self.wait_for("process 1", self.find_first)
        self.wait_for("the end of the start", lambda: self.run("systemctl", "is-system-running").stdout.strip() in (
            "running", "degraded"))

    def wait_for(self, what, look, seconds=60):
        """What `look` finds, as soon as it does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            found = look()
            if found:
                return found
            time.sleep(0.1)
        raise SystemExit(f"not in {seconds} s: {what}\n{self.output()}")

    def find_first(self):
        """Process 1 of the machine, as it is called outside: below nspawn, and the first in its namespace."""
        below = [self.process.pid]
        while below:
            number = below.pop()
            try:
                with open(f"/proc/{number}/status", encoding="utf-8") as file:
                    names = next(line for line in file if line.startswith("NSpid:")).split()[1:]
                if len(names) > 1 and names[-1] == "1":
                    return number
                with open(f"/proc/{number}/task/{number}/children", encoding="ascii") as file:
                    below += map(int, file.read().split())
            except (FileNotFoundError, ProcessLookupError):
                continue
        return None

    def run(self, *command, **options):
        return subprocess.run(
            [
                "nsenter", f"--target={self.first}", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root", "--wd=/",
                "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
                "DEBIAN_FRONTEND=noninteractive", *command,
            ], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)

    def output(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """As a machine is switched off; by force where that takes too long."""
        if self.process.poll() is None:
            # To nspawn: end in order.
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.kill(self.first, signal.SIGKILL)
                self.process.wait()
