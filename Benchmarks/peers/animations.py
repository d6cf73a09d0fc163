"""Makes a GIF smaller with Pillow: animations.py SOURCE OUTPUT SIDE."""

import sys

from PIL import Image, ImageSequence

source, output, side = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Image.open(source) as animation:
    part = min(1.0, side / max(animation.size))
    size = tuple(max(1, round(length * part)) for length in animation.size)
    frames, durations = [], []
    for frame in ImageSequence.Iterator(animation):
        durations.append(frame.info.get("duration", 100))
        frames.append(frame.convert("RGB").resize(size, Image.Resampling.LANCZOS))
    frames[0].save(
        output, save_all=True, append_images=frames[1:], duration=durations, loop=animation.info.get("loop", 0),
        optimize=False,
    )
