"""Pictures whose headers say what isn't so, and pictures at a limit and just above it."""

import binascii
import os
import pathlib
import struct
import subprocess
import tempfile
import zlib

MEDIA = pathlib.Path(__file__).resolve().parents[3] / "Media"


def read(path: str) -> bytes:
    return (MEDIA / path).read_bytes()


def put(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new):]


def chunk(name: bytes, data: bytes, length: int | None = None) -> bytes:
    return struct.pack(">I", len(data) if length is None else length) + name + data + struct.pack(">I", binascii.crc32(name + data))


def box(name: bytes, data: bytes, size: int | None = None) -> bytes:
    return struct.pack(">I", len(data) + 8 if size is None else size) + name + data


# MARK: Each format with a size of one's choice in its header

def jpeg(width: int, height: int, path: str = "jpeg/odd.jpg") -> bytes:
    data = read(path)
    at = next(place for place in (data.find(bytes([0xFF, marker, 0, 17, 8])) for marker in (0xC0, 0xC2)) if place > 0)
    return put(data, at + 5, struct.pack(">HH", height, width))


def png(width: int, height: int, kind: int = 2, interlaced: int = 0, more: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(bytes(4096))) + chunk(b"IEND", b"")


def apng(width: int, height: int, frames: int, real: int | None = None) -> bytes:
    body, number = bytearray(), 0
    pixels = zlib.compress(bytes((1 + 3 * 8) * 8))
    for index in range(frames if real is None else real):
        body += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, 8, 8, 0, 0, 1, 10, 0, 0))
        number += 1
        if index:
            body += chunk(b"fdAT", struct.pack(">I", number) + pixels)
            number += 1
        else:
            body += chunk(b"IDAT", pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"acTL", struct.pack(">II", frames & 0xFFFFFFFF, 0)) + body
            + chunk(b"IEND", b""))


def gif(width: int, height: int, frames: int = 1, frame: tuple[int, int, int, int] | None = None) -> bytes:
    """Its frames are as large as its screen, which decoders believe only then."""
    frame = frame or (0, 0, width, height)
    picture = b"\x21\xf9\4\4\x0a\0\0\0\x2c" + struct.pack("<HHHH", *frame) + b"\0\2\2\x44\1\0"
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0" + bytes(6) + picture * frames + b"\x3b"


def webp(width: int, height: int) -> bytes:
    """Lossless, by its own header."""
    bits = (width - 1) | (height - 1) << 14
    data = b"\x2f" + struct.pack("<I", bits) + bytes(64)
    return riff(b"WEBP" + riff(data, b"VP8L"), b"RIFF")


def riff(data: bytes, name: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(data) if size is None else size) + data + b"\0" * (len(data) % 2)


