#!/usr/bin/env python3
"""Writes files that lie about themselves, and files at a limit and just above it, into a directory GROUP (limits, bombs
or lies) below DIRECTORY, with outcomes.json: what may come of each, as `delivered` or an error's code, with the count and
the limit that its message must name. Needs ffmpeg.

    make.py DIRECTORY GROUP
"""

import json
import pathlib
import sys
import tempfile

import clips
import pictures


def main() -> None:
    directory, group = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as workshop:
        samples = clips.Samples(pathlib.Path(workshop))
        folder = directory / group
        folder.mkdir()
        outcomes = {}
        for name, data, allowed in [*getattr(pictures, group)(), *getattr(clips, group)(samples)]:
            assert name not in outcomes, name
            (folder / name).write_bytes(data)
            outcomes[name] = allowed
    (folder / "outcomes.json").write_text(json.dumps(outcomes, indent=1))


if __name__ == "__main__":
    main()
