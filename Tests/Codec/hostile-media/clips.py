"""Clips whose headers say what isn't so."""

import pathlib
import struct
import subprocess

from pictures import box, jpeg, nested, png, put, read, riff


def ffmpeg(*arguments) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)], check=True)


class Bits:
    """What H.264 writes its parameters with."""

    def __init__(self):
        self.text = ""

    def fixed(self, value: int, count: int) -> "Bits":
        self.text += bin(value)[2:].zfill(count)
        return self

    def golomb(self, value: int) -> "Bits":
        digits = bin(value + 1)[2:]
        self.text += "0" * (len(digits) - 1) + digits
        return self

    def finish(self) -> bytes:
        text = self.text + "1"
        text += "0" * (-len(text) % 8)
        data = bytes(int(text[at:at + 8], 2) for at in range(0, len(text), 8))
        # No byte order mark of a unit within a unit.
        for end in (0, 1, 2, 3):
            data = data.replace(b"\0\0" + bytes([end]), b"\0\0\3" + bytes([end]))
        return data


def sequence(width: int, height: int) -> bytes:
    """A sequence parameter set of the baseline profile."""
    return b"\x67\x42\0\x33" + (Bits().golomb(0).golomb(0).golomb(2).golomb(1).fixed(0, 1).golomb(width // 16 - 1)
                                .golomb(height // 16 - 1).fixed(1, 1).fixed(1, 1).fixed(0, 1).fixed(0, 1)).finish()


class Samples:
    def __init__(self, directory: pathlib.Path):
        plain = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-profile:v", "baseline", "-bf", "0"]
        samples = {
            "h264": ("a.h264", plain), "mp4": ("a.mp4", plain), "mkv": ("a.mkv", plain), "webm": ("a.webm", ["-c:v", "libvpx"]),
            "vp9": ("a-vp9.webm", ["-c:v", "libvpx-vp9", "-cpu-used", "8"]),
            "mjpeg": ("a.avi", ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"]),
            "raw": ("b.avi", ["-c:v", "rawvideo", "-pix_fmt", "bgr24"]), "mpeg4": ("c.avi", ["-c:v", "mpeg4"]),
            "mpeg2": ("a.mpg", ["-r", "25", "-c:v", "mpeg2video"]),
            "prores": ("a.mov", ["-c:v", "prores_ks", "-pix_fmt", "yuv422p10le"]),
        }
        outputs = [word for name, arguments in samples.values() for word in [*arguments, directory / name]]
        ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=1", *outputs)
        for sample, (name, _) in samples.items():
            setattr(self, sample, (directory / name).read_bytes())
            (directory / name).unlink()
        self.directory = directory

    def remuxed(self, data: bytes, name: str) -> bytes:
        source, target = self.directory / "remux.h264", self.directory / name
        source.write_bytes(data)
        # It looks at pictures of hundreds of megapixels, and would conceal what they lack.
        ffmpeg("-threads", "1", "-ec", "0", "-r", "10", "-f", "h264", "-i", source, "-c", "copy", target)
        made = target.read_bytes()
        source.unlink()
        target.unlink()
        return made


def box_field(data: bytes, name: bytes, offset: int, value: bytes, *, last: bool = False) -> bytes:
    """`data` with a field of the (first) box of that name changed; `offset` counts from its content."""
    return put(data, (data.rindex(name) if last else data.index(name)) + 4 + offset, value)


def sized(samples: Samples, width: int, height: int) -> dict[str, bytes]:
    """Coded sizes, in the bitstream itself."""
    mjpeg = samples.mjpeg
    at = -1
    while (at := mjpeg.find(b"\xff\xc0\0\x11\x08", at + 1)) > 0:
        mjpeg = put(mjpeg, at + 5, struct.pack(">HH", height, width))
    vp8 = samples.webm
    start = vp8.index(b"\x9d\x01\x2a")
    vp8 = put(vp8, start + 3, struct.pack("<HH", width & 0x3FFF, height & 0x3FFF))
    mpeg2 = samples.mpeg2
    start = mpeg2.index(b"\0\0\1\xb3")
    mpeg2 = put(mpeg2, start + 4, bytes([(width & 0xFFF) >> 4, (width & 0xF) << 4 | (height & 0xFFF) >> 8, height & 0xFF]))
    prores, at = samples.prores, -1
    while (at := prores.find(b"icpf", at + 1)) > 0:
        prores = put(prores, at + 12, struct.pack(">HH", width, height))
    # Of AVI the format's header counts too: raw pictures have no other.
    raw = samples.raw
    start = raw.index(b"strf") + 8
    raw = put(raw, start + 4, struct.pack("<ii", width, height))
    return {"mjpeg.avi": mjpeg, "vp8.webm": vp8, "mpeg2.mpg": mpeg2, "prores.mov": prores, "raw.avi": raw}


def with_sequence(samples: Samples, width: int, height: int) -> bytes:
    """The film with another size in its parameters, in their old place."""
    data = samples.mp4
    at = data.index(b"avcC") + 4
    length = int.from_bytes(data[at + 6:at + 8], "big")
    new = sequence(width, height)
    assert len(new) <= length, (len(new), length)
    return put(data, at + 8, new.ljust(length, b"\0"))


def limits(samples: Samples):
    yield "frame-above-limit.mp4", with_sequence(samples, 6_336, 6_336), ["too_many_pixels", "corrupt", "undecodable", "delivered"]
    # What is beyond the limit is carried, and not looked at.
    for count in (8, 9, 40):
        path = samples.directory / f"streams-{count}.mkv"
        ffmpeg("-f", "lavfi", "-i", "sine=duration=1", *["-map", "0"] * count, "-c:a", "flac", path)
        yield f"streams-{count}.mkv", path.read_bytes(), ["delivered"]
        path.unlink()


def bombs(samples: Samples):
    big = ["too_many_pixels", "corrupt", "undecodable", "unrecognized_type"]
    for name, data in sized(samples, 30_000, 30_000).items():
        yield f"bomb-{name}", data, big + ["delivered"]
    yield "bomb-sequence.mp4", with_sequence(samples, 16_000, 16_000), big
    data = samples.mp4
    entry = data.index(b"avc1", data.index(b"stsd"))
    container = put(data, entry + 28, struct.pack(">HH", 30_000, 30_000))
    yield "bomb-container.mp4", container, big + ["delivered"]
    start = samples.h264.index(b"\0\0\0\1\x67")
    end = samples.h264.index(b"\0\0\0\1", start + 4)
    swapped = samples.h264[:start] + b"\0\0\0\1" + sequence(16_000, 16_000) + samples.h264[end:]
    later = samples.h264 + swapped
    yield "bomb-stream.ts", samples.remuxed(swapped, "remux.ts"), big + ["delivered"]
    yield "bomb-midstream.ts", samples.remuxed(later, "remux.ts"), big + ["delivered"]
    yield "bomb-midstream.mkv", samples.remuxed(later, "remux.mkv"), big + ["delivered"]
    yield "bomb-midstream.avi", samples.remuxed(later, "remux.avi"), big + ["delivered"]
    webm = samples.webm
    at = webm.index(b"\xb0\x81\x40") if b"\xb0\x81\x40" in webm else -1
    if at > 0:
        yield "bomb-container.webm", put(webm, at, b"\xb0\x81\xff"), big + ["delivered"]
    art = {"image/jpeg": jpeg(30_000, 30_000), "image/png": png(30_000, 30_000)}
    for kind, data in art.items():
        body = b"\0" + kind.encode() + b"\0\3\0" + data
        frame = b"APIC" + struct.pack(">I", len(body)) + b"\0\0" + body
        size = bytes(len(frame) >> shift & 0x7F for shift in (21, 14, 7, 0))
        yield f"bomb-cover-{kind[6:]}.mp3", b"ID3\3\0\0" + size + frame + read("mp3/headless.mp3"), ["delivered"]


def matroska_field(data: bytes, name: bytes, value: bytes) -> bytes:
    at = data.index(name)
    assert data[at + len(name)] == 0x80 | len(value), data[at:at + 16]
    return put(data, at + len(name) + 1, value)


def lies(samples: Samples):
    any_ = ["delivered", "corrupt", "undecodable", "too_many_pixels", "too_expensive", "unrecognized_type", "too_long", "cap_unreachable",
            "invalid_source",
            "unsupported_feature"]
    mp4 = samples.mp4
    # Durations: ten hours, nothing, everything.
    for name, value in [("ten-hours", 36_000_000), ("nothing", 0), ("everything", 0xFFFFFFFF), ("ends", 0x7FFFFFFF)]:
        long = struct.pack(">I", value)
        changed = box_field(mp4, b"mvhd", 16, long)
        yield f"mvhd-{name}.mp4", changed, any_
        changed = box_field(box_field(changed, b"tkhd", 20, long), b"mdhd", 16, long)
        yield f"all-{name}.mp4", changed, any_
        yield f"stts-{name}.mp4", box_field(mp4, b"stts", 12, long), any_
        yield f"elst-{name}.mp4", box_field(mp4, b"elst", 8, long), any_
        yield f"elst-time-{name}.mp4", box_field(mp4, b"elst", 12, long), any_
        yield f"avi-frames-{name}.avi", box_field(samples.mpeg4, b"avih", 4 + 16, struct.pack("<I", value)), any_
        yield f"avi-length-{name}.avi", box_field(samples.mpeg4, b"strh", 4 + 32, struct.pack("<I", value)), any_
    # Clocks.
    for scale in (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 1_000_000):
        yield f"timescale-{scale}.mp4", box_field(mp4, b"mdhd", 12, struct.pack(">I", scale)), any_
        yield f"movie-timescale-{scale}.mp4", box_field(mp4, b"mvhd", 12, struct.pack(">I", scale)), any_
        yield f"rate-{scale}.avi", box_field(samples.mpeg4, b"strh", 4 + 24, struct.pack("<I", scale)), any_
        yield f"scale-{scale}.avi", box_field(samples.mpeg4, b"strh", 4 + 20, struct.pack("<I", scale)), any_
    for name, value in [("nan", float("nan")), ("infinite", float("inf")), ("negative", -1.0), ("vast", 1e300), ("tiny", 1e-300)]:
        yield f"duration-{name}.mkv", matroska_field(samples.mkv, b"\x44\x89", struct.pack(">d", value)), any_
    for value in (0, 1, 0x7FFFFFFF, 1_000_000_000):
        data = samples.mkv
        at = data.index(b"\x2a\xd7\xb1") + 4
        width = data[at - 1] & 0xF
        yield f"timescale-{value}.mkv", put(data, at, value.to_bytes(8, "big")[-width:]), any_
    # Counts.
    for count in (0, 0xFFFFFFF0, 0x7FFFFFFF, 0x10000000):
        for table in (b"stsz", b"stts", b"stsc", b"stco", b"stss", b"elst", b"stsd"):
            offset = 8 if table == b"stsz" else 4
            yield f"{table.decode()}-count-{count:x}.mp4", box_field(mp4, table, offset, struct.pack(">I", count)), any_
    yield "sample-size.mp4", box_field(mp4, b"stsz", 12, struct.pack(">I", 0x7FFFFFF0)), any_
    yield "same-size.mp4", box_field(mp4, b"stsz", 4, struct.pack(">II", 0x7FFFFFF0, 0x7FFFFFF0)), any_
    yield "chunk-place.mp4", box_field(mp4, b"stco", 8, struct.pack(">I", 0xFFFFFFFF)), any_
    # Sizes of boxes.
    for size in (0, 1, 4, 7, 8, 0x7FFFFFFF, 0xFFFFFFFF):
        for name in (b"moov", b"trak", b"mdat", b"stsd", b"avcC", b"stbl"):
            yield f"{name.decode()}-{size:x}.mp4", put(mp4, mp4.index(name) - 4, struct.pack(">I", size)), any_
    for name in (b"moov", b"mdat"):
        at = mp4.index(name) - 4
        yield f"{name.decode()}-64-bit.mp4", mp4[:at] + struct.pack(">I", 1) + name + struct.pack(">Q", 0x7FFFFFFFFFFFFFFF) + mp4[at + 8:], any_
    for name in (b"moov", b"trak", b"udta", b"meta"):
        yield f"nested-{name.decode()}.mp4", box(b"ftyp", b"isom\0\0\2\0isom") + nested(name, 3_000), any_
    yield "many-tracks.mp4", box(b"ftyp", b"isom\0\0\2\0isom") + box(b"moov", box(b"trak", b"") * 20_000), any_
    # Elements of Matroska.
    for name in (b"\x18\x53\x80\x67", b"\x16\x54\xae\x6b", b"\x1f\x43\xb6\x75", b"\x1a\x45\xdf\xa3"):
        at = samples.mkv.index(name) + 4
        for value in (b"\1\xff\xff\xff\xff\xff\xff\xff", b"\1\0\0\0\0\0\0\0", b"\1\x7f\xff\xff\xff\xff\xff\xff"):
            yield f"element-{name.hex()}-{value.hex()}.mkv", put(samples.mkv, at, value), any_
    # Chunks of AVI and of sound.
    for size in (0, 0x7FFFFFFF, 0xFFFFFFFF):
        little, big = struct.pack("<I", size), struct.pack(">I", size)
        for name in (b"RIFF", b"LIST", b"strf", b"movi", b"idx1"):
            at = samples.mpeg4.index(name) + (4 if name != b"movi" else -4)
            yield f"{name.decode()}-{size:x}.avi", put(samples.mpeg4, at, little), any_
        wav, aiff, caf, flac = read("wav/voice.wav"), read("aiff/voice.aiff"), read("caf/voice.caf"), read("flac/voice.flac")
        yield f"riff-{size:x}.wav", put(wav, 4, little), any_
        yield f"data-{size:x}.wav", put(wav, wav.index(b"data") + 4, little), any_
        yield f"fmt-{size:x}.wav", put(wav, wav.index(b"fmt ") + 4, little), any_
        yield f"rate-{size:x}.wav", put(wav, wav.index(b"fmt ") + 12, little), any_
        yield f"channels-{size:x}.wav", put(wav, wav.index(b"fmt ") + 10, little[:2]), any_
        yield f"ssnd-{size:x}.aiff", put(aiff, aiff.index(b"SSND") + 4, big), any_
        yield f"form-{size:x}.aiff", put(aiff, 4, big), any_
        yield f"frames-{size:x}.aiff", put(aiff, aiff.index(b"COMM") + 10, big), any_
        yield f"desc-{size:x}.caf", put(caf, caf.index(b"data") + 4, big + big), any_
        yield f"block-{size:x}.flac", put(flac, 5, big[:3]), any_
        yield f"samples-{size:x}.flac", put(flac, 8 + 14, big), any_
        tag = bytes([size >> 24 & 0x7F] * 4)
        yield f"id3-{size:x}.mp3", b"ID3\4\0\0" + tag + b"APIC" + tag + b"\0\0" + read("mp3/headless.mp3"), any_
        mp3 = read("mp3/variable-rate.mp3")
        at = mp3.index(b"Xing") if b"Xing" in mp3 else mp3.index(b"Info")
        yield f"xing-{size:x}.mp3", put(mp3, at + 8, big + big), any_
    ogg = read("ogg/" + next(path.name for path in sorted((pathlib.Path(__file__).resolve().parents[3] / "Media/ogg").iterdir())))
    yield "granule.ogg", put(ogg, ogg.rindex(b"OggS") + 6, b"\xff" * 7 + b"\x7f"), any_
    yield "segments.ogg", put(ogg, 26, b"\xff"), any_
    # One picture for a thousand million seconds, and a million pictures a second.
    yield "one-picture-for-ever.mp4", box_field(box_field(mp4, b"stts", 8, struct.pack(">II", 1, 0xFFFFFFFF)), b"mdhd", 12, struct.pack(">I", 1)), any_
    yield "million-a-second.mp4", box_field(box_field(mp4, b"mdhd", 12, struct.pack(">I", 1_000_000)), b"stts", 12, struct.pack(">I", 1)), any_
    yield "backwards.mp4", box_field(mp4, b"stts", 12, struct.pack(">i", -1)), any_
    # Sizes that disagree.
    entry = mp4.index(b"avc1", mp4.index(b"stsd"))
    for width, height in ((0, 0), (1, 1), (65_535, 65_535), (128, 96)):
        yield f"entry-{width}x{height}.mp4", put(mp4, entry + 28, struct.pack(">HH", width, height)), any_
        yield f"track-{width}x{height}.mp4", box_field(mp4, b"tkhd", 76, struct.pack(">II", width << 16, height << 16)), any_
        for name, data in sized(samples, width, height).items():
            yield f"coded-{width}x{height}-{name}", data, any_
    for aspect in ((0, 0), (1, 0xFFFFFFFF), (0xFFFFFFFF, 1), (65_535, 1)):
        if b"pasp" in mp4:
            yield f"pasp-{aspect[0]:x}-{aspect[1]:x}.mp4", box_field(mp4, b"pasp", 0, struct.pack(">II", *aspect)), any_
    for angle in (0, 0x7FFFFFFF, 0x80000000):
        yield f"matrix-{angle:x}.mp4", box_field(mp4, b"tkhd", 40, struct.pack(">9I", *[angle] * 9)), any_
