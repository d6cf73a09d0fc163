"""Programs as they are measured: run to their end, with what they took."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from . import Failure
from .processes import peak_of_one

# Seconds: whoever hangs is to cost its own figure and not those of the parts that follow.
PATIENCE = 1800


@dataclass(frozen=True)
class Usage:
    """What a command took, all its descendants included that were waited for."""

    wall: float = 0.0  # seconds from start to end
    cpu: float = 0.0  # seconds of processors, of user and system
    peak: int = 0  # bytes: of the command's first process alone, where it was watched

    def __add__(self, other):
        """One after the other."""
        return Usage(self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak))


@dataclass(frozen=True)
class Command:
    """A program with its arguments."""

    line: list
    environment: dict = field(default_factory=dict)  # wins over that of this process
    cores: tuple = ()  # processors that it may run on; empty for all
    accepted: tuple = (0,)  # exit statuses with which it has done what it was to do

    def on(self, *cores):
        return replace(self, cores=cores)

    def with_arguments(self, *arguments):
        return replace(self, line=[*self.line, *arguments])

    def run(self, output=subprocess.DEVNULL, watching_memory=False):
        """Runs to the end. Raises Failure unless it exits with a status that is accepted.

        `watching_memory` looks at the peak of the program's own memory while it runs, which costs a little processor time here.
        """
        with tempfile.TemporaryFile() as errors:
            start, peak = time.monotonic(), 0
            process = self._start(output, errors)
            alarm = threading.Timer(PATIENCE, os.kill, (process.pid, signal.SIGKILL))
            alarm.daemon = True
            alarm.start()
            while (ended := os.wait4(process.pid, os.WNOHANG if watching_memory else 0))[0] == 0:
                # The last word of the kernel before the process ends; the peak only grows.
                peak = max(peak, peak_of_one(process.pid))
                time.sleep(0.002)
            wall = time.monotonic() - start
            alarm.cancel()
            code = process.returncode = os.waitstatus_to_exitcode(ended[1])
            if code not in self.accepted:
                errors.seek(0)
                how = f"exit status {code}" if code >= 0 else f"signal {-code}"
                raise Failure(f"{self}: {how}\n{errors.read().decode(errors='replace')[-2000:]}")
        return Usage(wall, ended[2].ru_utime + ended[2].ru_stime, peak)

    def text(self):
        """What it says."""
        with tempfile.TemporaryFile() as output:
            self.run(output=output)
            output.seek(0)
            return output.read().decode(errors="replace")

    def start(self, output=subprocess.DEVNULL):
        """Starts it and leaves it running."""
        return self._start(output, subprocess.DEVNULL)

    def _start(self, output, errors):
        line = [str(word) for word in self.line]
        if self.cores:
            line = ["taskset", "-c", ",".join(map(str, self.cores)), *line]
        environment = {**os.environ, **{name: str(value) for name, value in self.environment.items()}}
        try:
            return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment)
        except OSError as error:
            raise Failure(f"{self}: {error.strerror}") from error

    def __str__(self):
        return " ".join(str(word) for word in self.line)


def ffmpeg(*arguments):
    """Quietly, over what is there; gives its usage."""
    return Command(["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments]).run()


def run_loops(loops):
    """Loops of commands: side by side, and in each one after the other.

    Gives the processor time of all, and the wall time from the first start to the last end.
    """
    start = time.monotonic()
    with ThreadPoolExecutor(len(loops)) as threads:
        usages = list(threads.map(lambda loop: sum((command.run() for command in loop), Usage()), loops))
    return replace(sum(usages, Usage()), wall=time.monotonic() - start)


def shares(items, count=None):
    """Items dealt out one by one to so many loops, one for each processor unless it is said."""
    count = count or len(usable_cores())
    return [items[first::count] for first in range(count)]


def usable_cores():
    """Processors that this process may run on: those of a `taskset` or a cpuset."""
    return sorted(os.sched_getaffinity(0))
