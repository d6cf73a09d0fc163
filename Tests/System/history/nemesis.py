"""What breaks, as a seed says. Each fault is a line of `FAULTS` or `MACHINE_FAULTS`, and is over when it returns; one thing of each table
breaks after the other."""
import random
import threading

from history.history import now
from history.tools import say


class Nemesis(threading.Thread):
    def __init__(self, cluster, recorder, faults, seed):
        super().__init__(name="nemesis", daemon=True)
        self.cluster, self.recorder, self.faults = cluster, recorder, faults
        self.chance, self.over, self.problem = random.Random(seed), threading.Event(), None

    def run(self):
        try:
            while not self.over.is_set():
                # A deck: even a short run meets all of them.
                deck = list(self.faults)
                self.chance.shuffle(deck)
                for name in deck:
                    if self.over.wait(self.chance.uniform(0.5, 2.5)):
                        return
                    self.strike(name)
        except BaseException as problem:  # Told by whoever waits for it.
            self.problem = problem

    def strike(self, name):
        start = now()
        facts = self.faults[name](self, self.chance) or {}
        self.recorder.note("fault", what=name, start=start, end=now(), **facts)
        say(f"  {name} {' '.join(f'{key}={value}' for key, value in facts.items())}")

    def last(self, least, most):
        seconds = round(self.chance.uniform(least, most), 1)
        self.over.wait(seconds)
        return seconds

    def node(self):
        return self.chance.choice(self.cluster.nodes)


def kill_node(nemesis, _):
    node = nemesis.node()
    node.kill()
    seconds = nemesis.last(0, 14)
    node.start()
    node.await_ready()
    return {"node": node.name, "seconds": seconds}


def drain_node(nemesis, _):
    node = nemesis.node()
    node.drain()
    node.start()
    node.await_ready()
    return {"node": node.name}


def stop_node(nemesis, chance):
    node = nemesis.node()
    node.sleep()
    # Half of them are taken for dead meanwhile.
    seconds = nemesis.last(5, 11) if chance.random() < 0.5 else nemesis.last(12, 30)
    node.wake()
    return {"node": node.name, "seconds": seconds}


def cut(nemesis, chance, what):
    node, other = nemesis.node(), next(place for place in nemesis.cluster.network.places if place.name == what)
    direction = chance.choice(["both", "out", "in"])
    ways = {"out": [(node.place, other)], "in": [(other, node.place)]}
    ways = ways.get(direction) or ways["out"] + ways["in"]
    for one, another in ways:
        one.reach(another, False)
    seconds = nemesis.last(2, 13)
    for one, another in ways:
        one.reach(another)
    return {"node": node.name, "direction": direction, "seconds": seconds}


def fail_over(nemesis, chance):
    seconds = round(chance.uniform(0, 4), 1)
    databases = nemesis.cluster.databases
    databases.fail_over(seconds)
    databases.make_standby()
    return {"seconds": seconds}


def lose_answers(nemesis, chance):
    # Several times, as few of those that wait at one moment are deliveries; with time for each to be sent again, which a node tries
    # for five seconds.
    connections = 0
    for _ in range(3):
        connections += nemesis.cluster.databases.lose_answers(chance.uniform(0.5, 1.5))
        nemesis.over.wait(6)
    return {"connections": connections}


# An hour forward, and back again.
STEP = 3600


def step_clock(nemesis, _):
    machine = nemesis.cluster.databases.machine
    machine.set_clock(STEP)
    seconds = nemesis.last(4, 12)
    machine.set_clock(0)
    return {"offset": STEP, "seconds": seconds}


def step_node_clock(nemesis, chance):
    node, offset = nemesis.node(), chance.choice([-STEP, -600, 600, STEP])
    node.machine.set_clock(offset)
    seconds = nemesis.last(8, 20)
    node.machine.set_clock(0)
    return {"node": node.name, "offset": offset, "seconds": seconds}


def fill_disk(nemesis, _):
    node = nemesis.node()
    node.disk.fill()
    seconds = nemesis.last(4, 12)
    node.disk.empty()
    return {"node": node.name, "seconds": seconds}


def slow_disk(nemesis, chance):
    node, pause = nemesis.node(), chance.choice([0.02, 0.1, 0.5])
    node.machine.set_disk(pause, node.disk.directory)
    seconds = nemesis.last(4, 12)
    node.machine.set_disk(0, node.disk.directory)
    return {"node": node.name, "pause": pause, "seconds": seconds}


def bucket_fault(nemesis, fault, least, most):
    fault["seed"] = nemesis.chance.randrange(10 ** 6)
    nemesis.cluster.bucket.fault(fault)
    seconds = nemesis.last(least, most)
    nemesis.cluster.bucket.fault()
    return {"seconds": seconds, **fault}


def bucket_down(nemesis, chance):
    # Jobs that come now wait for their sources then.
    nemesis.cluster.bucket.warning.set()
    nemesis.over.wait(chance.uniform(0.6, 1.6))
    nemesis.cluster.bucket.warning.clear()
    return bucket_fault(nemesis, {"fault": "down"}, 4, 10)


FAULTS = {
    "a node is killed": kill_node,
    "a node is drained": drain_node,
    "a node sleeps": stop_node,
    "a node sleeps again": stop_node,
    "a node can't talk to the database": lambda nemesis, chance: cut(nemesis, chance, "database"),
    "a node can't talk to the bucket": lambda nemesis, chance: cut(nemesis, chance, "bucket"),
    "the primary is killed": fail_over,
    "answers to commits are lost": lose_answers,
    "the database's clock steps": step_clock,
    "the bucket is down": bucket_down,
    "the bucket is silent": lambda nemesis, _: bucket_fault(nemesis, {"fault": "pause"}, 2, 9),
    "the bucket errs": lambda nemesis, chance: bucket_fault(
        nemesis, {"fault": "error", "status": chance.choice([500, 503]), "share": chance.choice([0.3, 1])}, 3, 10),
    "the bucket is slow": lambda nemesis, chance: bucket_fault(nemesis, {"fault": "throttle", "rate": 30000}, 3, 9),
    "the bucket resets connections": lambda nemesis, chance: bucket_fault(
        nemesis, {"fault": "reset", "after": chance.choice([0, 1, 300, 700, 5000, 100000]), "answer": chance.random() < 0.5, "share": 0.6},
        3, 9),
}

# Beside the others.
MACHINE_FAULTS = {
    "a node's clock steps": step_node_clock,
    "a node's disk is full": fill_disk,
    "a node's clock steps again": step_node_clock,
    "a node's disk is slow": slow_disk,
}
