#!/usr/bin/env python3
"""Writes files of every accepted format of a group (pictures or clips) into a directory, with a canary in every place
that the format offers, and places.json: the places of each. Needs ffmpeg, exiftool, cwebp, heif-enc and cjxl.

    embed.py DIRECTORY GROUP
"""

import json
import pathlib
import sys

import clips
import pictures
from canary import MARK


def main() -> None:
    directory = pathlib.Path(sys.argv[1])
    places = {}
    for name, data, used in {"pictures": pictures, "clips": clips}[sys.argv[2]].make(directory):
        assert MARK in data or name in HIDDEN, name
        (directory / name).write_bytes(data)
        places[name] = used.used
    (directory / "places.json").write_text(json.dumps(places, indent=1))


# Their canaries are in colours or compressed, not in a row of bytes.
HIDDEN = {"hidden.webp", "from-jpeg.jxl"}

if __name__ == "__main__":
    main()
