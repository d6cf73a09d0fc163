import argparse
import pathlib
import shutil
import sys

from history.checker import Verdict
from history.clients import World
from history.cluster import Cluster
from history.crowd import crowd
from history.examination import examine, settle
from history.history import History, Metronome, Recorder
from history.nemesis import FAULTS, MACHINE_FAULTS, Nemesis
from history.origin import Origin
from history.receiver import Receiver
from history.tools import say


def perform(satchel, seed, seconds, path):
    """One run, whose history goes to a file."""
    recorder = Recorder(path / "history.jsonl")
    # Of this run alone, in memory: Tests/System/history.sh mounts it.
    place = pathlib.Path("/dev/shm/history")
    place.mkdir()
    try:
        cluster = Cluster(satchel, place, seed)
        say(f"seed {seed}: " + ", ".join(f"{node.name} is {node.role}" for node in cluster.nodes))
        receiver = Receiver(recorder, cluster.secrets, seed)
        world, metronome = World(cluster, recorder, Origin(), receiver, seed), Metronome(recorder)
        nemeses = [
            Nemesis(cluster, recorder, FAULTS, f"{seed}/nemesis"), Nemesis(cluster, recorder, MACHINE_FAULTS, f"{seed}/machines")]
        clients = crowd(world)
        for thread in (metronome, *clients, *nemeses):
            thread.start()
        nemeses[0].join(seconds)
        for nemesis in nemeses:
            nemesis.over.set()
        for nemesis in nemeses:
            nemesis.join()
            if nemesis.problem:
                raise nemesis.problem
        world.over.set()
        for client in clients:
            client.join()
            if client.problem:
                raise client.problem
        receiver.share = 0
        for node in cluster.nodes:
            node.await_ready()
        say(f"  quiet after {settle(cluster):.0f} s")
        examine(world)
        metronome.over.set()
        metronome.join()
    finally:
        for log in [*place.glob("*.log"), *place.glob("database-*/*.log")]:
            shutil.copy(log, path / f"{log.parent.name}.log" if log.name == "server.log" else path)
    recorder.close()


def judge(path, seed, seconds):
    verdict = Verdict(History.read(path / "history.jsonl"))
    lines = [*verdict.lines()]
    lines.append(f"Seed {seed}: " + ("all of it holds." if verdict.is_sound else "WRONG."))
    (path / "verdict").write_text("\n".join(lines) + "\n")
    say("\n".join(lines))
    if not verdict.is_sound:
        say(f"Its history is {path}/history.jsonl. The same again: make history SEEDS={seed} SECONDS={seconds}")
    return verdict.is_sound


def main():
    arguments = argparse.ArgumentParser(prog="history")
    arguments.add_argument("--seconds", type=int, default=300)
    arguments.add_argument("--judge", action="store_true", help="judge the history that is there, and run nothing")
    arguments.add_argument("satchel", type=pathlib.Path)
    arguments.add_argument("seed", type=int)
    asked = arguments.parse_args()
    path = pathlib.Path(".build/history") / str(asked.seed)
    path.mkdir(parents=True, exist_ok=True)
    if not asked.judge:
        perform(asked.satchel.resolve(), asked.seed, asked.seconds, path)
    sys.exit(0 if judge(path, asked.seed, asked.seconds) else 1)


if __name__ == "__main__":
    main()
