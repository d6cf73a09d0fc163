"""Says how near pictures come to a full decode of their source, scaled with Lanczos 3.

    judge.py CACHE LIST

LIST has lines of SOURCE, OUTPUT and SIZE with tabs between them; SIZE is what the longest side has to be. Prints a line
for each: width, height, PSNR in dB over all samples of red, green and blue, and SSIM of the brightness; or 'wrong' and
why.

The reference favours nobody: the source is decoded whole (Pillow, libjpeg's accurate inverse DCT), turned upright, and each
channel is scaled in floating point in the values as they are coded (as all who are judged do it: nobody of them works in linear
light), pixels being areas, with a support of three pixels of the result. It is compared unrounded. SSIM is that of Wang, Bovik,
Sheikh and Simoncelli (2004): a Gaussian window of 11 by 11, sigma 1.5, K of 0.01 and 0.03.
"""

import hashlib
import multiprocessing
import os
import sys

import numpy
from PIL import Image, ImageOps

Image.MAX_IMAGE_PIXELS = None
LANCZOS = Image.LANCZOS if not hasattr(Image, "Resampling") else Image.Resampling.LANCZOS


def upright(path):
    with Image.open(path) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def scaled(path, sizes):
    """The reference in each size, as floats; kept as whole 1/256 in files."""
    stat = os.stat(path)
    key = hashlib.sha256(f"{os.path.abspath(path)} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:24]
    found = {}
    missing = []
    for size in sizes:
        name = os.path.join(cache, f"{key}-{size[0]}x{size[1]}.npy")
        if os.path.exists(name):
            found[size] = numpy.load(name).astype(numpy.float32) / 256
        else:
            missing.append((size, name))
    if missing:
        full = numpy.asarray(upright(path), dtype=numpy.float32)
        channels = [Image.fromarray(numpy.ascontiguousarray(full[:, :, c])) for c in range(3)]
        for size, name in missing:
            planes = [numpy.asarray(channel.resize(size, LANCZOS)) for channel in channels]
            reference = numpy.clip(numpy.stack(planes, axis=2), 0, 255)
            part = f"{name}.{os.getpid()}.npy"
            numpy.save(part, (reference * 256).round().clip(0, 65535).astype(numpy.uint16))
            os.replace(part, name)
            found[size] = reference
    return found


def psnr(first, second):
    error = float(((first - second) ** 2).mean(dtype=numpy.float64))
    return 100.0 if error == 0 else min(100.0, 10 * numpy.log10(255 * 255 / error))


WINDOW = numpy.exp(-((numpy.arange(11) - 5.0) ** 2) / (2 * 1.5**2)).astype(numpy.float32)
WINDOW /= WINDOW.sum()


def smooth(values):
    rows = sum(weight * values[i : values.shape[0] - 10 + i] for i, weight in enumerate(WINDOW))
    return sum(weight * rows[:, i : rows.shape[1] - 10 + i] for i, weight in enumerate(WINDOW))


def ssim(first, second):
    weights = numpy.array([0.299, 0.587, 0.114], dtype=numpy.float32)
    a, b = first @ weights, second @ weights
    if min(a.shape) < 11:
        return 1.0 if numpy.array_equal(a, b) else float("nan")
    mean_a, mean_b = smooth(a), smooth(b)
    variance_a = smooth(a * a) - mean_a**2
    variance_b = smooth(b * b) - mean_b**2
    covariance = smooth(a * b) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    values = ((2 * mean_a * mean_b + c1) * (2 * covariance + c2)) / (
        (mean_a**2 + mean_b**2 + c1) * (variance_a + variance_b + c2)
    )
    return float(values.mean(dtype=numpy.float64))


def expected(path, size):
    with Image.open(path) as image:
        width, height = image.size
        if image.getexif().get(0x0112, 1) in (5, 6, 7, 8):
            width, height = height, width
    longest = max(width, height)
    part = min(1.0, size / longest)
    return width * part, height * part


def judge(line):
    source, output, size = line
    try:
        wanted = expected(source, size)
        with Image.open(output) as image:
            made = image.size
        # The shorter side may be rounded either way.
        if any(abs(a - b) >= 1 for a, b in zip(made, wanted)) or max(made) != round(max(wanted)):
            return f"wrong it made {made[0]}x{made[1]} of {os.path.basename(source)}, not {wanted[0]:.0f}x{wanted[1]:.0f}"
        reference = scaled(source, [made])[made]
        picture = numpy.asarray(upright(output), dtype=numpy.float32)
        return f"{made[0]} {made[1]} {psnr(picture, reference):.4f} {ssim(picture, reference):.6f}"
    except Exception as error:
        return "wrong " + str(error).replace("\n", " ")


def main():
    global cache
    cache = sys.argv[1]
    os.makedirs(cache, exist_ok=True)
    lines = []
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            source, output, size = line.rstrip("\n").split("\t")
            lines.append((source, output, int(size)))
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for answer in pool.map(judge, lines, chunksize=2):
            print(answer)
        # Left to end by themselves: who was started with signals blocked can't be ended by one.
        pool.close()
        pool.join()


main()
