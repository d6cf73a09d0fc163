"""Accounts for every byte of a file: what is not needed to show it is a complaint."""

import struct
import zlib

# Names by which libraries sign; "Lavf" alone, without a version, is the muxer's own in an MP3's first frame.
SIGNATURES = [b"Lavf5", b"Lavc", b"LAME", b"x264", b"x265", b"libvips", b"ImageMagick", b"Adobe", b"Exif\0", b"http://", b"<?x"]


def complaints(data: bytes):
    for head, name, check in KINDS:
        if data[:len(head)] == head if head != b"ftyp" else data[4:8] == head:
            yield from check(data)
            break
    else:
        yield f"unknown kind of file: {data[:12]!r}"
    for signature in SIGNATURES:
        # In compressed data four chance bytes are not rare.
        if len(signature) > 4 and signature in data or signature in data[:4096]:
            yield f"signed: {signature!r}"


def jpeg(data: bytes):
    at = 2
    while True:
        if data[at] != 0xFF:
            yield f"no marker at {at}"
            return
        marker, size = data[at + 1], struct.unpack(">H", data[at + 2:at + 4])[0]
        content = data[at + 4:at + 2 + size]
        if marker == 0xE0:
            if content[:5] != b"JFIF\0" or len(content) != 14 or content[12:] != b"\0\0":
                yield "an APP0 that is more than JFIF's header"
            elif content[7:12] not in (b"\0\0\1\0\1", b"\1\0\x48\0\x48"):
                yield f"a resolution: {content[7:12].hex()}"
        elif marker == 0xE2 and content.startswith(b"ICC_PROFILE\0"):
            pass  # exiftool tells which.
        elif marker not in (0xDB, 0xC0, 0xC1, 0xC2, 0xC4, 0xDA, 0xDD):
            yield f"segment {marker:#x}"
        at += 2 + size
        if marker == 0xDA:
            while True:
                at = data.index(b"\xff", at)
                if data[at + 1] == 0 or 0xD0 <= data[at + 1] <= 0xD7:
                    at += 2
                    continue
                break
            if data[at + 1] == 0xD9:
                if at + 2 != len(data):
                    yield f"{len(data) - at - 2} bytes after the end"
                return


