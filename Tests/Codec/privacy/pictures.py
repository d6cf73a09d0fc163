"""Canaries in every place that a picture's format offers."""

import binascii
import pathlib
import struct
import subprocess
import zlib

from canary import LATITUDE, LONGITUDE, Places, Tiff, descriptive_fields, exif, exif_directories, photoshop, profile, xmp

MEDIA = pathlib.Path(__file__).resolve().parents[3] / "Media"
WIDTH, HEIGHT = 64, 48


def pattern(x: int, y: int) -> bytes:
    """The pixels of the pictures that are made here."""
    return bytes([x * 3 % 256, y * 5 % 256, (x + y) * 2 % 256])


# MARK: JPEG

def segment(marker: int, data: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def with_comment(jpeg: bytes, text: bytes) -> bytes:
    return jpeg[:2] + segment(0xFE, text) + jpeg[2:]


def jpeg(p: Places) -> bytes:
    base = (MEDIA / "jpeg/odd.jpg").read_bytes()
    thumbnail = with_comment(base, p("comment of the embedded thumbnail"))
    assert base[2:4] == b"\xff\xe0"
    rest = base[4 + int.from_bytes(base[4:6], "big"):]
    pixels = p("JFIF thumbnail's pixels").ljust(48, b"\0")
    icc = profile(p)
    large = xmp(p, 'xmpNote:HasExtendedXMP="0123456789ABCDEF0123456789ABCDEF"')
    extension = p("extended XMP")
    second = with_comment(base, p("comment of the second picture"))
    segments = [
        segment(0xE0, b"JFIF\0\1\2\0\0\1\0\1" + bytes([16, 1]) + pixels),
        segment(0xE0, b"JFXX\0\x10" + with_comment(base, p("JFXX thumbnail"))),
        segment(0xE1, b"Exif\0\0" + exif(p, thumbnail)),
        segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + large),
        segment(0xE1, b"http://ns.adobe.com/xmp/extension/\0" + b"0123456789ABCDEF0123456789ABCDEF"
                + struct.pack(">II", len(extension), 0) + extension),
        segment(0xE2, b"ICC_PROFILE\0\1\1" + icc),
        segment(0xE2, b"MPF\0II*\0\x08\0\0\0\0\0\0\0\0\0" + p("MPF")),
        segment(0xED, b"Photoshop 3.0\0" + photoshop(p, thumbnail)),
        segment(0xEE, b"Adobe\0\x64\0\0\0\0\1" + p("APP14 beyond Adobe's fields")),
        segment(0xFE, p("COM")),
        segment(0xFE, p.wide("COM in UTF-16")),
        # Tables that no component uses.
        segment(0xDB, b"\3" + p("unused quantisation table").ljust(64, b"\1")[:64]),
    ]
    segments += [segment(0xE0 + number, p(f"APP{number}")) for number in [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15]]
    end = rest.rindex(b"\xff\xd9")
    body = rest[:end] + p("scan data after the last block") + rest[end:]
    return b"\xff\xd8" + b"".join(segments) + body + second + p("after the end")


# MARK: PNG

def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", binascii.crc32(name + data))


def png_texts(p: Places) -> list[bytes]:
    thumbnail = with_comment((MEDIA / "jpeg/pixel.jpg").read_bytes(), p("comment of the embedded thumbnail"))
    return [
        chunk(b"iCCP", b"SATCHEL-CANARY iCCP name\0\0" + zlib.compress(profile(p))),
        chunk(b"tEXt", b"Comment\0" + p("tEXt")), chunk(b"tEXt", b"SATCHEL-CANARY key\0value"),
        chunk(b"zTXt", b"Author\0\0" + zlib.compress(p("zTXt"))),
        chunk(b"iTXt", b"Title\0\1\0en\0title\0" + zlib.compress(p("iTXt"))),
        chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp(p)),
        chunk(b"zTXt", b"Raw profile type iptc\0\0" + zlib.compress(
            b"\niptc\n%8d\n%s\n" % (2, binascii.hexlify(p("raw profile"))))),
        chunk(b"eXIf", exif(p, thumbnail)), chunk(b"tIME", struct.pack(">H5B", 2001, 2, 3, 4, 5, 6)),
        chunk(b"sPLT", p("sPLT name")[:79] + b"\0\x08" + bytes(6)), chunk(b"caNa", p("private chunk")),
        chunk(b"pHYs", struct.pack(">IIB", 0x53415443, 0x43414E41, 1)),
    ]


