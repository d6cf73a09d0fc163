"""Pictures of several frames."""

from . import CANARY, Kit, chunk, heifbox, png, sample

# MARK: Of the film


def film_frames(kit: Kit, size="240x136", fps=10, count=20):
    kit.ffmpeg("-i", kit.sources["film"], "-vf", f"fps={fps},scale={size.replace('x', ':')}:flags=lanczos",
               "-frames:v", count, kit.work / "frame-%03d.png")
    return sorted(kit.work.glob("frame-*.png"))


def film_gif(kit: Kit, out):
    whole = kit.work / "whole.gif"
    kit.magick("-delay", "10", "-loop", "0", *film_frames(kit, "200x112"), "+dither", "-colors", "64", whole)
    kit.run("gifsicle", "-O3", "--lossy=80", whole, "-o", out)


def film_apng(kit: Kit, out):
    frames = film_frames(kit, "112x64", 10, 8)
    kit.run("apngasm", out, *frames, "1", "10", "-l2", "-z2")


def film_webp(kit: Kit, out):
    frames = film_frames(kit, "240x136", 10, 12)
    kit.run("img2webp", "-loop", "3", "-lossy", "-q", "50", "-d", "100", *frames, "-o", out)


def sequence(command):
    """A still with a sequence beside it, and an animation."""
    def make(kit: Kit, out):
        frames = film_frames(kit, "160x90", 10, 6)
        if command == "avifenc":
            kit.run("avifenc", "--jobs", "1", "--speed", "8", "--min", "30", "--max", "40", "--fps", "10", *frames, out)
            # The file holds a still as well; its first brand says which of the two is meant for whom knows one only.
            out.write_bytes(heifbox.timeless(out.read_bytes()).replace(b"ftypavis", b"ftypavif", 1))
        else:
            kit.run("apngasm", kit.work / "in.png", *frames, "1", "10", "-z0")
            kit.run("cjxl", kit.work / "in.png", out, "--num_threads=0", "-e", "4", "-d", "3")
    return make


F = dict(of="film", kind="animation")
sample("gif/film.gif", film_gif, **F, traits="animated, loop forever", type="image/gif", width=200, height=112,
       frames=20, duration=2.0)
sample("png/animated.png", film_apng, **F, traits="apng, animated, loop 2", type="image/png", width=112, height=64,
       frames=8, duration=0.8)
sample("webp/animated.webp", film_webp, **F, traits="animated, loop 3", type="image/webp", width=240, height=136,
       frames=12, duration=1.2)
sample("avif/sequence.avif", sequence("avifenc"), of="film", traits="sequence", kind="image", type="image/avif",
       width=160, height=90)
sample("jxl/animated.jxl", sequence("cjxl"), **F, traits="animated, loop forever", type="image/jxl", width=160, height=90,
       frames=6, duration=0.6, older=dict(library="libvips", since="8.16", code="unsupported_feature"))

# MARK: GIF, written byte by byte so that nothing optimises the peculiarity away

PALETTE = [(0, 0, 0), (220, 60, 50), (60, 160, 80), (60, 90, 200), (240, 200, 60), (240, 240, 240), (120, 60, 160),
           (255, 0, 255)]
CLEAR = 7  # the transparent index, where a frame has one


def lzw(pixels: bytes) -> bytes:
    """Three-bit pixels, coded with a clear code before the table could grow: short to write, and valid."""
    bits, length, out = 0, 0, bytearray()
    codes = []
    for place, pixel in enumerate(pixels):
        if place % 6 == 0:
            codes.append(8)
        codes.append(pixel)
    codes.append(9)
    for code in codes:
        bits |= code << length
        length += 4
        while length >= 8:
            out.append(bits & 255)
            bits >>= 8
            length -= 8
    if length:
        out.append(bits & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + out[i:i + 255] for i in range(0, len(out), 255))
    return b"\x03" + blocks + b"\0"


def short(value: int) -> bytes:
    return value.to_bytes(2, "little")


