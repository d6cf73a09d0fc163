"""Runs a program in a pseudo-terminal, does there what a person would do, and tells what then stands on the screen.

Takes a request as JSON, its only argument:

    {"command": ["satchel", ...], "columns": 80, "rows": 50, "seconds": 60, "steps": [
        {"wait": "regular expression that the screen must match"}, {"send": "keys"}, {"resize": 60},
        {"hang_up": "file whose appearance closes the terminal"}]}

Answers JSON: "lines" (with what has scrolled out at the top), "cursor_lines" (every state of the line that the cursor was
in), "raw" (all that was written) and "status". Where a step isn't reached in time, or the program doesn't end, it is
killed, and the exit status is 1.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

import pyte


class Terminal:
    def __init__(self, request):
        self.columns, self.rows = request["columns"], request.get("rows", 50)
        self.end = time.monotonic() + request.get("seconds", 60)
        self.screen = pyte.HistoryScreen(self.columns, self.rows, history=100_000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.cursor_lines = []
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            # Not before it has its size.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
            os.execvp(request["command"][0], request["command"])

    def lines(self):
        old = ["".join(line[x].data for x in range(self.columns)) for line in self.screen.history.top]
        lines = [line.rstrip() for line in old + self.screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def read(self):
        """Takes what is written next; False at the end."""
        if self.descriptor is None:
            return False
        left = self.end - time.monotonic()
        if left <= 0:
            self.give_up("the program doesn't end")
        if not select.select([self.descriptor], [], [], min(left, 0.2))[0]:
            return True
        try:
            data = os.read(self.descriptor, 1 << 16)
        except OSError:
            data = b""
        self.raw += data
        self.stream.feed(data)
        line = self.screen.display[self.screen.cursor.y].rstrip()
        if not self.cursor_lines or self.cursor_lines[-1] != line:
            self.cursor_lines.append(line)
        return bool(data)

    def step(self, step):
        if "wait" in step:
            while not re.search(step["wait"], "\n".join(self.lines()), re.MULTILINE):
                if self.end < time.monotonic() or not self.read():
                    self.give_up(f"'{step['wait']}' doesn't come")
        elif "send" in step:
            os.write(self.descriptor, step["send"].encode())
        elif "hang_up" in step:
            while not os.path.exists(step["hang_up"]):
                self.read()
            os.close(self.descriptor)
            self.descriptor = None
        else:
            self.columns = step["resize"]
            self.screen.resize(self.rows, self.columns)
            fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))

    def wait(self):
        """Waits for the end of the program."""
        while True:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                return os.waitstatus_to_exitcode(status)
            if self.end < time.monotonic():
                self.give_up("the program doesn't end")
            time.sleep(0.02)

    def give_up(self, reason):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        sys.exit(f"{reason}; the screen is:\n" + "\n".join(self.lines()))


request = json.loads(sys.argv[1])
terminal = Terminal(request)
for step in request.get("steps", []):
    terminal.step(step)
while terminal.read():
    pass
status = terminal.wait()
answer = {
    "lines": terminal.lines(),
    "cursor_lines": terminal.cursor_lines,
    "raw": terminal.raw.decode(errors="replace"),
    "status": status,
}
json.dump(answer, sys.stdout)
