"""GIFs like those that people send."""

import sys
import tempfile
from pathlib import Path

from ..commands import Command, ffmpeg
from .chance import chance
from .scene import scene

# Of the films, which repeat.
FRAMES = [44, 52, 60, 72, 80, 96, 110, 125]
# A camera that moves; somebody who types, scrolls and points; something that moves before a still camera; a figure before nothing;
# lines that move; areas of colour in which most moves.
KINDS = ["film", "screen", "stage", "sticker", "lines", "chart"]
# Those of which ffmpeg makes films.
FILMED = ["film", "chart", "stage"]
# Those that drawings.py draws, with their sides: chats want stickers small.
_DRAWN = {"screen": (800, 600), "lines": (480, 480), "sticker": (512, 512)}


def make(index, file, seed):
    """One of each kind by turns: films of 480 by 360 and 640 by 480 pixels, 12 to 25 frames a second, with one palette of their
    own and dithered; recordings of screens, line art and stickers as drawn."""
    frames, kind = FRAMES[index % len(FRAMES)], KINDS[index % len(KINDS)]
    if kind in _DRAWN:
        numbers = [seed % 1_000_000 + index, *_DRAWN[kind], frames // 3 if kind == "sticker" else frames, 5 + index % 4]
        Command([sys.executable, Path(__file__).with_name("drawings.py"), kind, *numbers, file]).run()
    else:
        width, height = (640, 480) if index % 4 == 3 else (480, 360)
        make_film(kind, index, frames, width, height, chance(seed, "loop", index), file, seed)


def make_loop_of(frames, first, index, file, seed):
    number = first + index
    make_film("film", number * 3, frames, 480, 360, chance(seed, "loop of frames", number), file, seed)


def make_film(kind, index, frames, width, height, random, file, seed):
    rate, dx, dy = int(random.integers(12, 26)), random.uniform(1, 6), random.uniform(0.5, 3)
    with tempfile.TemporaryDirectory() as scratch:
        picture = Path(scratch) / "scene.ppm"
        source = ["-loop", 1, "-framerate", rate, "-i", picture]
        if kind == "film":
            scene(width * 5 // 2, height * 5 // 2, seed, "film", index).save(picture)
            film = (
                f"crop={width * 3 // 2}:{height * 3 // 2}:x='mod(n*{dx},{width})':y='mod(n*{dy},{height})'"
                f",scale={width}:{height},noise=alls=3:allf=t:all_seed={index}")
        elif kind == "chart":
            source = ["-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate={rate}"]
            film = f"hue=h={int(random.uniform(0, 360))}"
        else:
            scene(width, height, seed, "stage", index).save(picture)
            # A piece of the picture itself goes to and fro over it.
            film = (
                f"split[stage][piece];[piece]crop={width // 4}:{height // 4}:{width // 2}:{height // 2},hue=h=120[piece];"
                f"[stage][piece]overlay=x='abs(mod(n*{dx * 2},{width})-{width // 4})':y='{height // 3}+{height // 5}*sin(n/9)'")
        dither = "bayer:bayer_scale=3:diff_mode=rectangle" if kind == "stage" else "sierra2_4a"
        ffmpeg(
            "-bitexact", *source, "-frames:v", frames, "-filter_complex",
            f"{film},split[one][two];[one]trim=end_frame={frames},palettegen=stats_mode=full[palette];"
            f"[two][palette]paletteuse=dither={dither}", "-f", "gif", file)
