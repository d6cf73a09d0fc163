"""Processes as the kernel shows them: trees, their memory and their processor time."""

import os
import re
import threading
import time
from pathlib import Path

import psutil


def tree(root):
    """A process and all beneath it, at one moment, but those that have ended."""
    try:
        found = [root := psutil.Process(root), *root.children(recursive=True)]
        return [one for one in found if answer(one.status, psutil.STATUS_ZOMBIE) != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []


def answer(question, otherwise=0):
    """What a process answers, unless it ended meanwhile."""
    try:
        return question()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return otherwise


def cpu(root):
    """Seconds of processors that a tree took so far, and those of its children that have ended and were waited for."""
    # Of user and system, its own and of children.
    return sum(sum(answer(process.cpu_times, [0])[:4]) for process in tree(root))


def peak_of_one(process):
    """Bytes: the most that a process had so far; 0 where it is ending."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0


def peak_memory(body, services=()):
    """The peak of all processes beneath this one together, while `body` runs; with its result.

    Of what processes share each has its part (`Pss`). Looks every 20 ms, which costs time in this process and a little in those that
    are looked at: not for rounds that are timed. `services` ran before, and are counted with all beneath them; nothing else that ran
    before is.
    """
    others, peak, is_done = set(tree(os.getpid())), 0, threading.Event()

    def look():
        nonlocal peak
        while not is_done.wait(0.02):
            found = set(tree(os.getpid())) - others
            for service in services:
                found.update(tree(service))
            peak = max(peak, sum(answer(lambda: process.memory_full_info().pss) for process in found))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        result = body()
    finally:
        is_done.set()
        watcher.join()
    return result, peak


def proportional(root):
    """Bytes that a process has now, and those of it and all beneath it; of what processes share each has its part (`Pss`)."""
    own, *others = [answer(lambda: process.memory_full_info().pss) for process in tree(root)]
    return own, own + sum(others)


class Footprint:
    """What a service holds at one moment, which must not grow."""

    def __init__(self, process, store):
        service = psutil.Process(process)
        self.memory, self.descriptors, self.children = service.memory_info().rss, service.num_fds(), len(tree(process)) - 1
        self.files = sum(len(list(place.iterdir())) for name in ("spool", "staging") if (place := store / name).is_dir())

    @staticmethod
    def settled(look, pause=0.25, patience=40):
        """That which `look` finds when nothing is underway any more."""
        last = look()
        for _ in range(patience):
            time.sleep(pause)
            now = look()
            if (now.descriptors, now.children, now.files) == (last.descriptors, last.children, last.files):
                break
            last = now
        return now
