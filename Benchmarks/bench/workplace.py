"""Where a run has its inputs, and what it makes and throws away."""

import os
import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import Failure, machine, progress
from .commands import Command
from .corpus.inputs import Inputs

PEERS = Path(__file__).resolve().parent.parent / "peers"


class Workplace:
    def __init__(self, directory, programs):
        """`directory` is kept between runs; `programs` is that of the programs that are measured."""
        self.directory, self.programs, self.scratch = directory, programs, directory / "scratch"
        self.satchel_program = self.program("satchel")
        self.program("satchel-codec")
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.clear()

    def program(self, name):
        for place in (self.programs, self.directory):
            if os.access(place / name, os.X_OK):
                return place / name
        raise Failure(f"{self.programs / name}: is missing: 'make bench-build' builds it")

    def python(self, environment):
        """Of a virtual environment with peers in it."""
        if not (python := self.directory / "venv" / environment / "bin/python3").exists():
            raise Failure(f"{environment}: its virtual environment is missing: 'make bench-peers' makes it")
        return python

    def unique(self, name):
        """A path that nobody else has, thrown away with the rest."""
        return self.scratch / f"{name}-{uuid.uuid4()}"

    @contextmanager
    def empty_directory(self, name):
        place = self.unique(name)
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place)

    def satchel(self, *arguments):
        """`satchel` with a store of its own, which is durable and empty."""
        environment = {"SATCHEL_STORE": self.unique("store"), "SATCHEL_ACCESS_KEYS": self.scratch / "keys"}
        return Command([self.satchel_program, *arguments], environment)

    def profiles(self, name, text):
        """The path of a file of profiles."""
        file = self.directory / f"{name}.yaml"
        file.write_text(f"profiles:\n{text}")
        return file

    def inner_lines(self, line, count):
        """What a program that measures pieces of itself says: a line for each input, words separated by spaces."""
        lines = [words.split() for words in Command(line).text().splitlines()]
        if len(lines) != count:
            raise Failure(f"{line[0]}: measured {len(lines)} inputs, not {count}")
        return lines

    def clear(self):
        """Removes all stores and outputs, so that no run pays for the one before."""
        shutil.rmtree(self.scratch)
        self.scratch.mkdir()


@dataclass
class Run:
    """What a part has to measure with."""

    options: object
    workplace: Workplace
    inputs: Inputs
    tools: dict  # versions of the peers that there are

    @classmethod
    def of(cls, options):
        workplace = Workplace(options.directory, options.programs)
        place = options.directory / "inputs" / f"seed-{options.seed}"
        inputs = Inputs(place, options.samples / "jpeg/earth-12-megapixels.jpg", options.seed)
        return cls(options, workplace, inputs, machine.tool_versions(options.directory))

    @property
    def rounds(self):
        return self.options.rounds

    @property
    def is_full(self):
        return self.options.full

    @property
    def libvips(self):
        """`libvips 8.14.1`: vipsthumbnail and pyvips differ much from version to version."""
        return f"libvips {self.tools.get('libvips', '')}".strip()

    def turns(self, what, most=None):
        """The numbers of the rounds, each of which is said."""
        rounds = min(most or self.rounds, self.rounds)
        for turn in range(rounds):
            progress.say(f"{what}, round {turn + 1} of {rounds}")
            yield turn