def canvas(width: int, height: int, path: str, flags: int | None = None) -> bytes:
    """A WebP whose canvas is another than its frames."""
    data = read(path)
    assert data[12:16] == b"VP8X"
    return put(data, 24, (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def heif(width: int, height: int, path: str = "heic/rotated.heic") -> bytes:
    data, at = read(path), 0
    while (at := data.find(b"ispe", at)) > 0:
        data = put(data, at + 8, struct.pack(">II", width, height))
        at += 16
    return data


def tiff(width: int, height: int, strip: int = 4096, more: tuple = (), rows: int | None = None, following: int = 0) -> bytes:
    entries = {0x100: (4, width), 0x101: (4, height), 0x102: (3, 8), 0x103: (3, 1), 0x106: (3, 1), 0x111: (4, 8),
               0x115: (3, 1), 0x116: (4, height if rows is None else rows), 0x117: (4, strip)}
    entries.update(dict(more))
    listed = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, (kind, value) in sorted(entries.items()))
    return (b"II*\0" + struct.pack("<I", 8 + 4096) + bytes(4096) + struct.pack("<H", len(entries)) + listed
            + struct.pack("<I", following))


def jxl(width: int, height: int) -> bytes:
    """A bare codestream: its size, and the default for all the rest."""
    bits = "0"  # No multiple of 8.
    for side in (height, width):
        bits += "11" + bin(side - 1)[2:].zfill(30)[::-1] + ("000" if side is height and len(bits) < 40 else "")
    bits = "0" + "11" + bin(height - 1)[2:].zfill(30)[::-1] + "000" + "11" + bin(width - 1)[2:].zfill(30)[::-1]
    bits += "1"
    data = bytes(int(bits[at:at + 8][::-1].rjust(8, "0"), 2) for at in range(0, len(bits), 8))
    return b"\xff\x0a" + data + bytes(64)


def whole_jxl(width: int, height: int) -> bytes:
    """With its one frame: all black."""
    with tempfile.TemporaryDirectory() as directory:
        source, target = f"{directory}/black.pgm", f"{directory}/black.jxl"
        pathlib.Path(source).write_bytes(b"P5 %d %d 255\n" % (width, height) + bytes(width * height))
        subprocess.run(["cjxl", "-d", "0", "-e", "1", source, target], check=True, capture_output=True)
        return pathlib.Path(target).read_bytes()


def bmp(width: int, height: int, depth: int = 24, colours: int = 0, header: int = 40) -> bytes:
    return (b"BM" + struct.pack("<IHHI", 54 + 4096, 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", header, width, height, 1, depth, 0, 0, 2835, 2835, colours, 0) + bytes(4096))


# MARK: Limits

def limits():
    """(name, bytes, what identifying them must come to): at each limit, and just above it."""
    def pair(name: str, build, most: tuple[int, int], *arguments):
        width, height = most
        yield f"{name}-at-limit", build(width, height, *arguments), ["delivered"]
        yield f"{name}-above-limit", build(width + 1, height, *arguments), [f"too_many_pixels {(width + 1) * height} {width * height}"]

    # Of which nothing is there it is cut off, whatever its size is.
    def row_of_bmp(width: int, height: int) -> bytes:
        return bmp(width, height) + bytes(3 * width + 3)

    most = (20_000, 15_000)
    yield from pair("baseline.jpg", jpeg, most)
    yield from pair("progressive.jpg", jpeg, most, "jpeg/progressive.jpg")
    # WebP has 14 bits for a side: 268 million pixels.
    yield "lossless-largest.webp", webp(16_383, 16_383), ["delivered"]
    yield from pair("still.png", png, most)
    yield from pair("interlaced.png", png, most, 6, 1)
    yield from pair("still.tiff", tiff, most, 300_000_000)
    # Writing a whole one at the limit takes gigabytes, and without its frame libjxl may not tell the size.
    # Nor does one of 64 megapixels take little.
    side = 8_000 if os.environ.get("SATCHEL_TESTS") == "full" else 2_000
    yield "large.jxl", whole_jxl(side, side), ["delivered"]
    yield "still.jxl-above-limit", jxl(20_001, 15_000), ["too_many_pixels 300015000 300000000", "corrupt", "undecodable"]
    yield from pair("still.bmp", row_of_bmp, most)
    yield from pair("still.gif", gif, most)
    # libheif has a limit of its own, of 2 to the 28th.
    for kind, path in (("heic", "heic/rotated.heic"), ("avif", "avif/coffee.avif")):
        yield f"large.{kind}", heif(16_000, 16_000, path), ["delivered"]
        yield f"above-limit.{kind}", heif(20_001, 15_000, path), ["too_many_pixels 300015000 300000000"]
    yield from pair("animated.gif", gif, (8_000, 5_000), 2)
    yield from pair("animated.png", apng, (8_000, 5_000), 2)
    yield from pair("animated.webp", canvas, (8_000, 5_000), "webp/animated.webp")
    yield "frames-at-limit.gif", gif(8, 8, 20_000), ["delivered"]
    yield "frames-above-limit.gif", gif(8, 8, 20_001), ["too_many_frames 20001 20000"]
    yield "frames-at-limit.png", apng(8, 8, 20_000), ["delivered"]
    yield "frames-above-limit.png", apng(8, 8, 20_001), ["too_many_frames 20001 20000"]
    # A thousand million pixels: 40 frames of 25 million.
    yield "pixels-at-limit.gif", gif(5_000, 5_000, 40), ["delivered"]
    yield "pixels-above-limit.gif", gif(5_000, 5_000, 41), ["too_many_pixels 1025000000 1000000000"]
    yield "pixels-at-limit.png", apng(5_000, 5_000, 40), ["delivered"]
    yield "pixels-above-limit.png", apng(5_000, 5_000, 41), ["too_many_pixels 1025000000 1000000000"]
    for size, outcome in ((4 << 20, ["delivered"]), ((4 << 20) + 1, ["too_expensive 4194305 4194304"])):
        profile = (struct.pack(">I", size) + read("jpeg/display-p3.jpg").partition(b"ICC_PROFILE\0\1\1")[2][4:500]).ljust(size, b"\0")
        parts = [profile[at:at + 65_000] for at in range(0, size, 65_000)]
        segments = b"".join(b"\xff\xe2" + struct.pack(">H", len(part) + 16) + b"ICC_PROFILE\0" + bytes([index + 1, len(parts)]) + part
                            for index, part in enumerate(parts))
        data = read("jpeg/odd.jpg")
        yield f"profile-of-{size}.jpg", data[:2] + segments + data[2:], outcome


def bombs():
    """Some 30,000 by 30,000 of every format."""
    side = 30_000
    for name, data in [
        ("bomb.jpg", jpeg(side, side)), ("bomb-progressive.jpg", jpeg(side, side, "jpeg/progressive.jpg")), ("bomb.png", png(side, side)),
        ("bomb-interlaced.png", png(side, side, 6, 1)), ("bomb-animated.png", apng(side, side, 2)), ("bomb.gif", gif(side, side)),
        ("bomb-animated.gif", gif(side, side, 2)), ("bomb-frame.gif", gif(side, side, 2, (0, 0, side, side))),
        ("bomb-canvas.webp", canvas(side, side, "webp/animated.webp")),
        ("bomb.heic", heif(side, side)), ("bomb.avif", heif(side, side, "avif/coffee.avif")), ("bomb.tiff", tiff(side, side)),
        ("bomb-one-strip.tiff", tiff(side, side, 900_000_000)), ("bomb.jxl", jxl(side, side)), ("bomb.bmp", bmp(side, side)),
        ("bomb-huge.jxl", jxl(1 << 29, 1 << 29)), ("bomb-huge.tiff", tiff(0xFFFFFFFF, 0xFFFFFFFF)), ("bomb-huge.png", png(0x7FFFFFFF, 0x7FFFFFFF)),
        ("bomb-huge.bmp", bmp(0x7FFFFFFF, -0x80000000)), ("bomb.jpg-65535", jpeg(65_535, 65_535)), ("bomb-65535.gif", gif(65_535, 65_535)),
        ("bomb-huge.heic", heif(0xFFFFFFFF, 0xFFFFFFFF)),
    ]:
        # libvips 8.16 looks at frames of JXL before it tells the size.
        vague = any(word in name for word in ("huge", "canvas", "65535.gif", ".jxl"))
        yield name, data, ["too_many_pixels"] + (["corrupt", "undecodable", "unsupported_feature"] if vague else [])


# MARK: Lies

def lies():
    """(name, bytes, what may come of rendering them)."""
    damaged = ["corrupt", "undecodable"]
    either = ["delivered", "corrupt", "undecodable", "too_many_pixels", "too_expensive", "unrecognized_type", "too_many_frames",
              "unsupported_feature"]
    # Fewer pixels than promised.
    yield "promises.jpg", jpeg(2_000, 2_000), either  # libjpeg is content with less.
    yield "promises.png", png(2_000, 2_000), damaged
    yield "promises.tiff", tiff(2_000, 2_000), damaged
    yield "promises-strip.tiff", tiff(2_000, 2_000, 0xFFFFFFF0), damaged
    yield "promises.bmp", bmp(2_000, 2_000), damaged
    yield "promises.webp", webp(2_000, 2_000), damaged
    yield "promises.jxl", jxl(2_000, 2_000), damaged
    yield "promises.heic", heif(2_000, 2_000), either
    yield "promises.avif", heif(2_000, 2_000, "avif/coffee.avif"), either
    yield "tiny.heic", heif(1, 1), either
    yield "canvas.webp", canvas(1_000, 1_000, "webp/animated.webp"), either
    yield "small-canvas.webp", canvas(1, 1, "webp/animated.webp"), either
    yield "outside.gif", gif(16, 16, 3, (60_000, 60_000, 1, 1)), either
    yield "larger-frame.gif", gif(1, 1, 3, (0, 0, 4_000, 4_000)), either
    yield "huge-frame.gif", gif(1, 1, 3, (0, 0, 65_535, 65_535)), either
    yield "apng-frame.png", apng(8, 8, 3).replace(struct.pack(">II", 8, 8) + bytes(8), struct.pack(">II", 60_000, 60_000) + bytes(8)), either
    # Nothing at all.
    for name, data in [("jpg", jpeg(0, 0)), ("png", png(0, 0)), ("gif", gif(0, 0)), ("tiff", tiff(0, 0)), ("bmp", bmp(0, 0)),
                       ("heic", heif(0, 0)), ("png-apng", apng(0, 0, 2))]:
        yield f"zero.{name}", data, either
    # Frames.
    for frames, real in [(2_000_000_000, 2), (0, 3), (900, 2), (2, 5), (1, 3), (0xFFFFFFFF, 1)]:
        yield f"frames-{frames}-of-{real}.png", apng(8, 8, frames, real), either
    # Sizes of parts.
    whole = png(8, 8)
    for length in (0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0):
        yield f"chunk-{length:x}.png", whole[:33] + chunk(b"teSt", b"text", length) + whole[33:], either
        yield f"pixels-{length:x}.png", whole.replace(struct.pack(">I", len(zlib.compress(bytes(4096)))) + b"IDAT", struct.pack(">I", length) + b"IDAT"), either
    for size in (0, 1, 2, 0xFFFF):
        data = read("jpeg/odd.jpg")
        yield f"segment-{size:x}.jpg", data[:2] + b"\xff\xe1" + struct.pack(">H", size) + b"Exif\0\0" + data[2:], either
    for size in (0, 3, 0xFFFFFFFF, 0x7FFFFFFF):
        yield f"riff-{size:x}.webp", put(read("webp/cat.webp"), 4, struct.pack("<I", size)), either
        yield f"chunk-{size:x}.webp", put(read("webp/cat.webp"), 16, struct.pack("<I", size)), either
    for size in (0, 1, 7, 0xFFFFFFFF, 0x7FFFFFFF):
        data = read("heic/rotated.heic")
        at = data.index(b"meta") - 4
        yield f"meta-{size:x}.heic", put(data, at, struct.pack(">I", size)), either
        yield f"iloc-{size:x}.heic", put(data, data.index(b"iloc") + 16, struct.pack(">I", size)), either
        yield f"iprp-{size:x}.heic", put(data, data.index(b"iprp") - 4, struct.pack(">I", size)), either
    yield "nested.heic", box(b"ftyp", b"heic\0\0\0\0heic") + nested(b"meta", 4_000), either
    yield "endless-blocks.gif", b"GIF89a\x10\0\x10\0\x80\0\0" + bytes(6) + b"\x21\xfe" + b"\xff" * 200_000, either
    yield "loop.tiff", tiff(8, 8, 64, following=8 + 4096), either
    yield "many-strips.tiff", tiff(8, 60_000_000, 64, rows=1), either
    yield "tiles.tiff", tiff(8, 8, 64, more=((0x142, (4, 0x7FFFFFF0)), (0x143, (4, 0x7FFFFFF0)), (0x144, (4, 8)), (0x145, (4, 64)))), either
    yield "samples.tiff", tiff(1_000, 1_000, 64, more=((0x115, (3, 65_535)),)), either
    yield "planes.tiff", tiff(2_000, 2_000, 64, more=((0x115, (3, 300)), (0x11C, (3, 2)))), either
    yield "bits.tiff", tiff(1_000, 1_000, 64, more=((0x102, (3, 65_535)),)), either
    # Contradictions.
    data = read("jpeg/odd.jpg")
    frame = data.index(b"\xff\xc0")
    header = data[frame:frame + 19]
    yield "two-frames.jpg", data[:frame] + header[:5] + struct.pack(">HH", 60_000, 60_000) + header[9:] + data[frame:], either
    yield "two-frames-later.jpg", data[:frame + 19] + header[:5] + struct.pack(">HH", 60_000, 60_000) + header[9:] + data[frame + 19:], either
    yield "height-later.jpg", put(data, frame + 5, b"\0\0"), either
    yield "components.jpg", put(data, frame + 9, b"\xff"), either
    yield "sampling.jpg", put(data, frame + 11, b"\xff"), either
    # Pictures after pictures: every scan is another pass over all coefficients.
    scans = read("jpeg/progressive.jpg")
    first = scans.index(b"\xff\xda")
    second = scans.index(b"\xff\xda", first + 2)
    part = scans[first:second].rpartition(b"\xff\xc4")[0] or scans[first:second]
    yield "scans.jpg", jpeg(5_000, 5_000, "jpeg/progressive.jpg")[:first] + part * 300 + scans[second:], either
    yield "negative.bmp", bmp(-64, 64), either
    yield "lowest.bmp", bmp(64, -0x80000000), either
    for depth in (0, 3, 64, 65_535):
        yield f"depth-{depth}.bmp", bmp(32, 32, depth), either
    yield "palette.bmp", bmp(32, 32, 8, 0xFFFFFFFF), either
    yield "header.bmp", bmp(32, 32, 24, 0, 0xFFFFFFFF), either
    # Profiles.
    icc = read("jpeg/display-p3.jpg")
    at = icc.index(b"ICC_PROFILE\0\1\1") + 14
    for size in (0, 1, 0xFFFFFFFF):
        yield f"profile-{size:x}.jpg", put(icc, at, struct.pack(">I", size)), either
    yield "profile-tags.jpg", put(icc, at + 128, struct.pack(">I", 0x0FFFFFFF)), either
    yield "profile-offsets.jpg", put(icc, at + 136, struct.pack(">II", 0xFFFFFFF0, 0xFFFFFFF0)), either
    inflating = zlib.compress(bytes(40 << 20), 9)
    yield "profile-inflating.png", png(8, 8, more=chunk(b"iCCP", b"name\0\0" + inflating)), either
    yield "text-inflating.png", png(8, 8, more=chunk(b"zTXt", b"name\0\0" + inflating) * 20), either
    yield "pixels-inflating.png", whole[:33] + chunk(b"IDAT", inflating) + chunk(b"IEND", b""), either


def nested(name: bytes, depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = box(name, data)
    return data