def frame(pixels, box, *, delay=10, disposal=1, clear=False, interlaced=False, palette=None, control=True) -> bytes:
    x, y, width, height = box
    data = b""
    if control:
        data += b"\x21\xf9\x04" + bytes([disposal << 2 | clear]) + short(delay) + bytes([CLEAR if clear else 0, 0])
    rows = [pixels[i * width:(i + 1) * width] for i in range(height)]
    if interlaced:
        rows = rows[0::8] + rows[4::8] + rows[2::4] + rows[1::2]
    local = b"".join(bytes(colour) for colour in palette) if palette else b""
    flags = (0x82 if palette else 0) | (0x40 if interlaced else 0)
    return data + b"\x2c" + short(x) + short(y) + short(width) + short(height) + bytes([flags]) + local + lzw(
        b"".join(rows))


def gif(width, height, frames, *, loop=0, comment=None) -> bytes:
    """`loop` is the Netscape extension's number; None leaves it out, so that it plays once."""
    data = b"GIF89a" + short(width) + short(height) + b"\xa2\0\0" + b"".join(bytes(colour) for colour in PALETTE)
    if loop is not None:
        data += b"\x21\xff\x0bNETSCAPE2.0\x03\x01" + short(loop) + b"\0"
    if comment:
        data += b"\x21\xfe" + bytes([len(comment)]) + comment.encode() + b"\0"
    return data + b"".join(frames) + b"\x3b"


def striped(width, height):
    return bytes((x // 8 + y // 8) % 3 + 1 for y in range(height) for x in range(width))


def ball(index, side=24):
    """A disc; outside it is transparent."""
    middle = (side - 1) / 2
    return bytes(index if (x - middle) ** 2 + (y - middle) ** 2 <= middle ** 2 else CLEAR
                 for y in range(side) for x in range(side))


def rolling(disposal, count=6, **options):
    """A ball over stripes; each frame covers only the ball, so what stands behind it is the disposal's."""
    frames = [frame(striped(96, 64), (0, 0, 96, 64), disposal=1)]
    frames += [frame(ball(4 + i % 3), (4 + 12 * i, 6 + 6 * i, 24, 24), disposal=disposal, clear=True)
               for i in range(count - 1)]
    return gif(96, 64, frames, **options)


def written(data):
    return lambda kit, out: out.write_bytes(data())


def timed(delays, **options):
    return gif(48, 32, [frame(bytes([i % 6 + 1]) * (48 * 32), (0, 0, 48, 32), delay=delay)
                        for i, delay in enumerate(delays)], **options)


G = dict(kind="animation", type="image/gif", width=96, height=64, frames=6)
for number, name in enumerate(["unspecified", "keep", "background", "previous"]):
    sample(f"gif/disposal-{number}.gif", written(lambda number=number: rolling(number)),
           traits=f"disposal {name}, animated, transparency", **G, duration=0.6)
sample("gif/play-once.gif", written(lambda: rolling(2, loop=None)), traits="loop once, animated", **G, duration=0.6)
sample("gif/loop-3.gif", written(lambda: rolling(3, loop=3)), traits="loop 3, animated", **G, duration=0.6)

S = dict(type="image/gif", width=48, height=32)
sample("gif/delay-0.gif", written(lambda: timed([0] * 5)), traits="delay 0, animated", kind="animation", frames=5, **S)
sample("gif/delay-1.gif", written(lambda: timed([1] * 5)), traits="delay 1, animated", kind="animation", frames=5, **S)
sample("gif/delays.gif", written(lambda: timed([5, 100, 3, 20, 65535])), traits="uneven delays, animated",
       kind="animation", frames=5, **S)
sample("gif/no-control.gif", written(lambda: gif(48, 32, [
    frame(bytes([i + 1]) * (48 * 32), (0, 0, 48, 32), control=False) for i in range(3)])),
       traits="no graphic control, animated", kind="animation", frames=3, **S)
sample("gif/local-palettes.gif", written(lambda: gif(48, 32, [
    frame(striped(48, 32), (0, 0, 48, 32), palette=[((i * 40 + c * 30) % 256, c * 36, 255 - c * 30) for c in range(8)])
    for i in range(5)])), traits="local palettes, animated", kind="animation", frames=5, duration=0.5, **S)
sample("gif/private.gif", written(lambda: timed([10] * 3, comment=f"{CANARY} gif comment") + f"{CANARY} tail".encode()),
       traits="canary, trailing data, animated", kind="animation", frames=3, duration=0.3, **S)
sample("gif/still.gif", written(lambda: gif(96, 64, [frame(striped(96, 64), (0, 0, 96, 64))], loop=None)),
       traits="one frame", kind="image", type="image/gif", width=96, height=64)
sample("gif/still-alpha.gif", written(lambda: gif(24, 24, [frame(ball(3), (0, 0, 24, 24), clear=True)], loop=None)),
       traits="one frame, alpha", kind="image", type="image/gif", width=24, height=24)
sample("gif/interlaced.gif", written(lambda: gif(
    96, 64, [frame(striped(96, 64), (0, 0, 96, 64), interlaced=True)], loop=None)), traits="one frame, interlaced",
       kind="image", type="image/gif", width=96, height=64)
sample("gif/901-frames.gif", written(lambda: gif(8, 8, [
    frame(bytes([i % 6 + 1]) * 64, (0, 0, 8, 8), delay=2) for i in range(901)])), traits="many frames, animated",
       kind="animation", type="image/gif", width=8, height=8, frames=901, duration=18.02)

# MARK: APNG and WebP with peculiarities


def apng(width, height, frames, *, plays=0, hidden_first=False, ticks=100) -> bytes:
    """`frames`: (rows of RGBA, box, delay, dispose, blend). Delays are in hundredths of a second, or in other `ticks`. A
    hidden first picture isn't animated."""
    def packed(rows):
        data = png(1, 1, rows, colour=6)
        size = int.from_bytes(data[33:37], "big")
        return data[41:41 + size]

    out, number = [], 0
    if hidden_first:
        out.append(chunk(b"IDAT", packed([bytes([200, 0, 0, 255]) * width] * height)))
    for index, (rows, (x, y, w, h), delay, dispose, blend) in enumerate(frames):
        control = b"".join(value.to_bytes(4, "big") for value in (number, w, h, x, y))
        out.append(chunk(b"fcTL", control + delay.to_bytes(2, "big") + ticks.to_bytes(2, "big")
                         + bytes([dispose, blend])))
        number += 1
        if index == 0 and not hidden_first:
            out.append(chunk(b"IDAT", packed(rows)))
        else:
            out.append(chunk(b"fdAT", number.to_bytes(4, "big") + packed(rows)))
            number += 1
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06\0\0\0"
    animation = len(frames).to_bytes(4, "big") + plays.to_bytes(4, "big")
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"acTL", animation) + b"".join(out)
            + chunk(b"IEND", b""))