def png(data: bytes):
    at, pixels, header = 8, b"", b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + size]
        at += size + 12
        if name == b"IHDR":
            header = content
        elif name == b"IDAT":
            pixels += content
        elif name == b"iCCP":
            pass  # exiftool tells which.
        elif name == b"IEND":
            break
        elif name == b"pHYs":
            if content != bytes.fromhex("00000b1300000b1301"):
                yield f"a resolution: {content.hex()}"
        elif name not in (b"PLTE", b"tRNS"):
            yield f"chunk {name!r}: {content[:40]!r}"
    if at != len(data):
        yield f"{len(data) - at} bytes after the end"
    inflater = zlib.decompressobj()
    rows = inflater.decompress(pixels)
    width, height, depth, kind = struct.unpack(">IIBB", header[:10])
    bits = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind] * depth
    if header[12] == 0 and len(rows) != height * (1 + (width * bits + 7) // 8) or inflater.unused_data:
        yield "more than its pixels in IDAT"


def gif(data: bytes):
    def skipped(at: int) -> int:
        while data[at]:
            at += data[at] + 1
        return at + 1

    def palette(flags: int) -> int:
        return 3 << ((flags & 7) + 1) if flags & 0x80 else 0

    at = 13 + palette(data[10])
    while data[at] != 0x3B:
        if data[at] == 0x21:
            name = data[at + 3:at + 14]
            if data[at + 1] == 0xFF and name == b"NETSCAPE2.0":
                if data[at + 14] != 3 or data[at + 18]:
                    yield "a loop extension with more than a count"
            elif data[at + 1] != 0xF9 or data[at + 2] != 4 or data[at + 7]:
                yield f"extension {data[at + 1]:#x}: {name!r}"
            at = skipped(at + 2)
        elif data[at] == 0x2C:
            at = skipped(at + 11 + palette(data[at + 9]))
        else:
            yield f"block {data[at]:#x}"
            return
    if at + 1 != len(data):
        yield f"{len(data) - at - 1} bytes after the end"


def riff_chunks(data: bytes, at: int):
    while at + 8 <= len(data):
        size = struct.unpack("<I", data[at + 4:at + 8])[0]
        yield data[at:at + 4], data[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    if at != len(data):
        yield b"rest", data[at:]


def riff(data: bytes):
    if struct.unpack("<I", data[4:8])[0] + 8 != len(data):
        yield "its RIFF size is not the file's"
    if data[8:12] == b"WAVE":
        for name, content in riff_chunks(data, 12):
            if name == b"fmt " and len(content) != 16 or name not in (b"fmt ", b"data"):
                yield f"chunk {name!r} of {len(content)} bytes"
        return
    for name, content in riff_chunks(data, 12):
        if name == b"VP8X" and (content[0] & ~0x12 or any(content[1:4])):
            yield f"VP8X promises {content[0]:#x}"
        if name == b"ANMF":
            for inner, _ in riff_chunks(content, 16):
                if inner not in (b"ALPH", b"VP8 ", b"VP8L"):
                    yield f"chunk {inner!r} in a frame"
        elif name not in (b"VP8X", b"ANIM", b"ALPH", b"VP8 ", b"VP8L"):
            yield f"chunk {name!r}"


CONTAINERS = {b"moov", b"trak", b"mdia", b"minf", b"dinf", b"stbl", b"edts"}
BOXES = CONTAINERS | {b"ftyp", b"free", b"mdat", b"mvhd", b"tkhd", b"mdhd", b"hdlr", b"vmhd", b"smhd", b"dref", b"elst", b"stsd",
                      b"stts", b"ctts", b"stss", b"stsc", b"stsz", b"stco", b"co64", b"sgpd", b"sbgp"}
ENTRY_BOXES = {b"avcC", b"esds", b"pasp", b"colr", b"btrt"}


def boxes(data: bytes, start: int, end: int):
    while start < end:
        size, name = struct.unpack(">I4s", data[start:start + 8])
        head = 8
        if size == 1:
            size, head = struct.unpack(">Q", data[start + 8:start + 16])[0], 16
        if size < head or start + size > end:
            yield b"bad ", start, start, end
            return
        yield name, start, start + head, start + size
        start += size


def mp4(data: bytes):
    media, samples = 0, 0
    stack = [(0, len(data))]
    tracks = []
    while stack:
        for name, _, content, end in boxes(data, *stack.pop()):
            if name not in BOXES:
                yield f"box {name!r}: {data[content:content + 40]!r}"
            elif name in CONTAINERS:
                stack.append((content, end))
            elif name == b"mdat":
                media += end - content
            elif name == b"free" and any(data[content:end]):
                yield "a free box with something in it"
            elif name in (b"mvhd", b"tkhd", b"mdhd"):
                if any(data[content + 4:content + (20 if data[content] else 12)]):
                    yield f"{name!r} says when it was made"
            elif name == b"hdlr" and data[content + 24:end].strip(b"\0") not in (b"", b"VideoHandler", b"SoundHandler"):
                yield f"handler {data[content + 24:end]!r}"
            elif name == b"stsd":
                yield from sample_entries(data, content + 8, end)
            elif name == b"stsz":
                fixed, count = struct.unpack(">II", data[content + 4:content + 12])
                samples += fixed * count or sum(struct.unpack(f">{count}I", data[content + 12:content + 12 + 4 * count]))
            if name == b"stbl":
                tracks.append((content, end))
    if media != samples:
        yield f"{media} bytes of media, and samples of {samples}"
    for track in tracks:
        yield from stored_samples(data, *track)


def sample_entries(data: bytes, start: int, end: int):
    for name, _, content, end in boxes(data, start, end):
        if name not in (b"avc1", b"mp4a"):
            yield f"sample entry {name!r}"
            continue
        if name == b"avc1" and any(data[content + 42:content + 74]):
            yield f"compressor {data[content + 42:content + 74]!r}"
        for inner, _, inside, last in boxes(data, content + (78 if name == b"avc1" else 28), end):
            if inner not in ENTRY_BOXES:
                yield f"box {inner!r} in a sample entry"
            if inner == b"avcC":
                yield from configuration(data[inside:last])
            if inner == b"esds":
                # The decoder's configuration: two bytes of AAC's, five with what says that there is no SBR.
                at = data.index(b"\x05\x80\x80\x80", inside) + 4
                if data[at] not in (2, 5):
                    yield f"{data[at]} bytes of AAC configuration"


def configuration(avcc: bytes):
    at = 5
    for kind in (7, 8):
        count = avcc[at] & 0x1F
        at += 1
        for _ in range(count):
            length = struct.unpack(">H", avcc[at:at + 2])[0]
            if avcc[at + 2] & 0x1F != kind:
                yield f"unit {avcc[at + 2] & 0x1F} in avcC"
            at += 2 + length
    if avcc[1] in (100, 110, 122, 144) and len(avcc) > at:
        at += 4
    if at != len(avcc):
        yield f"{len(avcc) - at} bytes behind avcC"


def stored_samples(data: bytes, start: int, end: int):
    """Looks into the samples of one track."""
    table = {name: data[content:last] for name, _, content, last in boxes(data, start, end)}
    entry = table[b"stsd"][12:16]
    width = 4
    if entry == b"avc1":
        width = (table[b"stsd"][table[b"stsd"].index(b"avcC") + 8] & 3) + 1
    fixed, count = struct.unpack(">II", table[b"stsz"][4:12])
    sizes = [fixed] * count if fixed else struct.unpack(f">{count}I", table[b"stsz"][12:12 + 4 * count])
    wide = b"co64" in table
    raw = table[b"co64" if wide else b"stco"]
    chunks = struct.unpack(f">{struct.unpack('>I', raw[4:8])[0]}{'Q' if wide else 'I'}", raw[8:])
    runs = list(struct.iter_unpack(">III", table[b"stsc"][8:]))
    sample, kinds = 0, set()
    for index, at in enumerate(chunks, 1):
        per_chunk = [run[1] for run in runs if run[0] <= index][-1]
        for _ in range(per_chunk):
            if sample >= count:
                break
            content = data[at:at + sizes[sample]]
            if entry == b"avc1":
                inside = 0
                while inside < len(content):
                    kinds.add(content[inside + width] & 0x1F)
                    inside += width + int.from_bytes(content[inside:inside + width], "big")
            at += sizes[sample]
            sample += 1
    for kind in kinds - {1, 2, 3, 4, 5, 7, 8, 9}:
        yield f"unit {kind} in a sample"


RATES = [44100, 48000, 32000]
BITS = {3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]}


def mp3(data: bytes):
    at = 0
    while at < len(data):
        if data[at] != 0xFF or data[at + 1] & 0xE6 != 0xE2:
            yield f"no frame at {at} of {len(data)}: {data[at:at + 20]!r}"
            return
        version = data[at + 1] >> 3 & 3
        rate = RATES[data[at + 2] >> 2 & 3] >> {3: 0, 2: 1, 0: 2}[version]
        bits = BITS[3 if version == 3 else 2][data[at + 2] >> 4] * 1000
        size = (144 if version == 3 else 72) * bits // rate + (data[at + 2] >> 1 & 1)
        at += size
    if at != len(data):
        yield f"its last frame is cut off"


KINDS = [(b"\xff\xd8", "JPEG", jpeg), (b"\x89PNG", "PNG", png), (b"GIF8", "GIF", gif), (b"RIFF", "RIFF", riff),
         (b"ftyp", "MP4", mp4), (b"\xff", "MP3", mp3)]