def png(p: Places) -> bytes:
    """Its upper half is transparent, over colours that say something."""
    secret = p("colours under transparency")
    rows = b""
    for y in range(HEIGHT):
        hidden = (secret * 9)[:WIDTH * 3]
        row = b"".join(hidden[3 * x:3 * x + 3] + b"\0" if y < HEIGHT // 2 else pattern(x, y) + b"\xff"
                       for x in range(WIDTH))
        rows += b"\0" + row
    suggested = p("suggested palette")
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 6, 0, 0, 0))
            + b"".join(png_texts(p)) + chunk(b"PLTE", suggested + b"\0" * (-len(suggested) % 3))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"tEXt", b"Late\0" + p("tEXt after the pixels"))
            + chunk(b"IEND", b"") + p("after the end"))


def palette_png(p: Places) -> bytes:
    """Two colours are used; the rest of the palette, and the transparent one, say something."""
    unused = p("unused palette entries")
    unused += b"\0" * (-len(unused) % 3)
    palette = bytes([255, 0, 0, 0, 0, 255]) + b"SAT" + unused
    rows = b"".join(b"\0" + bytes([2 if y < 8 else (x + y) % 2 for x in range(WIDTH)]) for y in range(HEIGHT))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", palette) + chunk(b"tRNS", b"\xff\xff\0")
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def apng(p: Places) -> bytes:
    data = (MEDIA / "png/animated-hidden.png").read_bytes()
    at = data.index(b"IEND") - 4
    return data[:33] + b"".join(png_texts(p)) + data[33:at] + chunk(b"tEXt", b"Late\0" + p("tEXt after the frames")) \
        + data[at:] + p("after the end")


# MARK: GIF

def blocks(data: bytes) -> bytes:
    return b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255)) + b"\0"


def gif(p: Places, path: str) -> bytes:
    data = (MEDIA / path).read_bytes()
    assert data[10] & 0x80
    start = 13 + (3 << ((data[10] & 7) + 1))
    # A palette of 256 colours, of which the picture uses the first ones.
    colours = data[13:start] + p("unused palette entries")
    head = data[:10] + bytes([data[10] | 7]) + data[11:13] + colours.ljust(768, b"\0")[:768]
    extensions = (b"\x21\xfe" + blocks(p("comment")) + b"\x21\xfe" + blocks(p.wide("comment in UTF-16"))
                  + b"\x21\xff\x0bXMP DataXMP" + xmp(p) + bytes([1]) + bytes(range(255, -1, -1)) + b"\0"
                  + b"\x21\xff\x0bCANARYAPP10" + blocks(p("application extension"))
                  + b"\x21\xff\x0bICCRGBG1012" + blocks(profile(p))
                  + b"\x21\xce" + blocks(p("unknown extension")))
    assert data.endswith(b"\x3b")
    late = b"\x21\xfe" + blocks(p("comment after the frames"))
    # Blocks after the end of a frame's codes.
    return head + extensions + data[start:-2] + blocks(p("after the codes of a frame")) + late + b"\x3b" + p("after the end")


# MARK: WebP

