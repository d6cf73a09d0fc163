"""Says what sources are: how large, and how many frames.

    sources.py FORMAT LIST

LIST has a path in each line, FORMAT is Pillow's name of what they ought to be: JPEG or GIF. Prints a line for each: width and
height as stored, and frames; or 'wrong' and why it can't be compared what is made of it: each is decoded whole, and whoever looks
at the results decodes it with the same library.
"""

import multiprocessing
import os
import sys

from PIL import Image, ImageFile

Image.MAX_IMAGE_PIXELS = None
ImageFile.LOAD_TRUNCATED_IMAGES = False


def look(path):
    try:
        with Image.open(path) as image:
            if image.format not in wanted:
                return f"wrong it is {image.format}"
            # A photograph may have another picture behind it (MPO); that of GIF are its frames.
            frames = getattr(image, "n_frames", 1) if image.format == "GIF" else 1
            if image.format == "GIF" and frames < 2:
                return "wrong it has one frame alone"
            if image.mode == "CMYK":
                return "wrong it is CMYK, which not everybody turns into RGB"
            width, height = image.size
            for frame in range(frames):
                image.seek(frame)
                image.load()
            return f"{width} {height} {frames}"
    except Exception as error:
        return "wrong " + (" ".join(str(error).split()) or type(error).__name__)


def main():
    global wanted
    wanted = {"JPEG": ("JPEG", "MPO")}.get(sys.argv[1], (sys.argv[1],))
    with open(sys.argv[2], encoding="utf-8") as file:
        paths = [line.rstrip("\n") for line in file]
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for answer in pool.imap(look, paths, chunksize=2):
            print(answer)
        # Left to end by themselves: who was started with signals blocked can't be ended by one.
        pool.close()
        pool.join()


main()