def rgba(pixels, width):
    colours = [bytes(colour) + b"\xff" for colour in PALETTE[:CLEAR]] + [bytes(4)]
    return [b"".join(colours[pixel] for pixel in pixels[i:i + width]) for i in range(0, len(pixels), width)]


def rolling_apng(**options):
    """Each way to dispose and to blend, one after another, over transparent ground."""
    frames = [(rgba(ball(1, 64), 64), (0, 0, 64, 64), 10, 0, 0)]
    for i, (dispose, blend) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]):
        frames.append((rgba(ball(2 + i % 5), 24), (6 * i, 5 * i, 24, 24), 10 + i, dispose, blend))
    return apng(64, 64, frames, **options)


N = dict(kind="animation", type="image/png", width=64, height=64, frames=7, duration=0.85)
sample("png/animated-disposal.png", written(rolling_apng), traits="apng, animated, alpha, disposal, blending", **N)
sample("png/animated-hidden.png", written(lambda: rolling_apng(plays=3, hidden_first=True)),
       traits="apng, animated, alpha, hidden first picture, loop 3", **N)
# Shown for 16 ms each, the last for 23.
sample("png/animated-quick.png", written(lambda: apng(
    24, 24, [(rgba(ball(i, 24), 24), (0, 0, 24, 24), 23 if i == 6 else 16, 0, 0) for i in range(1, 7)], ticks=1000)),
       traits="apng, animated, short delays", kind="animation", type="image/png", width=24, height=24, frames=6,
       duration=0.103, findings=["omissions merged frames 1 6", "changes delays_changed"])


def webp_over(kit: Kit, out):
    """The GIF whose frames are put back to the background, as WebP with transparency."""
    source = kit.work / "in.gif"
    source.write_bytes(gif(96, 64, [frame(ball(1 + i), (12 * i, 6 * i, 24, 24), disposal=2, clear=True)
                                    for i in range(5)], loop=None))
    kit.run("gif2webp", "-quiet", source, "-o", out)


sample("webp/animated-alpha.webp", webp_over, traits="animated, alpha, disposal background", kind="animation",
       type="image/webp", width=96, height=64, frames=5, duration=0.5)
