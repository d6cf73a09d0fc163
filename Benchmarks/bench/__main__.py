"""What is measured is chosen on the command line: `python -m bench --help` says how."""

import argparse
import sys
from pathlib import Path

from . import Failure, progress
from .contenders import peers, services
from .contenders.tasks import STILLS
from .parts import PARTS
from .results import Results, measured
from .workplace import Run

_DESCRIPTION = """\
Measures Satchel beside the programs and libraries that people use instead: on one machine, in one run, on the same files, in
alternation. What it finds is printed as tables, and kept with every round in .bench/results.json, with plots beside it.

  make bench                                       the parts marked with *, with few rounds: minutes
  make bench-full                                  everything, with more inputs and rounds: hours
  bench --only photographs --rounds 10             one part; other parts' results stay
  bench --full --resume                            what a run of this extent that broke off has not measured yet
  bench --only photographs --corpus ~/Pictures     on files of your own
  bench --only photographs \\
      --peer 'mine=resize {input} {output} -w {width} -h {height}' \\
      --peer-url 'other=http://127.0.0.1:8888/{width}x{height}/{path}'
                                                   beside programs and services of your own
"""
_EPILOG = """\
Leave the machine alone meanwhile: CPU barely suffers from others, but wall times mean nothing then. What fails, or makes something
else than is measured, has no figure but a line that says why. The exit status is 0 when every part was measured, whether targets are
met or not.

Parts:
"""


def _line(part):
    return f"  {part.name + (' *' if part.is_in_short_run else ''):<16}{part.summary}"


def _checked(make):
    """For argparse, which says what a ValueError says only of its own."""
    def value(text):
        try:
            return make(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{text}': {error}") from error

    return value


def _parts(text):
    known = {part.name: part for part in PARTS}
    if unknown := [name for name in text.split(",") if name not in known]:
        raise ValueError(f"there is no part '{unknown[0]}': --list shows all")
    return [known[name] for name in text.split(",")]


def _positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("is a whole number from 1")
    return int(text)


def options(arguments):
    """What is to be measured, and where."""
    parser = argparse.ArgumentParser(
        "bench", description=_DESCRIPTION, epilog=_EPILOG + "\n".join(map(_line, PARTS)), allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument_group("where").add_argument
    add("--programs", type=Path, default=".build/release", metavar="DIRECTORY", help="of satchel, satchel-codec and inner-bench")
    add("--directory", type=Path, default=".bench", metavar="DIRECTORY", help="for inputs, virtual environments and results")
    add("--samples", type=Path, default="Media", metavar="DIRECTORY", help="of the sample files")
    add = parser.add_argument_group("what").add_argument
    add("--list", action="store_true", help="name all parts")
    add("--only", type=_checked(_parts), action="extend", default=[], metavar="PART[,PART…]", help="only these; may be repeated")
    add("--full", action="store_true", help="more inputs, more rounds, and the parts that take long")
    add("--rounds", type=_checked(_positive), metavar="N", help="3, or 5 with --full; a figure is the median of the rounds")
    add(
        "--pending", type=_checked(_positive), metavar="N", help="notifications that are pending while others fire: 100,000, or 1,000,000"
        " with --full")
    add("--resume", action="store_true", help="leave out what results.json has for this seed, extent and rounds")
    add("--seed", type=int, default=20_260_701, metavar="N", help="of the inputs that are made; the same seed makes the same")
    add("--corpus", type=Path, metavar="DIRECTORY", help="sources of your own instead: each part takes what is of its kind")
    add = parser.add_argument_group("beside what; peers that are missing are named, and have no figures").add_argument
    add(
        "--peer", type=_checked(lambda text: peers.own(STILLS, text)), action="append", dest="peers", default=[],
        metavar="NAME=COMMAND", help="called for each source and size. {input}, {output}, {width} and {height} are put in, the latter"
        " two as the box that the output is to fit")
    add(
        "--peer-url", type=_checked(lambda text: services.own(STILLS, text)), action="append", dest="peers", metavar="NAME=URL",
        help="asked with GET for each source and size. {path} is the source's path, escaped, {name} its last component, {width} and"
        " {height} as above. CPU is measured where the process that serves it is named: 'NAME@1234=http://…'")
    add = parser.add_argument_group("results").add_argument
    add("--draw", action="store_true", help="draw the plots of results.json again")
    add("--publish", type=Path, metavar="DIRECTORY", help="put the plots into DIRECTORY/plots, the tables into its RESULTS.md")
    found = parser.parse_args(arguments)
    # Some contenders take paths relative to those of their sources.
    found.directory = found.directory.absolute()
    found.extent, found.rounds = "full" if found.full else "short", found.rounds or (5 if found.full else 3)
    found.parts = [part for part in PARTS if (part in found.only if found.only else found.full or part.is_in_short_run)]
    return found


def measure(options, file, plots):
    """Part by part; the results are written after each, so that what was measured stays whatever happens next."""
    results = Results.read(file) if options.resume or options.only else Results()
    parts = [part for part in options.parts if not (options.resume and results.have(part, options))]
    run = Run.of(options)
    for part in parts:
        result = measured(run, part)
        results.merge(result)
        results.write(file)
        progress.end()
        print(f"## {part.name}\n\n{result.text}\n", flush=True)
    # Not before: ext4 searches on and on for an inode where many were deleted in the last minutes.
    run.workplace.clear()
    results.draw(plots)
    print(f"Everything is in {file}, the plots beside it.")
    found = [results.of(part) for part in parts]
    if missed := [one.name for result in found for one in result.findings.measurements if one.is_met is False]:
        print(f"Not every target is met: {', '.join(missed)}.")
    if failed := [result.part for result in found if result.failure]:
        raise Failure(f"not measured: {', '.join(failed)}")


def main():
    chosen = options(sys.argv[1:])
    file, plots = chosen.directory / "results.json", chosen.directory / "plots"
    try:
        if chosen.list:
            print("\n".join(map(_line, PARTS)))
        elif chosen.draw or chosen.publish:
            results = Results.read(file)
            results.publish(chosen.publish) if chosen.publish else results.draw(plots)
        else:
            measure(chosen, file, plots)
    except Failure as failure:
        progress.end()
        sys.exit(f"bench: {failure}")


if __name__ == "__main__":
    main()