def riff(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def webp(p: Places, path: str) -> bytes:
    data = (MEDIA / path).read_bytes()
    thumbnail = with_comment((MEDIA / "jpeg/pixel.jpg").read_bytes(), p("comment of the embedded thumbnail"))
    chunks, at = [], 12
    while at + 8 <= len(data):
        size = struct.unpack("<I", data[at + 4:at + 8])[0]
        chunks.append((data[at:at + 4], data[at + 8:at + 8 + size]))
        at += 8 + size + size % 2
    if chunks[0][0] == b"VP8X":
        extended = bytearray(chunks.pop(0)[1])
    else:
        assert chunks[0][0] == b"VP8L"
        bits = int.from_bytes(chunks[0][1][1:5], "little")
        extended = bytearray(b"\x10\0\0\0" + (bits & 0x3FFF).to_bytes(3, "little") + (bits >> 14 & 0x3FFF).to_bytes(3, "little"))
    extended[0] |= 0x20 | 0x08 | 0x04
    extended[1:4] = b"CAN"
    body = riff(b"VP8X", bytes(extended)) + riff(b"ICCP", profile(p))
    body += b"".join(riff(name, content + (riff(b"CANA", p("unknown chunk of a frame")) if name == b"ANMF" else b""))
                     for name, content in chunks if name not in (b"ICCP", b"EXIF", b"XMP "))
    body += riff(b"EXIF", exif(p, thumbnail)) + riff(b"XMP ", xmp(p)) + riff(b"CANA", p("unknown chunk"))
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body + p("after the end")


def hidden_webp(p: Places, directory: pathlib.Path) -> bytes:
    """Lossless, with the colours under full transparency kept."""
    source = directory / "hidden.png"
    source.write_bytes(png(Places(p.name)))
    p("colours under transparency")
    target = directory / "hidden.webp"
    subprocess.run(["cwebp", "-quiet", "-lossless", "-exact", str(source), "-o", str(target)], check=True)
    source.unlink()
    data = target.read_bytes()
    target.unlink()
    return data


# MARK: HEIC, AVIF, JXL

def box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + name + data


def heif(p: Places, directory: pathlib.Path, *options: str) -> bytes:
    """Metadata as items, from what the encoder takes over; boxes and bytes behind everything."""
    source, target = directory / "heif-source.jpg", directory / "heif-target"
    base = (MEDIA / "jpeg/orientation-1.jpg").read_bytes()
    icc = segment(0xE2, b"ICC_PROFILE\0\1\1" + profile(p))
    source.write_bytes(base[:2] + icc + base[2:])
    # The encoder's own thumbnail, a hidden picture.
    subprocess.run(["heif-enc", *options, "-t", "32", "-o", str(target), str(source)], check=True, capture_output=True)
    fields = {"EXIF:Artist": "EXIF Artist", "EXIF:Make": "EXIF Make", "EXIF:SerialNumber": "EXIF SerialNumber",
              "EXIF:UserComment": "EXIF UserComment", "XMP-dc:Description": "XMP", "XMP-dc:Creator": "XMP Creator"}
    named = [f"-{tag}={p(place).decode()}" for tag, place in fields.items()]
    subprocess.run(["exiftool", "-q", "-overwrite_original", *named, f"-GPSLatitude={LATITUDE}", "-GPSLatitudeRef=N",
                    f"-GPSLongitude={LONGITUDE}", "-GPSLongitudeRef=E", str(target)], check=True)
    data = target.read_bytes()
    source.unlink()
    target.unlink()
    return (data + box(b"free", p("free")) + box(b"skip", p("skip")) + box(b"uuid", bytes(16) + p("uuid"))
            + box(b"udta", box(b"name", p("udta name"))) + box(b"mdat", p("mdat that no item has")) + box(b"cana", p("unknown box")))


def jxl(p: Places) -> bytes:
    codestream = (MEDIA / "jxl/alpha.jxl").read_bytes()
    thumbnail = with_comment((MEDIA / "jpeg/pixel.jpg").read_bytes(), p("comment of the embedded thumbnail"))
    if codestream[:2] != b"\xff\x0a":
        parts, at = [], 0
        while at < len(codestream):
            size, name = struct.unpack(">I4s", codestream[at:at + 8])
            size = size or len(codestream) - at
            if name in (b"jxlc", b"jxlp"):
                parts.append(codestream[at + (8 if name == b"jxlc" else 12):at + size])
            at += size
        codestream = b"".join(parts)
    jumbf = box(b"jumb", box(b"jumd", b"json" + bytes(12) + b"\3" + p("jumb label") + b"\0") + box(b"json", p("jumb json")))
    return (box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl \0\0\0\0jxl ") + box(b"Exif", bytes(4) + exif(p, thumbnail))
            + box(b"xml ", xmp(p)) + jumbf + box(b"uuid", bytes(16) + p("uuid")) + box(b"jxlc", codestream)
            + box(b"Exif", bytes(4) + p("second Exif")) + box(b"cana", p("unknown box")) + box(b"free", p("free")))


def jxl_of_jpeg(p: Places, directory: pathlib.Path) -> bytes:
    """From which the JPEG, with all that it held, could be made again."""
    source, target = directory / "jxl-source.jpg", directory / "jxl-target.jxl"
    base = (MEDIA / "jpeg/orientation-1.jpg").read_bytes()
    segments = segment(0xE5, p("APP5 of the JPEG")) + segment(0xFE, p("COM of the JPEG")) \
        + segment(0xE2, b"ICC_PROFILE\0\1\1" + profile(p))
    source.write_bytes(base[:2] + segments + base[2:])
    subprocess.run(["cjxl", "--quiet", "--lossless_jpeg=1", str(source), str(target)], check=True, capture_output=True)
    data = target.read_bytes()
    source.unlink()
    target.unlink()
    return data


# MARK: TIFF, BMP

def tiff(p: Places) -> bytes:
    file = Tiff()
    thumbnail = with_comment((MEDIA / "jpeg/pixel.jpg").read_bytes(), p("comment of the embedded thumbnail"))
    pixels = b"".join(pattern(x, y) for y in range(HEIGHT) for x in range(WIDTH))
    file.put(p("gap before the strips"))
    strip = file.put(pixels)
    file.put(p("gap after the strips"))

    def picture(strip: int, width: int, height: int):
        return [(0x100, 3, width), (0x101, 3, height), (0x102, 3, struct.pack("<3H", 8, 8, 8)), (0x103, 3, 1),
                (0x106, 3, 2), (0x111, 4, strip), (0x115, 3, 3), (0x116, 3, height), (0x117, 4, width * height * 3)]

    hidden = p("pixels of the sub-IFD").ljust(96, b"\0")
    small = file.directory(picture(file.put(hidden), 32, 1) + [(0xFE, 4, 1)])
    secret = p("pixels of the second page").ljust(96, b"\0")
    second = file.directory(picture(file.put(secret), 32, 1) + [(0x10E, 2, p("ImageDescription of the second page") + b"\0")])
    first = file.directory(
        picture(strip, WIDTH, HEIGHT) + descriptive_fields(p) + exif_directories(p, file)
        + [(0x14A, 4, small), (0x02BC, 1, xmp(p)), (0x8649, 1, photoshop(p, thumbnail)), (0x8773, 7, profile(p)),
           (0x83BB, 7, b"\x1c\2\x78" + struct.pack(">H", len(p.text("IPTC tag"))) + p("IPTC tag")),
           (0x87B1, 2, p("GeoAsciiParams") + b"\0"), (0x10F0, 2, p("unknown tag") + b"\0")], second)
    return file.finish(first) + p("after the end")


def bmp(p: Places) -> bytes:
    gap, icc = p("gap before the pixels"), profile(p)
    # Rows of 63 pixels have three bytes too many.
    width = 63
    padding = p("padding of the rows")
    rows = b"".join(b"".join(pattern(x, y) for x in range(width)) + (padding * 9)[3 * y:3 * y + 3] for y in range(HEIGHT))
    start = 14 + 124 + len(gap)
    header = struct.pack("<IiiHHIIiiII", 124, width, HEIGHT, 1, 24, 0, len(rows), 2835, 2835, 0, 0) + bytes(16)
    header += b"DEBM" + bytes(36) + bytes(12) + struct.pack("<IIII", 4, 124 + len(gap) + len(rows), len(icc), 0)
    assert len(header) == 124
    body = header + gap + rows + icc + p("after the end")
    return b"BM" + struct.pack("<IHHI", 14 + len(body), 0x4153, 0x4354, start) + body


def make(directory: pathlib.Path):
    """(name of the file, its bytes, its places) of every picture."""
    def one(name: str, build, *arguments):
        p = Places(name.replace(".", "-"))
        return name, build(p, *arguments), p

    yield one("everything.jpg", jpeg)
    yield one("everything.png", png)
    yield one("palette.png", palette_png)
    yield one("animated.png", apng)
    yield one("still.gif", gif, "gif/still.gif")
    yield one("animated.gif", gif, "gif/loop-3.gif")
    yield one("still.webp", webp, "webp/lossless-alpha.webp")
    yield one("animated.webp", webp, "webp/animated-alpha.webp")
    yield one("hidden.webp", hidden_webp, directory)
    yield one("items.heic", heif, directory)
    yield one("items.avif", heif, directory, "-A")
    yield one("boxes.jxl", jxl)
    yield one("from-jpeg.jxl", jxl_of_jpeg, directory)
    yield one("everything.tiff", tiff)
    yield one("everything.bmp", bmp)
