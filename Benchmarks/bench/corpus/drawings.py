"""Draws animations that are not filmed: drawings.py KIND SEED WIDTH HEIGHT FRAMES DELAY FILE.

KIND is 'screen', a page that is typed into and scrolled, a window and a pointer; 'lines', a drawing of lines that move; or
'sticker', a figure before nothing, whose frames replace each other. Each is written as tools for that kind write it: one palette of
16 to 128 colours, 2 to 16, or 32 to 64, without dithering.
"""

import math
import random
import sys

from PIL import Image, ImageDraw, ImageFont

kind, seed, width, height, frames, delay, path = sys.argv[1], *map(int, sys.argv[2:7]), sys.argv[7]
chance = random.Random(f"{kind} {seed}")
LANCZOS = Image.Resampling.LANCZOS


def colour(least, most):
    return tuple(chance.randrange(least, most) for _ in range(3))


def words(count):
    return " ".join("".join(chance.choice("etaoinshrdlucmfw") for _ in range(chance.randrange(2, 9))) for _ in range(count))


def written(text, ink):
    """A line of text with soft edges, as a mask's picture; the font that comes with Pillow has hard ones."""
    font = ImageFont.load_default()
    box = font.getbbox(text)
    mask = Image.new("L", (box[2] + 2, box[3] + 2))
    ImageDraw.Draw(mask).text((1, 1), text, fill=255, font=font)
    mask = mask.resize((mask.width * 3, mask.height * 3)).resize((mask.width * 5 // 4, mask.height * 5 // 4), LANCZOS)
    return Image.new("RGB", mask.size, ink), mask


def screen():
    bar, desk, ink = colour(30, 90), colour(200, 245), colour(10, 50)
    lines = [written(words(width // 70), ink if index % 6 else colour(20, 200)) for index in range(120)]
    title = written("Notes", (235, 235, 235))
    typed = frames // 4
    for index in range(frames):
        image = Image.new("RGB", (width, height), desk)
        draw = ImageDraw.Draw(image)
        page = (width // 20, 44, width - width // 20, height - 12)
        draw.rectangle(page, fill="white", outline=(170, 170, 180))
        scrolled = max(0, index - typed) * 5
        for number, (line, mask) in enumerate(lines):
            y = page[1] + 8 + number * 21 - scrolled
            if page[1] < y < page[3] - 18:
                if number == 4 and index < typed:
                    mask = mask.crop((0, 0, max(1, mask.width * index // typed), mask.height))
                if number <= 4 or index >= typed:
                    image.paste(line.crop((0, 0, *mask.size)), (page[0] + 12, y), mask)
        if frames // 2 < index < frames * 3 // 4:
            left, top = width // 4, height // 4
            draw.rectangle((left, top, left * 3, top * 3), fill=(244, 244, 246), outline=(120, 120, 130))
            draw.rectangle((left, top, left * 3, top + 24), fill=bar)
        draw.rectangle((0, 0, width, 28), fill=bar)
        image.paste(title[0], (10, 8), title[1])
        x, y = int(width * (0.5 + 0.4 * math.sin(index / 11))), int(height * (0.5 + 0.35 * math.sin(index / 7)))
        draw.polygon([(x, y), (x, y + 16), (x + 4, y + 12), (x + 10, y + 12)], fill="black", outline="white")
        yield image


def lines():
    ink, count = colour(0, 60), chance.randrange(6, 14)
    turns = [(chance.uniform(0.02, 0.1), chance.choice((1, 2, 3)), chance.uniform(0.08, 0.45)) for _ in range(count)]
    for index in range(frames):
        image = Image.new("RGB", (width * 2, height * 2), "white")
        draw = ImageDraw.Draw(image)
        for speed, knots, part in turns:
            angles = [step / 40 * math.tau for step in range(41)]
            draw.line(
                [(width * (1 + 2 * part * math.cos(angle + index * speed)),
                  height * (1 + 2 * part * math.sin(angle * knots + index * speed * 0.7))) for angle in angles], fill=ink, width=5)
        yield image.resize((width, height), LANCZOS)


def sticker():
    skin, edge, mark = colour(150, 256), colour(40, 120), colour(10, 80)
    for index in range(frames):
        image = Image.new("RGBA", (width * 2, height * 2))
        draw = ImageDraw.Draw(image)
        jump = abs(math.sin(index / frames * math.tau))
        left, right = width * (0.4 - 0.05 * jump), width * (1.6 + 0.05 * jump)
        top = height * (0.6 - 0.3 * jump)
        bottom = top + height * 1.2
        draw.ellipse((left, top, right, bottom), fill=skin, outline=edge, width=14)
        for side in (0.7, 1.15):
            draw.ellipse((width * side, top + height * 0.35, width * (side + 0.15), top + height * 0.6), fill=mark)
        draw.arc((width * 0.7, top + height * 0.5, width * 1.3, top + height * 0.95), 20, 160, fill=mark, width=20)
        wave = width * 0.1 * math.sin(index / 2)
        draw.polygon(
            [(right - 60, top + 160), (right + 60 + wave, top + 20), (right + 90 + wave, top + 140)], fill=(220, 40, 60)
        )
        yield image.resize((width, height), LANCZOS)


drawn = list({"screen": screen, "lines": lines, "sticker": sticker}[kind]())
colours = chance.choice({"screen": (16, 64, 128), "lines": (2, 8, 16), "sticker": (32, 64)}[kind])
# One palette for all, from four of the frames.
sheet = Image.new("RGB", (width, height * 4), "white")
for place in range(4):
    one = drawn[place * len(drawn) // 4]
    sheet.paste(one.convert("RGB"), (0, place * height), one.getchannel("A") if kind == "sticker" else None)
palette = sheet.quantize(colours, method=Image.Quantize.MEDIANCUT)
written_frames = []
for one in drawn:
    frame = one.convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE)
    if kind == "sticker":
        # A pixel is there or it isn't.
        frame.paste(colours, one.getchannel("A").point(lambda value: 0 if value >= 128 else 255))
    written_frames.append(frame)
settings = {"transparency": colours, "disposal": 2} if kind == "sticker" else {}
written_frames[0].save(
    path, save_all=True, append_images=written_frames[1:], duration=delay * 10, loop=0, optimize=False, **settings)
