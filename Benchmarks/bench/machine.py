"""What a run is measured on and with: the machine, programs and packages with their versions."""

import os
import platform
import re
import shutil
from dataclasses import dataclass

from . import Failure
from .commands import Command, usable_cores

# ImageMagick itself: `convert` on the path may be somebody's script.
IMAGE_MAGICK = next(filter(shutil.which, ["convert-im6.q16", "/usr/bin/convert", "magick"]), "convert")
_PROGRAMS = {
    "libvips": ["vipsthumbnail", "--vips-version"], "ImageMagick": [IMAGE_MAGICK, "-version"], "GraphicsMagick": ["gm", "version"],
    "gifsicle": ["gifsicle", "--version"], "FFmpeg": ["ffmpeg", "-version"],
}
# Of each virtual environment what is measured; what a peer only needs, or another environment names already, isn't said.
_PACKAGES = {
    "system": ["pyvips", "pillow", "av"], "newest": ["pyvips-binary"], "simd": ["pillow-simd"], "thumbor": ["thumbor"],
}


def answer(line):
    """Empty where the program fails or isn't there."""
    try:
        return Command(line).text()
    except Failure:
        return ""


def version_in(words):
    """The first word that looks like a version."""
    found = re.search(r"\d+\.\d+(\.\d+)*([-.][0-9A-Za-z]+)*", words)
    return found and found[0]


def tool_versions(directory):
    """By name, of those that are there, and of what the virtual environments hold, which `peers/environments.sh` makes."""
    found = {name: version_in(answer(line)) for name, line in _PROGRAMS.items()}
    for environment, names in _PACKAGES.items():
        lines = answer([directory / "venv" / environment / "bin/python3", "-m", "pip", "freeze"]).lower().split()
        packages = dict(line.split("==") for line in lines if "==" in line)
        found |= {name: packages.get(name) for name in names}
    return {name: version for name, version in found.items() if version}


@dataclass
class Machine:
    processor: str
    cores: int  # that this process may run on
    memory_bytes: int
    load: float  # processes that wanted a processor in the minute before, on average
    kernel: str
    satchel: str
    peers: dict[str, str]  # versions of those that there are

    @classmethod
    def here(cls, satchel, peers):
        with open("/proc/cpuinfo") as file:
            model = re.search(r"^model name\s*:\s*(.*)", file.read(), re.MULTILINE)
        return cls(
            model[1] if model else "?", len(usable_cores()), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"),
            os.getloadavg()[0], f"{platform.system()} {platform.release()}", answer([satchel, "--version"]).split("\n")[0] or "?",
            peers)

    @property
    def is_busy(self):
        """Others were at work: wall times, and the gain of a second core, say little."""
        return self.load > self.cores * 0.4

    def __str__(self):
        tools = ", ".join(f"{name} {version}" for name, version in {"satchel": self.satchel, **self.peers}.items())
        return f"{self.processor}, {self.cores} cores, {self.memory_bytes / 1e9:.1f} GB; {self.kernel}; {tools}"
