"""Says how near pictures come to a full decode of their source, scaled with Lanczos 3.

The reference favours nobody: the source is decoded whole (Pillow, libjpeg's accurate inverse DCT), turned upright, and each
channel is scaled in floating point in the values as they are coded (as all who are judged do it: nobody of them works in linear
light), pixels being areas, with a support of three pixels of the result. It is compared unrounded. SSIM is that of Wang, Bovik,
Sheikh and Simoncelli (2004): a Gaussian window of 11 by 11, sigma 1.5, K of 0.01 and 0.03.
"""

import os

import numpy
from PIL import Image, ImageOps

from ..figures import DECIBELS, KILOBYTES, SIMILARITY, Column, mean, numbers
from . import kilobytes, verdicts
from .animations import kept, psnr, scaled


def upright(path):
    Image.MAX_IMAGE_PIXELS = None
    with Image.open(path) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


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


def judge(cache, source, output, size):
    """Width, height, PSNR in dB over all samples of red, green and blue, and SSIM of the brightness; or why it isn't what it
    ought to be. `size` is what the longest side has to be."""
    try:
        wanted = expected(source, size)
        with Image.open(output) as image:
            made = image.size
        # The shorter side may be rounded either way.
        if any(abs(a - b) >= 1 for a, b in zip(made, wanted)) or max(made) != round(max(wanted)):
            return f"it made {made[0]}x{made[1]} of {os.path.basename(source)}, not {wanted[0]:.0f}x{wanted[1]:.0f}"
        reference = kept(cache, source, made, lambda: {"picture": scaled(upright(source), made)})["picture"]
        picture = numpy.asarray(upright(output), dtype=numpy.float32)
        similarity = ssim(picture, reference.astype(numpy.float32) / 256)
        return *made, psnr(picture, reference), similarity
    except Exception as error:
        return " ".join(str(error).split()) or type(error).__name__


def columns(task):
    found = [Column("bytes", "bytes out", KILOBYTES)]
    for side in (output.side for output in task.outputs):
        found += [Column(f"psnr_{side}", f"PSNR, {side} px", DECIBELS), Column(f"ssim_{side}", f"SSIM, {side} px", SIMILARITY)]
    return found


def figures(run, task, sources, place):
    """What is to be said of everything that a contender made; means over the sources."""
    cases = task.all_outputs(sources, place)
    found = verdicts(judge, run, cases)
    figures = {"bytes": [len(task.outputs) * kilobytes(output for _, output, _ in cases)]}
    for side in (output.side for output in task.outputs):
        these = [verdict for verdict, case in zip(found, cases) if case[2] == side]
        figures[f"psnr_{side}"] = [mean([decibels for _, _, decibels, _ in these])]
        # Pictures that are smaller than its window have no SSIM.
        figures[f"ssim_{side}"] = [mean(numbers([similarity for *_, similarity in these]))]
    return figures
