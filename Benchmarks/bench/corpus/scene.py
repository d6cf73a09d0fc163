"""Pictures that are to codecs and scalers what photographs are, without being one: their contents follow from a seed alone.

Leaves of all sizes lie over each other ("dead leaves": Lee, Mumford and Huang, 2001): shapes of one colour, shaded and textured,
whose number falls with the cube of their radius. That gives the edges, the areas and the spectrum (1/f² in power) of natural
pictures. A sky lies behind them, far leaves are out of focus, a lens softens all, and a sensor adds noise: that of light, which
grows with the square root of the brightness, and that of reading out.
"""

import math
from dataclasses import dataclass
from typing import Optional

import numpy
from PIL import Image, ImageFilter

from .chance import chance

TEXTURE_SIDE = 512


@dataclass
class Look:
    """What differs between exposures; the defaults are a landscape in poor light."""

    noise: Optional[float] = None  # the deviation at middle brightness, of 255, that a camera leaves; None for 1.6 to 3.2
    defocus: float = 1 / 500  # how far leaves out of focus are spread, in terms of the longest side
    coverage: float = 1.1  # how often leaves in focus would cover the picture


def scene(width, height, seed, name, index, look=Look()):
    """The picture. A small one has the same leaves as a large one, only smaller, and no smaller ones."""
    random = chance(seed, name, index)
    longest = max(width, height)
    canvas, texture, tones = _sky(width, height, random), _texture(random), _tones(random)
    _scatter(canvas, 1.5, longest / 150, longest / 5, tones, texture, 0.6, random)
    canvas = _blurred(canvas, max(1, int(longest * look.defocus)))
    _scatter(canvas, look.coverage, max(1.5, longest / 800), longest / 5, tones, texture, 1, random)
    return Image.fromarray(_exposed(_blurred(canvas, 1), look.noise or random.uniform(1.6, 3.2), random))


def _sky(width, height, random):
    top = random.uniform((60, 110, 160), (140, 180, 250))
    bottom = random.uniform((150, 150, 140), (250, 240, 230))
    part = numpy.linspace(0, 1, height, endpoint=False)[:, None]
    rows = (top * (1 - part) + bottom * part).astype(numpy.float32)
    return numpy.repeat(rows[:, None, :], width, axis=1)


def _texture(random):
    """Noise whose power falls with the square of the frequency, as that of photographs does; it continues at its edges.

    Octaves of the same strength, each of random values on a grid with straight lines between them; of mean 0 and deviation 1.
    """
    total, grid = 0, 4
    while grid <= TEXTURE_SIDE:
        points = Image.fromarray(numpy.pad(random.standard_normal((grid, grid), dtype=numpy.float32), 1, mode="wrap"))
        size, box = (TEXTURE_SIDE, TEXTURE_SIDE), (1, 1, grid + 1, grid + 1)
        total = total + numpy.asarray(points.resize(size, Image.Resampling.BILINEAR, box))
        grid *= 2
    return (total - total.mean()) / total.std()


def _tones(random):
    """The colours that go together in one scene."""
    index = numpy.arange(24)
    hue = random.random() + random.normal(0, 0.12, 24) + numpy.where(index % 5 == 0, 0.45, 0)
    light = random.uniform(0.12, 0.88, 24)
    strength = random.random(24) * random.random(24) * 0.25
    shifts = numpy.array([0, 1, 2]) * math.tau / 3
    return numpy.clip(light[:, None] + strength[:, None] * numpy.cos(math.tau * hue[:, None] + shifts), 0, 1) * 255


