"""What one photograph or GIF more costs by its megapixels or frames, beside peers."""

import math

from ..contenders import peers
from ..contenders.contest import cost_curve
from ..contenders.tasks import ANIMATIONS, STILLS
from ..corpus.inputs import paths


def measure_photographs(run):
    points = {}
    for megapixels in (1, 3, 6, 12, 24):
        width = int(math.sqrt(megapixels * 1e6 * 4 / 3) / 16) * 16
        points[megapixels] = [paths(run.inputs.photographs_of_width(width, count, group)) for group, count in enumerate((4, 8))]
    contenders = [
        *(STILLS.satchel(run, speed, count, speed=speed) for speed, count in (("fast", 1000), ("fast", 1), ("standard", 1))),
        peers.vipsthumbnail(run), *peers.libraries(run, "pillow-simd", "pyvips-forced"), peers.jpeg_floor(run),
    ]
    return cost_curve(
        run, "sizes", "A photograph to 1024 and 300 px", "megapixels", contenders, points, "megapixels of the photograph",
        "ms of CPU for one photograph more")


def measure_animations(run):
    points = {
        frames: [paths(run.inputs.loops(frames, count, group)) for group, count in enumerate((2, 4))] for frames in (15, 30, 60, 120)}
    contenders = [ANIMATIONS.satchel(run, "standard", 1, "satchel-1"), peers.gifsicle(), peers.vipsthumbnail_of_gifs(run)]
    return cost_curve(
        run, "frames", "A GIF of 480 × 360 pixels to 320", "frames", contenders, points, "frames of the GIF",
        "ms of CPU for one GIF more")
