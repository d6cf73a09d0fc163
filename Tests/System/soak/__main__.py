import argparse
import pathlib
import random
import subprocess
import sys
import threading
import time

from history.history import History, Recorder, now
from history.machine import Machine, build
from history.origin import Origin
from history.tools import run, say
from soak import plot
from soak.faults import Nemesis
from soak.judge import Verdict
from soak.samples import TABLES, Records, sample
from soak.work import Clients, Work
from storm.service import Service, codecs

# Of this run alone, in memory: Tests/System/soak.sh mounts it.
PLACE = pathlib.Path("/dev/shm/soak")
# The store's disk, which a fault fills; and what it has to have free.
DISK, FREE = "512M", "24M"
# Of the measured capacity.
SHARE = 0.8
# Seconds for which capacity is measured, after as many in which connections and caches are made; between two samples; until all that was
# accepted has to have ended.
MEASURED, SAMPLED, PATIENCE = 30, 4, 240


class World:
    """The service and what is around it, for whoever breaks it."""

    def __init__(self, satchel, seed, recorder, core, fault_seconds):
        self.recorder, self.fault_seconds, self.life, self.over = recorder, fault_seconds, 0, threading.Event()
        (PLACE / "store").mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "soak", PLACE / "store")
        self.machine = Machine(build(PLACE), PLACE / "machine")
        self.work = Work(seed, Origin("127.0.0.1"))
        self.service = Service(
            satchel, PLACE, "--fetch-allow", "127.0.0.1", "--grace", "10s", "--set", f"intake.free_bytes={FREE}",
            "--set", "quotas.submissions_per_minute=1000000", "--set", "maintenance.interval=60", prefix=("taskset", "--cpu-list", core, *self.machine.settings))
        self.records = Records(self.service.store)
        self.records.watch()
        self.service.start()

    def rest(self, seconds):
        self.over.wait(seconds)


class Sampler(threading.Thread):
    def __init__(self, world):
        super().__init__(name="sampler", daemon=True)
        self.world = world

    def run(self):
        while not self.world.over.wait(SAMPLED):
            life, at = self.world.life, now()
            found = sample(self.world.service, self.world.records)
            # What was looked at while the service was killed or began is no look at either life.
            if found["service"] and life == self.world.life and self.world.service.answers("/livez") == 200:
                self.world.recorder.note("sample", at=at, life=life, **found)


def perform(satchel, seed, minutes, pause, core, path):
    """One run, whose history goes to a file."""
    recorder = Recorder(path / "history.jsonl")
    world = World(satchel, seed, recorder, core, min(25, pause / 3))
    try:
        clients, numbers = Clients(world.service, world.work, recorder), iter(range(10 ** 9))
        for seconds in (MEASURED, MEASURED):
            start, before = now(), clients.finished
            while now() < start + seconds:
                clients.offer(next(numbers), patience=60)
            capacity = (clients.finished - before) / (now() - start)
        say(f"seed {seed}: {capacity:.1f} jobs a second at most, of which {SHARE} come")
        recorder.note("capacity", jobs=capacity)
        nemesis, sampler = Nemesis(world, pause), Sampler(world)
        nemesis.start()
        sampler.start()
        chance, end, due = random.Random(f"{seed}/arrivals"), now() + 60 * minutes, now()
        while now() < end and not nemesis.problem:
            due = max(due + chance.expovariate(SHARE * capacity), now() - 1)
            time.sleep(max(0, due - now()))
            clients.offer(next(numbers))
        world.over.set()
        nemesis.join()
        sampler.join()
        if nemesis.problem:
            raise nemesis.problem
        clients.stop()
        recorder.note("wrong", found=finish(world), turned_away=clients.turned_away)
    finally:
        (path / "service.log").write_bytes(world.service.log.read_bytes())
        recorder.close()


def finish(world):
    """Until all has ended; notes the tables, ends the service, and says what is left that may not be."""
    wrong, service, records = [], world.service, world.records
    start = now()
    while records.underway() and now() < start + PATIENCE:
        time.sleep(0.5)
    say(f"  quiet after {now() - start:.0f} s")
    for name, sql in TABLES.items():
        world.recorder.note("table", name=name, rows=records.query(sql))
    if (status := service.end()) != 0:
        wrong.append(f"told to end, the service ended with {status}")
    time.sleep(1)
    if left := codecs(service.program):
        wrong.append(f"{len(left)} processes of codecs are left")
    say("  " + service.command("store", "gc").strip().replace("\n", "\n  "))
    if strays := records.strays(youth=0):
        wrong.append(f"{len(strays)} files are left that no record names, such as {strays[0].relative_to(service.store)}")
    try:
        service.command("store", "verify")
    except subprocess.CalledProcessError as error:
        wrong.append(f"the store isn't whole: {error.stdout}{error.stderr}"[:800])
    return wrong


def judge(path, seed, drawn):
    history = History.read(path / "history.jsonl")
    by_kind = {kind: [one for one in history.events if one["kind"] == kind] for kind in ("sample", "end", "wrong", "capacity")}
    verdict = Verdict(history, by_kind["sample"], [line for one in by_kind["wrong"] for line in one["found"]])
    lines = [f"{one['turned_away']} came when nobody was free." for one in by_kind["wrong"]] + [*verdict.lines()]
    lines.append(f"Seed {seed}: " + ("all of it holds." if verdict.is_sound else "WRONG."))
    (path / "verdict").write_text("\n".join(lines) + "\n")
    say("\n".join(lines))
    span = (by_kind["sample"][-1]["at"] - by_kind["sample"][0]["at"]) / 60
    title = f"{span:.0f} minutes at {SHARE} of what one core takes, {by_kind['capacity'][0]['jobs']:.0f} jobs a second"
    drawn.write_text(plot.draw(by_kind["sample"], history.faults, [one["at"] for one in by_kind["end"]], title))
    return verdict.is_sound


def main():
    arguments = argparse.ArgumentParser(prog="soak")
    arguments.add_argument("--minutes", type=float, default=45)
    arguments.add_argument("--pause", type=float, default=180, help="seconds from one fault to the next")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--core", default="0", help="the service's")
    arguments.add_argument("--plot", type=pathlib.Path, help="where to draw it; beside the history where it isn't given")
    arguments.add_argument("--judge", action="store_true", help="judge the history that is there, and run nothing")
    arguments.add_argument("satchel", type=pathlib.Path)
    asked = arguments.parse_args()
    path = pathlib.Path(".build/soak") / str(asked.seed)
    path.mkdir(parents=True, exist_ok=True)
    if not asked.judge:
        perform(asked.satchel.resolve(), asked.seed, asked.minutes, asked.pause, asked.core, path)
    sys.exit(0 if judge(path, asked.seed, asked.plot or path / "soak.svg") else 1)


if __name__ == "__main__":
    main()
