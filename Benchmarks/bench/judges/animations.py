"""Says how near animations come to a full-colour Lanczos 3 scaling of their sources, frame by frame.

    animations.py CACHE LIST

As a program for the tests of the codecs, with Debian's own Pillow.

LIST has lines of SOURCE, OUTPUT and SIDE with tabs between them; SIDE is what the longest side has to be. Prints a line for
each: the frames of the source, the mean of their PSNRs in dB, and the least; or 'wrong' and why.

Each frame of the source, as it is shown (decoded and composed by Pillow), is compared with what the output shows in the middle of
the time of that frame: frames may be left out or put together where nothing changes. The whole must last as long.
"""

import hashlib
import math
import multiprocessing
import os
import sys

import numpy
from PIL import Image

LANCZOS = Image.LANCZOS if not hasattr(Image, "Resampling") else Image.Resampling.LANCZOS


def shown(path):
    """Each frame as it is shown on a white page, and how many milliseconds."""
    with Image.open(path) as animation:
        for index in range(getattr(animation, "n_frames", 1)):
            animation.seek(index)
            # Browsers and viewers show what says 0 or 10 ms for 100 ms.
            duration = animation.info.get("duration", 100)
            frame = Image.new("RGBA", animation.size, "white")
            frame.alpha_composite(animation.convert("RGBA"))
            yield frame.convert("RGB"), duration if duration > 10 else 100


def scaled(frame, size):
    """Each channel by itself, in floating point, in whole 1/256."""
    full = numpy.asarray(frame, dtype=numpy.float32)
    channels = [Image.fromarray(numpy.ascontiguousarray(full[:, :, c])).resize(size, LANCZOS) for c in range(3)]
    return (numpy.clip(numpy.stack(channels, axis=2), 0, 255) * 256).round().clip(0, 65535).astype("u2")


def kept(cache, path, size, make):
    """Arrays that are made of a source in a size, by name; kept in a file."""
    stat = os.stat(path)
    key = hashlib.sha256(f"{os.path.abspath(path)} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:24]
    name = os.path.join(cache, f"{key}-{size[0]}x{size[1]}.npz")
    if not os.path.exists(name):
        part = f"{name}.{os.getpid()}.npz"
        numpy.savez(part, **make())
        os.replace(part, name)
    with numpy.load(name) as found:
        return dict(found)


def references(cache, path, size):
    """Each frame, scaled; and how long each is shown."""
    def make():
        frames = list(shown(path))
        return {"frames": numpy.stack([scaled(frame, size) for frame, _ in frames]), "durations": [time for _, time in frames]}

    found = kept(cache, path, size, make)
    return found["frames"], found["durations"].tolist()


def psnr(pixels, reference):
    """In dB over all samples, of a picture and what `scaled` made."""
    error = float(((pixels - reference.astype(numpy.float32) / 256) ** 2).mean(dtype=numpy.float64))
    return 100.0 if error == 0 else min(100.0, 10 * math.log10(255 * 255 / error))


def judge(cache, source, output, side):
    """Frames of the source, the mean of their PSNRs, and the least; or why it isn't what it ought to be."""
    try:
        with Image.open(source) as animation:
            wanted = [length * min(1.0, side / max(animation.size)) for length in animation.size]
        with Image.open(output) as animation:
            made = animation.size
        if any(abs(a - b) >= 1 for a, b in zip(made, wanted)):
            return f"it made {made[0]}x{made[1]} of {os.path.basename(source)}"
        results = shown(output)
        result, duration = next(results)
        end, now, values, pixels = duration, 0, [], None
        for frame, duration in zip(*references(cache, source, made)):
            middle = now + duration / 2
            now += duration
            while middle >= end:
                following = next(results, None)
                if following is None:
                    return f"it shows nothing after {end} ms of {os.path.basename(source)}"
                result, length = following
                end, pixels = end + length, None
            if pixels is None:
                pixels = numpy.asarray(result, dtype=numpy.float32)
            values.append(psnr(pixels, frame))
        total = end + sum(length for _, length in results)
        if abs(total - now) > max(20, now * 0.01):
            return f"it lasts {total} ms, {os.path.basename(source)} {now} ms"
        return len(values), sum(values) / len(values), min(values)
    except Exception as error:
        return " ".join(str(error).split()) or type(error).__name__


def main():
    cache = sys.argv[1]
    os.makedirs(cache, exist_ok=True)
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for answer in pool.starmap(judge, [(cache, source, output, int(side)) for source, output, side in lines], 1):
            print("wrong " + answer if isinstance(answer, str) else "{} {:.4f} {:.4f}".format(*answer))
        # Left to end by themselves: who is started with signals blocked can't be ended by one.
        pool.close()
        pool.join()


if __name__ == "__main__":
    main()
