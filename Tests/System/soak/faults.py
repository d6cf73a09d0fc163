"""What breaks, one thing after the other. Each fault is a line of `FAULTS`, over when it returns; the order is the same in each round, and
the kill comes last, so that what the service holds is looked at for a whole round."""
import os
import random
import signal
import threading
import time

from history.history import now
from history.tools import say, wait_for
from storm.service import codecs

# Of the clock, in seconds: an hour forward and back again.
STEP = 3600


def kill_codecs(world, chance):
    """Five processes, a zygote among them perhaps, one after the other."""
    killed = 0
    for _ in range(5):
        if found := codecs(world.service.program):
            try:
                os.kill(chance.choice(found), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        world.rest(world.fault_seconds / 5)
    return {"killed": killed}


def slow_origin(world, _):
    """Longer than a job may take."""
    world.work.slowness = 30
    world.rest(world.fault_seconds)
    world.work.slowness = 0
    return {}


def fill_disk(world, _):
    filler = world.service.store / "filler"
    piece, size = bytes(1 << 20), 0
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                size += file.write(piece)
        except OSError:
            pass
        # What is freed meanwhile is taken as well.
        until = now() + world.fault_seconds
        while now() < until and not world.over.is_set():
            try:
                size += file.write(piece[:4096])
            except OSError:
                time.sleep(0.01)
    filler.unlink()
    return {"filled": size}


def step_clock(world, _):
    world.machine.set_clock(STEP)
    world.rest(world.fault_seconds)
    world.machine.set_clock(0)
    return {"offset": STEP}


def kill_service(world, _):
    world.service.kill()
    wait_for("the codecs of a service that was killed to end", lambda: not codecs(world.service.program), 20)
    world.service.start()
    world.life += 1
    return {}


FAULTS = {
    "codecs are killed": kill_codecs,
    "the origin is slow": slow_origin,
    "the disk is full": fill_disk,
    "the clock steps": step_clock,
    "the service is killed": kill_service,
}


class Nemesis(threading.Thread):
    """A fault each `pause` seconds, until the world is over."""

    def __init__(self, world, pause):
        super().__init__(name="nemesis", daemon=True)
        self.world, self.pause, self.problem = world, pause, None

    def run(self):
        chance, strikes = random.Random(f"{self.world.work.seed}/faults"), 0
        try:
            begin = now()
            while not self.world.over.wait(max(0, begin + (strikes + 1) * self.pause - now())):
                name = list(FAULTS)[strikes % len(FAULTS)]
                start = now()
                facts = FAULTS[name](self.world, chance)
                self.world.recorder.note("fault", what=name, start=start, end=now(), **facts)
                say(f"  {name} {' '.join(f'{key}={value}' for key, value in facts.items())}")
                strikes += 1
        except BaseException as problem:  # Told by whoever waits for it.
            self.problem = problem
