import argparse
import collections
import http.client
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from storm import mutation, samples
from storm.service import Service, codecs

ROOT = Path(__file__).resolve().parents[3]
# Seconds that a source may take by its limits; what a busy machine adds to that isn't the mutant's.
LIMIT, SLACK = 20, 10
# One in so many is a file that nobody has changed.
NEIGHBOURS = 20
ROUND = 400
CLIENTS = 6
# Directories of a store in which nothing may be left.
PASSING = ["spool", "staging"]
# What may be tried again keeps its source for that: of a service, which has it in its spool.
RETRIED = {"deadline_exceeded", "codec_crashed", "store_failed", "store_full"}


class Storm:
    def __init__(self, program, seed):
        self.program, self.seed = Path(program).resolve(), seed
        self.kept = ROOT / f".build/storm/{seed}"
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir(parents=True)
        self.samples, self.neighbours = samples.load()
        # (way, kind) → code → how many.
        self.counts = collections.defaultdict(collections.Counter)
        self.seconds = collections.defaultdict(list)
        self.faults = []
        self.slowest = collections.defaultdict(float)
        self.lock = threading.Lock()

    def fault(self, text, number=None):
        with self.lock:
            self.faults.append(text)
        print(f"WRONG: {text}", flush=True)
        if number is not None:
            self.keep(number)

    def keep(self, number, why="fault"):
        kind, name, data = mutation.mutant(self.seed, number, self.samples)
        (self.kept / f"{why}-{number}-{kind}-{name.replace('/', '-')}").write_bytes(data)

    def note(self, way, kind, code, number, seconds=None, why=""):
        with self.lock:
            self.counts[way, kind][code] += 1
            # A codec that died is no fault of Satchel's promise, and is looked at.
            if code in ("codec_crashed", "internal", "store_failed") and kind != "neighbour":
                self.keep(number, code)
            if seconds is not None:
                self.slowest[way] = max(self.slowest[way], seconds)
        if kind == "neighbour" and code != "delivered":
            self.fault(f"{way}: a file that nobody changed, number {number}, came to {code} {why}".rstrip())
        if seconds is not None and seconds > LIMIT + SLACK:
            self.fault(f"{way}: mutant {number} took {seconds:.1f} s", number)

    def source(self, number, control=False):
        """What number so many is: its kind, its name, its bytes. In a control nothing is changed."""
        if number % NEIGHBOURS == 0:
            name, data = self.neighbours[number // NEIGHBOURS % len(self.neighbours)]
            return "neighbour", name, data
        kind, name, data = mutation.mutant(self.seed, number, self.samples)
        return kind, name, dict(self.samples)[name] if control else data

    # MARK: What is left

    def leftovers(self, store, way, kept=0):
        for name in PASSING:
            left = [p for p in (store / name).rglob("*") if p.is_file()] if (store / name).is_dir() else []
            if len(left) > (kept if name == "spool" else 0):
                self.fault(f"{way}: {len(left)} files are left in {name}, such as {left[0].name}")

    def retried(self):
        """How many of a service's sources may be tried again."""
        return sum(counts[code] for (way, _), counts in self.counts.items() if way == "service" for code in RETRIED)

    # MARK: A batch

    def batch(self, numbers, control=False):
        way = "control" if control else "batch"
        with tempfile.TemporaryDirectory() as place:
            sources, store = Path(place) / "sources", Path(place) / "store"
            sources.mkdir()
            kinds = {}
            for number in numbers:
                kind, name, data = self.source(number, control)
                path = f"{number:06}{Path(name).suffix}"
                kinds[path] = number, kind
                (sources / path).write_bytes(data)
            process = subprocess.Popen(
                [self.program, "batch", sources, "--store", store, "--format", "jsonl", "--timeout", str(LIMIT)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                output, errors = process.communicate(timeout=len(numbers) * LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, errors = process.communicate()
                self.fault(f"{way}: the batch of {numbers[0]} to {numbers[-1]} didn't end")
            # 1: some failed. Anything else is no end of a batch.
            if process.returncode not in (0, 1):
                self.fault(f"{way}: it ended with {process.returncode}: {errors[-300:]}")
            for line in output.splitlines():
                result = json.loads(line)
                if result.get("path") not in kinds:
                    continue
                number, kind = kinds.pop(result["path"])
                code = (result.get("error") or {}).get("code") or result["state"]
                self.note(way, kind, code, number, result.get("seconds"), (result.get("error") or {}).get("message", ""))
                if kind == "neighbour":
                    self.seconds[way].append(result["seconds"])
            for path, (number, _) in kinds.items():
                self.fault(f"{way}: {path} has no result", number)
            self.leftovers(store, way)
            # A zygote takes its processes along when the batch has ended.
            deadline = time.monotonic() + 10
            while (left := codecs(self.program)) and time.monotonic() < deadline:
                time.sleep(0.1)
            if left:
                self.fault(f"{way}: {len(left)} codec processes are left")

    # MARK: A service

    def serve(self, numbers):
        with tempfile.TemporaryDirectory() as place:
            service = Service(self.program, Path(place), "--grace", "5s")
            service.start()
            try:
                before, retried = len(codecs(self.program)), self.retried()
                rest = iter(numbers)
                clients = [threading.Thread(target=self.client, args=(service, rest)) for _ in range(CLIENTS)]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
                if service.has_ended:
                    self.fault(f"service: it ended with {service.process.returncode}: {service.log.read_text()[-600:]}")
                    return
                # What was used is replaced in its own time, and each of the two zygotes may have a successor in reserve.
                most = 2 * before + 2
                deadline = time.monotonic() + 20
                while len(codecs(self.program)) > most and time.monotonic() < deadline:
                    time.sleep(0.5)
                after = len(codecs(self.program))
                if after > most:
                    self.fault(f"service: it has {after} codec processes, and had {before}")
                self.leftovers(service.store, "service", kept=self.retried() - retried)
            finally:
                if not service.has_ended and (status := service.end()) != 0:
                    self.fault("service: told to end, it " + ("doesn't" if status is None else f"ended with {status}"))

    def client(self, service, numbers):
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=LIMIT + SLACK + 30)
        headers = {"Authorization": f"Bearer {service.key}"}
        while not service.has_ended:
            with self.lock:
                number = next(numbers, None)
            if number is None:
                break
            kind, name, data = self.source(number)
            start = time.monotonic()
            try:
                connection.request(
                    "POST", f"/v1/jobs?identifier=it&deadline={LIMIT}&name={number}{Path(name).suffix}", data,
                    {**headers, "Content-Type": "application/octet-stream", "Prefer": f"wait={LIMIT}"})
                response = connection.getresponse()
                body = response.read()
                job = json.loads(body) if body else {}
                until = time.monotonic() + LIMIT + SLACK
                while response.status == 202 and time.monotonic() < until:
                    connection.request("GET", f"/v1/jobs/{job['id']}?wait=10", headers=headers)
                    response = connection.getresponse()
                    job = json.loads(response.read())
                    if job.get("state") in ("pending", "running", "accepted", "claimed"):
                        response.status = 202
                        time.sleep(0.2)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.fault(f"service: mutant {number}: {type(error).__name__}: {error}", number)
                connection.close()
                continue
            if response.status >= 500:
                self.fault(f"service: mutant {number} was answered with {response.status}: {body[:200]}", number)
            elif response.status == 202:
                self.fault(f"service: mutant {number} was accepted and doesn't end", number)
            parts = job.get("attachments") or [{}]
            error = parts[0].get("error") or job.get("error") or {}
            code = error.get("code") or parts[0].get("state") or job.get("code") or f"HTTP {response.status}"
            seconds = time.monotonic() - start
            self.note("service", kind, code, number, seconds, error.get("message", ""))
            if kind == "neighbour":
                with self.lock:
                    self.seconds["service"].append(seconds)

    # MARK: The report

    def tell(self):
        codes = sorted({code for counts in self.counts.values() for code in counts})
        for (way, kind), counts in sorted(self.counts.items()):
            print(f"{way:8} {kind:10} {sum(counts.values()):7}  " + "  ".join(f"{c} {counts[c]}" for c in codes if counts[c]))
        medians = {way: statistics.median(seconds) for way, seconds in self.seconds.items() if seconds}
        for way, median in sorted(medians.items()):
            print(f"{way}: a file that nobody changed took {median * 1000:.0f} ms (median of {len(self.seconds[way])})")
        if {"batch", "control"} <= medians.keys():
            print(f"beside mutants {medians['batch'] / medians['control']:.2f} times as long as beside what they were made of")
        for way, seconds in sorted(self.slowest.items()):
            print(f"{way}: the slowest took {seconds:.1f} s")
        print(f"{len(self.faults)} wrong" if self.faults else "Nothing is wrong.")
        (self.kept / "counts.json").write_text(
            json.dumps({f"{way} {kind}": counts for (way, kind), counts in self.counts.items()}, indent=1, sort_keys=True))


def main():
    parser = argparse.ArgumentParser(prog="storm")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    # What an earlier run has done is left out.
    parser.add_argument("--first", type=int, default=0)
    # Beside the count: whichever comes first.
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("program")
    arguments = parser.parse_args()
    storm = Storm(arguments.program, arguments.seed)
    end = time.monotonic() + arguments.minutes * 60
    print(f"{len(storm.samples)} samples, seed {arguments.seed}", flush=True)
    # Two at least, so that both ways are gone.
    size = min(ROUND, (arguments.count + 1) // 2)
    rounds = [list(range(start, min(start + size, arguments.count))) for start in range(arguments.first, arguments.count, size)]
    storm.batch(rounds[0], control=True)
    for index, numbers in enumerate(rounds):
        if time.monotonic() > end:
            print(f"Time is up after {numbers[0]}.")
            break
        # In turn, and the control now and then, so that all see the same machine.
        storm.serve(numbers) if index % 2 else storm.batch(numbers)
        if index % 20 == 19:
            storm.batch(rounds[0], control=True)
        if index % 5 == 4:
            print(f"{numbers[-1] + 1} mutants, {len(storm.faults)} wrong", flush=True)
    storm.tell()
    sys.exit(1 if storm.faults else 0)


main()