def _scatter(canvas, coverage, least, most, tones, texture, contrast, random):
    """Leaves over the lower part of the picture, thinner above, of radii from `least` to `most`."""
    height, width, _ = canvas.shape
    # A leaf covers about π · mean r²; numbers are drawn for more than are needed.
    square = 2 * math.log(most / least) / (least**-2 - most**-2)
    count = int(coverage * width * height / (math.pi * square) * 1.3) + 100
    # The inverse of the distribution whose density falls with the cube.
    part = random.random(count)
    radii = 1 / numpy.sqrt((1 - part) / least**2 + part / most**2)
    # More of them further down.
    x = random.uniform(-radii, width + radii)
    y = (1 - random.random(count) * numpy.sqrt(random.random(count))) * (height + radii)
    # Small things stand out less from what they lie on than large ones do.
    blends = numpy.minimum(1, 0.18 + 25 * radii / max(width, height)) * random.uniform(0.6, 1, count)
    colours = tones[random.integers(0, len(tones), count)]
    shades = random.normal(0, 25, (count, 2)) / radii[:, None]
    flatness, angles = random.uniform(0.4, 1, count), random.uniform(0, math.pi, count)
    boxes, roughness = random.random(count) < 0.3, random.random(count) * random.random(count) * 22 * contrast
    offsets = random.integers(0, TEXTURE_SIDE, (count, 2))
    done = numpy.searchsorted(numpy.cumsum(math.pi * radii**2), coverage * width * height) + 1
    for index in range(min(done, count)):
        _paint(
            canvas, float(x[index]), float(y[index]), float(radii[index]), float(flatness[index]), float(angles[index]),
            boxes[index], colours[index], float(blends[index]), shades[index], float(roughness[index]), texture, offsets[index],
        )


def _paint(canvas, x, y, radius, flatness, angle, is_box, colour, blend, shade, roughness, texture, offset):
    """One leaf: a box or an ellipse, shaded and textured, drawn towards the colour that is there."""
    height, width, _ = canvas.shape
    top, bottom = max(0, int(y - radius)), min(height, int(y + radius) + 1)
    left, right = max(0, int(x - radius)), min(width, int(x + radius) + 1)
    if top >= bottom or left >= right:
        return
    tone = canvas[min(height - 1, max(0, int(y))), min(width - 1, max(0, int(x)))] * (1 - blend) + colour * blend
    rows, columns = numpy.arange(top, bottom), numpy.arange(left, right)
    dy, dx = (rows - y).astype(numpy.float32)[:, None], (columns - x).astype(numpy.float32)
    sine, cosine = math.sin(angle) / radius, math.cos(angle) / radius
    along, across = dx * cosine + dy * sine, (dy * cosine - dx * sine) / flatness
    inside = numpy.maximum(abs(along), abs(across)) < 0.7 if is_box else along * along + across * across < 1
    grain = texture[(rows[:, None] + offset[0]) % TEXTURE_SIDE, (columns + offset[1]) % TEXTURE_SIDE]
    plain = dx * float(shade[0]) + dy * float(shade[1])
    part = canvas[top:bottom, left:right]
    for plane in range(3):
        value = plain + (grain * (roughness if plane == 1 else 0.9 * roughness) + float(tone[plane]))
        numpy.copyto(part[:, :, plane], value, where=inside)


def _blurred(canvas, radius):
    """The mean over a square, twice: what is out of focus, and what every lens and sensor soften."""
    picture = Image.fromarray(numpy.clip(canvas + 0.5, 0, 255).astype(numpy.uint8))
    for _ in range(2):
        picture = picture.filter(ImageFilter.BoxBlur(radius))
    return numpy.array(picture, dtype=numpy.float32)


def _exposed(canvas, noise, random):
    """As a sensor sees it; `noise` is the deviation at middle brightness, of 255."""
    height, width, _ = canvas.shape
    # The camera's own noise reduction leaves mostly what all channels have in common.
    common = random.standard_normal((height, width), dtype=numpy.float32) * numpy.float32(0.85 * noise)
    seen = numpy.empty(canvas.shape, dtype=numpy.uint8)
    for plane in range(3):
        value = canvas[:, :, plane]
        own = random.standard_normal((height, width), dtype=numpy.float32) * numpy.float32(0.5 * noise)
        light = 0.4 + 0.6 * numpy.sqrt(value / 128)
        seen[:, :, plane] = numpy.clip(value + light * (common + own) + 0.5, 0, 255)
    return seen
