#!/usr/bin/env python3
"""Runs a command that must end: without standard input, for a limited time, and with nothing of it left behind.

    Tests/bounded.py [--used FILE] MINUTES COMMAND...

The status is the command's, or 124 if it ran over its time. FILE gets the CPU seconds of the command and of every process
that descends from it, in whatever session or process group it is.
"""
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading

PR_SET_CHILD_SUBREAPER = 36


def children():
    """The processes whose parent is this one: with orphans, as the kernel gives those to a subreaper."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of a program may hold spaces and brackets.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent == os.getpid():
                found.append(int(name))
    return found


def end_descendants():
    """Kills orphans until none are left: each that dies hands over its own children."""
    while left := children():
        for process in left:
            os.kill(process, signal.SIGKILL)
        for process in left:
            os.waitpid(process, 0)


def main(arguments):
    used = None
    if arguments[:1] == ["--used"]:
        used, arguments = arguments[1], arguments[2:]
    minutes, command = float(arguments[0]), arguments[1:]
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")

    # A shell lets its background jobs ignore interrupts; tests send them to programs that they start.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    late = threading.Event()

    def stop():
        late.set()
        process.terminate()
        if not ended.wait(10):
            process.kill()

    ended = threading.Event()
    timer = threading.Timer(minutes * 60, stop)
    timer.daemon = True
    timer.start()
    try:
        # Orphans that end before the command are reaped with it.
        while process.returncode is None:
            number, status = os.waitpid(-1, 0)
            if number == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        ended.set()
        timer.cancel()
        end_descendants()
        if used:
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            with open(used, "w", encoding="utf-8") as file:
                print(round(spent.ru_utime + spent.ru_stime), file=file)
    if late.is_set():
        print(f"Ran over its {arguments[0]} minutes: {' '.join(command)}", file=sys.stderr)
        return 124
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
