"""Whether what was made of clips is what is measured, by ffprobe, and how near it comes to its source, by ffmpeg."""

import os
import re
import tempfile

from .. import Failure
from ..commands import Command, ffmpeg
from ..contenders.tasks import SECONDS
from ..figures import DECIBELS, KILOBYTES, Column, mean

# Seconds that lengths may differ by: a packet, a group of priming samples.
_TOLERANCE = 0.3


def columns(task):
    found = [Column("bytes", "bytes", KILOBYTES)] if task.type else []
    return found + ([Column("psnr", "PSNR to the source", DECIBELS)] if task.profile == "transcode" else [])


def figures(task, sources, place):
    """Of all sources of which something was made; none of a floor, which leaves what it made last.

    Raises Failure where something is missing, or has another length or size than it ought to have.
    """
    if not task.type:
        for source in sources:
            _check_answer(task.output(source, place), source)
        return {}
    outputs = [task.output(source, place) for source in sources]
    for output in outputs or [task.output("last", place)]:
        _check(output, task)
    found = {"bytes": [os.path.getsize(output) / 1000 for output in outputs]}
    if task.profile == "transcode":
        found["psnr"] = [_fidelity(output, source, task) for output, source in zip(outputs[:3], sources)]
    return found


def facts(file):
    """What ffprobe says of a file, by name."""
    line = ["ffprobe", "-v", "error", "-show_entries", "format=duration:stream=width,height", "-of", "default=nw=1", file]
    return {name: float(value) for name, value in re.findall(r"^(\w+)=([0-9.]+)$", Command(line).text(), re.MULTILINE)}


def _check_answer(answer, source):
    """Whether somebody's words on a source have its sides and its seconds in them."""
    known = facts(source)
    with open(answer) as file:
        said = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", file.read())]
    for name, tolerance in (("width", 0), ("height", 0), ("duration", _TOLERANCE)):
        if not any(abs(number - known[name]) <= tolerance for number in said):
            raise Failure(f"{answer}: it doesn't tell the {name}, {known[name]}")


def _check(output, task):
    known = facts(output)
    if task.profile != "poster" and abs(known.get("duration", 0) - SECONDS) >= _TOLERANCE:
        raise Failure(f"{output}: it lasts {known.get('duration', 0)} s")
    longest = max(known.get("width", 0), known.get("height", 0))
    if task.side and longest != task.side:
        raise Failure(f"{output}: its longest side has {longest:.0f} pixels")


def _fidelity(output, source, task):
    """In dB, over all frames, to a bicubic scaling of the source's."""
    with tempfile.NamedTemporaryFile() as answer:
        filters = f"[1:v]scale={task.side}:-2[r];[0:v][r]psnr=stats_file={answer.name}"
        ffmpeg("-i", output, "-t", SECONDS, "-i", source, "-lavfi", filters, "-f", "null", "-")
        values = [float(value) for value in re.findall(r"psnr_avg:([0-9.]+)", answer.read().decode())]
    if not values:
        raise Failure(f"{output}: no frame was compared")
    return mean(values)
