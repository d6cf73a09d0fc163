"""What happened, in lines of JSON: calls with their start and end by one monotonic clock, what the nemesis did, how long the machine
kept others waiting, and last the tables and the bucket as they were when all was quiet."""
import json
import threading
import time


def now():
    return time.monotonic()


class Recorder:
    """Writes as things happen, so that a test that is cut off leaves what it knew."""

    def __init__(self, path):
        self.file, self.lock = open(path, "w"), threading.Lock()
        # By the other clock the database notes what it saw.
        self.note("clock", realtime=time.time(), monotonic=now())

    def note(self, kind, **facts):
        line = json.dumps({"kind": kind, **facts}, separators=(",", ":"))
        with self.lock:
            self.file.write(line + "\n")
            self.file.flush()
        return facts

    def close(self):
        self.file.close()


class Metronome(threading.Thread):
    """Wants to run 20 times a second, and notes how much later it did: what the machine took from everybody."""

    STEP = 0.05

    def __init__(self, recorder):
        super().__init__(daemon=True)
        self.recorder, self.over = recorder, threading.Event()

    def run(self):
        while not self.over.is_set():
            start = now()
            time.sleep(self.STEP)
            late = now() - start - self.STEP
            if late > 0.02:
                self.recorder.note("delay", at=start, seconds=round(late, 4))


class History:
    """Of one run, sorted by start."""

    def __init__(self, events):
        self.events = list(events)
        self.calls = sorted((one for one in self.events if one["kind"] == "call"), key=lambda call: call["start"])
        self.faults = [one for one in self.events if one["kind"] == "fault"]
        self.receipts = [one for one in self.events if one["kind"] == "receipt"]
        self.delays = [one for one in self.events if one["kind"] == "delay"]
        self.clock = next((one["realtime"] - one["monotonic"] for one in self.events if one["kind"] == "clock"), 0)
        self.tables = {one["name"]: one["rows"] for one in self.events if one["kind"] == "table"}

    @classmethod
    def read(cls, path):
        with open(path) as lines:
            return cls(json.loads(line) for line in lines)

    def of(self, *operations):
        return [call for call in self.calls if call["op"] in operations]

    def delayed(self, start, end):
        """Seconds for which the machine kept others waiting in that time."""
        return sum(delay["seconds"] for delay in self.delays if start <= delay["at"] <= end)
