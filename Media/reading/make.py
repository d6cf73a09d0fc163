#!/usr/bin/env python3
"""Makes odd files for a blind reading of records, with the truth about each.

    Media/reading/make.py SEED DIRECTORY    # 50 files, DIRECTORY/truth.md and DIRECTORY/truth.json

The seed decides which kinds are made and every number in them. The files are numbered in a random order. The truth is what
the recipe did, in the figures of ffprobe, ImageMagick and libmagic, which also judge the result (`judged`).
It needs the packages of Media/make.py and zip.
"""

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
MEDIA = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(MEDIA))

from recipes import chunk  # noqa: E402

KINDS = {}
WHOLE, NOTHING = "nothing happened to it", "nothing"
AGAIN, CONVERT, NONE = "send it again, whole", "convert it to a common format", "nothing is to be done"
OTHER = "send the picture or recording itself: this is something else"


def kind(make):
    KINDS[make.__name__.replace("_", "-")] = make
    return make


def run(*arguments, check=True) -> str:
    done = subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check and done.returncode != 0:
        raise SystemExit(f"{arguments}: {done.stdout.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


class Maker:
    def __init__(self, seed: str, work: Path):
        self.random = random.Random(seed)
        self.work = work

    def pick(self, *choices):
        return self.random.choice(choices)

    def between(self, low, high):
        return self.random.randint(low, high)

    def bytes(self, count: int) -> bytes:
        return self.random.randbytes(count)

    def picture(self, extension: str, *options, size=None) -> bytes:
        """A drawn picture, as ImageMagick writes it."""
        width, height = size or (self.between(300, 900), self.between(200, 700))
        out = self.work / f"picture.{extension}"
        run("convert-im6", "-seed", self.between(1, 9999), "-size", f"{width}x{height}", "plasma:tomato-navy", *options, out)
        return out.read_bytes()

    def video(self, extension: str, seconds: float, *options, rate=None, sound=True, filters=None, size=None) -> bytes:
        width, height = size or (self.pick(160, 240, 320), self.pick(120, 160, 180))
        source = self.pick("testsrc2", "mandelbrot", "testsrc")
        rate = rate or self.pick(15, 24, 25, 30)
        out = self.work / f"video.{extension}"
        inputs = ["-f", "lavfi", "-t", seconds, "-i", f"{source}=size={width}x{height}:rate={rate}"]
        if sound:
            inputs += ["-f", "lavfi", "-t", seconds, "-i", f"sine=frequency={self.between(200, 900)}:sample_rate=44100"]
        chain = ["-vf", filters, "-vsync", "passthrough"] if filters else []
        run("ffmpeg", "-v", "error", "-y", *inputs, *chain, "-pix_fmt", "yuv420p", *options, out)
        return out.read_bytes()

    def sound(self, extension: str, seconds: float, *options) -> bytes:
        out = self.work / f"sound.{extension}"
        run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-t", seconds, "-i",
            f"aevalsrc=0.4*sin({self.between(900, 4000)}*t)+0.1*random(0):s=44100", *options, out)
        return out.read_bytes()

    def seconds(self, data: bytes, extension: str) -> float:
        """When the last packet ends, by ffprobe."""
        path = self.work / f"measured.{extension}"
        path.write_bytes(data)
        lines = run("ffprobe", "-v", "quiet", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", path,
                    check=False).split()
        ends = [0.0]
        for line in lines:
            parts = line.split(",")
            try:
                ends.append(float(parts[0]) + float(parts[1] or 0))
            except (ValueError, IndexError):
                pass
        return round(max(ends), 2)


def truth(what, happened, missing, todo):
    return dict(what=what, happened=happened, missing=missing, todo=todo)


def whole(what, missing=NOTHING, todo=NONE):
    return truth(what, WHOLE, missing, todo)


# MARK: Pictures

@kind
def jpeg_truncated(m):
    data = m.picture("jpg", "-quality", m.between(60, 95), *m.pick([], ["-interlace", "JPEG"]))
    share = m.between(15, 90)
    return "jpg", data[:len(data) * share // 100], truth(
        "a JPEG picture", f"truncated: {share} % of its bytes are there", f"its lower part or detail, beyond about {share} %",
        AGAIN)


@kind
def jpeg_damaged(m):
    data = bytearray(m.picture("jpg", "-quality", "88"))
    place, count = len(data) * m.between(30, 70) // 100, m.between(200, 800)
    data[place:place + count] = m.bytes(count)
    return "jpg", bytes(data), truth(
        "a JPEG picture", f"{count} bytes in the middle were overwritten with noise",
        "the picture from there on is damaged", "send it again from the original")


@kind
def jpeg_appended(m):
    data = m.picture("jpg") + b"PK\3\4" + m.bytes(m.between(2_000, 20_000))
    return "jpg", data, truth("a JPEG picture", "an archive is appended behind its end", NOTHING, NONE)


@kind
def jpeg_misnamed(m):
    extension = m.pick("png", "gif", "heic", "webp")
    return extension, m.picture("jpg"), truth(f"a JPEG picture named .{extension}", "it has the wrong extension", NOTHING, NONE)


@kind
def jpeg_turned(m):
    path = m.work / "turned.jpg"
    path.write_bytes(m.picture("jpg"))
    run("exiftool", "-q", "-overwrite_original", "-n", f"-Orientation={m.between(2, 8)}", path)
    return "jpg", path.read_bytes(), whole("a JPEG picture with an orientation")


@kind
def jpeg_cmyk(m):
    return "jpg", m.picture("jpg", "-colorspace", "CMYK"), whole("a JPEG picture in CMYK")


@kind
def jpeg_as_text(m):
    data = m.picture("jpg").replace(b"\n", b"\r\n")
    return "jpg", data, truth(
        "a JPEG picture", "its line ends were changed by a transfer as text", "the whole picture", "send it again as a file")


@kind
def png_truncated(m):
    data = m.picture("png")
    share = m.between(20, 90)
    return "png", data[:len(data) * share // 100], truth(
        "a PNG picture", f"truncated: {share} % of its bytes are there", f"its lower part, beyond about {share} %", AGAIN)


@kind
def png_damaged(m):
    data = bytearray(m.picture("png"))
    place = len(data) * m.between(30, 80) // 100
    data[place:place + 12] = m.bytes(12)
    return "png", bytes(data), truth(
        "a PNG picture", "12 bytes in the middle were overwritten", "the picture from there on",
        "send it again from the original")


@kind
def png_alpha(m):
    return "png", m.picture("png", "-alpha", "set", "-channel", "A", "-evaluate", "set", f"{m.between(30, 70)}%", "-depth",
                            m.pick(8, 16)), whole("a PNG picture with transparency")


@kind
def png_large(m):
    side = m.between(18_000, 24_000)
    return "png", m.work.joinpath(_flat(m, side)).read_bytes(), whole(
        f"a PNG picture of {side} x {side} pixels", f"all: over the limit of pixels", "send a smaller picture")


def _flat(m, side):
    run("vips", "black", m.work / "flat.png[compression=9,bitdepth=1]", side, side)
    return "flat.png"


@kind
def apng_damaged(m):
    frames = m.between(5, 9)
    path = m.work / "a.png"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=120x90:rate=5", "-frames:v", frames, "-f", "apng",
        "-plays", "0", path)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"fdAT") + 40
    data[place] ^= 0xFF
    return "png", bytes(data), truth(
        f"an animated PNG of {frames} frames", "a byte of its last frame's data was changed, its checksum is wrong",
        "the last frame", "send it again from the original")


@kind
def gif_truncated(m):
    frames = m.between(12, 30)
    path = m.work / "a.gif"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10", "-frames:v", frames, path)
    data = path.read_bytes()
    share = m.between(30, 80)
    return "gif", data[:len(data) * share // 100], truth(
        f"an animated GIF, of {frames} frames before", f"truncated: {share} % of its bytes are there",
        f"about the last {100 - share} % of its frames; the file does not say how many", AGAIN)


@kind
def gif_junk(m):
    frames = m.between(4, 12)
    path = m.work / "a.gif"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10", "-frames:v", frames, path)
    return "gif", path.read_bytes() + m.bytes(m.between(50, 900)), truth(
        f"an animated GIF of {frames} frames", "junk follows its end mark", NOTHING, NONE)


@kind
def gif_unmarked(m):
    frames = m.between(4, 12)
    path = m.work / "a.gif"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10", "-frames:v", frames, path)
    return "gif", path.read_bytes()[:-1], truth(
        f"an animated GIF of {frames} frames", "its end mark is missing", NOTHING, NONE)


@kind
def gif_still(m):
    return "gif", m.picture("gif"), whole("a GIF of one picture")


@kind
def webp_truncated(m):
    data = m.picture("webp", "-quality", "80")
    share = m.between(20, 85)
    return "webp", data[:len(data) * share // 100], truth(
        "a WebP picture", f"truncated: {share} % of its bytes are there", "its lower part", AGAIN)


@kind
def webp_animated_truncated(m):
    frames = m.between(8, 20)
    path = m.work / "a.webp"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10", "-frames:v", frames, "-c:v",
        "libwebp_anim", path)
    data = path.read_bytes()
    share = m.between(30, 80)
    return "webp", data[:len(data) * share // 100], truth(
        f"an animated WebP of {frames} frames", f"truncated: {share} % of its bytes are there", "its last frames", AGAIN)


@kind
def heif_truncated(m):
    source, coding = m.work / "a.png", m.pick("heic", "avif")
    source.write_bytes(m.picture("png"))
    path = m.work / f"a.{coding}"
    run(*(["avifenc", "-s", "9", source, path] if coding == "avif" else ["heif-enc", source, "-o", path]))
    data, share = path.read_bytes(), m.between(30, 90)
    return coding, data[:len(data) * share // 100], truth(
        f"a picture ({coding.upper()})", f"truncated: {share} % of its bytes are there", "the picture", AGAIN)


@kind
def heif_damaged(m):
    source, coding = m.work / "a.png", m.pick("heic", "avif")
    source.write_bytes(m.picture("png"))
    path = m.work / f"a.{coding}"
    run(*(["avifenc", "-s", "9", source, path] if coding == "avif" else ["heif-enc", source, "-o", path]))
    data = bytearray(path.read_bytes())
    place = data.index(b"mdat") + 60
    data[place:place + 300] = m.bytes(300)
    return coding, bytes(data), truth(
        f"a picture ({coding.upper()})", "300 bytes of its data were overwritten; nothing in the file proves it",
        "the picture, or parts of it look wrong", "try whether it opens elsewhere, or send it again")


@kind
def avif_hdr(m):
    source, path = m.work / "a.png", m.work / "a.avif"
    source.write_bytes(m.picture("png", "-depth", "16"))
    run("avifenc", "-s", "9", "-d", "10", "--cicp", "9/16/9", source, path)
    return "avif", path.read_bytes(), whole("an AVIF picture, HDR (PQ, 10 bits)", "at most its HDR")


@kind
def jxl_truncated(m):
    source, path = m.work / "a.png", m.work / "a.jxl"
    source.write_bytes(m.picture("png"))
    run("cjxl", "-e", "3", "-d", m.pick(0, 1), source, path)
    data, share = path.read_bytes(), m.between(30, 85)
    return "jxl", data[:len(data) * share // 100], truth(
        "a JPEG XL picture", f"truncated: {share} % of its bytes are there", "a part of the picture", AGAIN)


@kind
def tiff_pages(m):
    pages = m.between(3, 40)
    out = m.work / "pages.tiff"
    run("convert-im6", *[f"xc:rgb({i * 5},90,{200 - i * 3})[200x150!]" for i in range(pages)], "-compress", "LZW", out)
    return "tiff", out.read_bytes(), whole(
        f"a TIFF of {pages} pages", f"pages 2 to {pages}", "export the pages as a video, GIF or single pictures")


@kind
def bmp_truncated(m):
    data, share = m.picture("bmp"), m.between(20, 90)
    return "bmp", data[:len(data) * share // 100], truth(
        "a BMP picture", f"truncated: {share} % of its bytes are there", f"about {100 - share} % of its rows", AGAIN)


@kind
def foreign_picture(m):
    extension = m.pick("psd", "tga", "pcx", "sgi", "jp2", "dds", "exr", "xpm", "fits", "ppm", "hdr")
    return extension, m.picture(extension), whole(
        f"a picture in the format {extension.upper()}", "all: the format is not supported", CONVERT)


# MARK: Something else

@kind
def words_named(m):
    extension, text = m.pick("jpg", "png", "mp4", "gif"), m.pick(
        '{"error": {"code": 403, "message": "Forbidden"}}\n' * 5, "<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
        "Dear all,\nplease find the photo attached.\n" * 8, "<html><body><h1>502 Bad Gateway</h1></body></html>\n" * 3)
    return extension, text.encode(), truth(
        f"text named .{extension}: {text[:22].strip()}…", "a server's answer or a letter is in the place of the file",
        "there is no picture or recording", OTHER)


@kind
def script_named(m):
    extension, text = m.pick("jpg", "png", "gif"), m.pick(
        "#!/bin/sh\nset -e\nfor f in *; do echo $f; done\n" * 4, "#!/usr/bin/env python3\nimport os\nprint(os.getcwd())\n" * 4,
        "<?php system($_GET['c']); ?>\n" * 4)
    return extension, text.encode(), truth(
        f"a program's source text named .{extension}", "it is a script under a picture's name", "there is no picture",
        OTHER + "; do not run it")


@kind
def font_named(m):
    extension = m.pick("jpg", "png", "mp4")
    font = next(Path("/usr/share/fonts").rglob(m.pick("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")))
    return extension, font.read_bytes()[:m.between(40_000, 90_000)], truth(
        f"a TrueType font named .{extension}", "it has the wrong name", "there is no picture", OTHER)


@kind
def archive_named(m):
    extension, tool = m.pick("jpg", "mp4", "heic"), m.pick("gzip", "xz", "zip")
    source = m.work / "letter.txt"
    source.write_bytes(m.bytes(3000))
    if tool == "zip":
        run("zip", "-q", "-j", m.work / "a.zip", source)
        data = (m.work / "a.zip").read_bytes()
    else:
        data = subprocess.run([tool, "-c", source], stdout=subprocess.PIPE, check=True).stdout
    return extension, data, truth(
        f"an archive ({tool}) named .{extension}", "it has the wrong name", "there is no picture or recording",
        "unpack it and send what is in it")


@kind
def program_named(m):
    extension = m.pick("mp4", "jpg", "mp3")
    return extension, Path("/bin/true").read_bytes(), truth(
        f"a program for Linux named .{extension}", "it has the wrong name", "there is no picture or recording", OTHER)


@kind
def noise_named(m):
    extension = m.pick("heic", "jpg", "mp4", "ts", "mov")
    return extension, m.bytes(m.between(5_000, 60_000)), truth(
        f"random bytes named .{extension}, as of an encrypted file or segment", "no format can be recognized",
        "all of it", "check that it is the right file, whole and not encrypted")


@kind
def zeros_named(m):
    extension, count = m.pick("jpg", "mp4", "mov"), m.between(2_000, 50_000)
    return extension, bytes(count), truth(
        f"{count} zero bytes named .{extension}", "its content was lost, as by a failed copy", "all of it", "send it again")


@kind
def empty(m):
    return m.pick("jpg", "mp4", "mp3"), b"", truth("an empty file", "it has no bytes", "all of it", "send it again")


@kind
def tiny(m):
    extension = m.pick("jpg", "png", "gif", "mp4")
    data = m.video("mp4", 1, "-c:v", "libx264") if extension == "mp4" else m.picture(extension)
    count = m.between(12, 60)
    return extension, data[:count], truth(
        f"the first {count} bytes of a .{extension} file", "all but its beginning was lost", "all of it", "get the file again")


@kind
def playlist_named(m):
    extension = m.pick("mp4", "ts", "mov")
    return extension, ("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n" + "".join(
        f"#EXTINF:6,\nseg{i}.ts\n" for i in range(m.between(3, 20))) + "#EXT-X-ENDLIST\n").encode(), truth(
        f"a playlist (HLS, text) named .{extension}", "only the list of the segments was sent", "the recording itself",
        "send the recording itself")


@kind
def midi_named(m):
    return "mid", b"MThd\0\0\0\6\0\0\0\1\0\x60MTrk\0\0\0\x0b\0\x90\x3c\x40\x60\x80\x3c\x40\0\xff\x2f\0" + bytes(90), whole(
        "a MIDI file: notes, not sound", "all: it is not supported", "convert it to MP3 or the like")


# MARK: Sound

@kind
def mp3_junk(m):
    data = m.sound("mp3", m.between(3, 8), "-c:a", "libmp3lame", "-b:a", "96k")
    seconds = m.seconds(data, "mp3")
    return "mp3", m.pick(b"\r\n\r\nHTTP/1.1 200 OK\r\n", b"\0" * 300) + data + m.bytes(m.between(100, 400)), truth(
        f"an MP3 of {seconds} s", "other bytes come before its first and behind its last frame", NOTHING, NONE)


@kind
def mp3_damaged(m):
    seconds = m.between(6, 12)
    data = bytearray(m.sound("mp3", seconds, "-c:a", "libmp3lame", "-b:a", "128k"))
    place, count = len(data) // 2, m.between(3_000, 9_000)
    data[place:place + count] = m.bytes(count)
    return "mp3", bytes(data), truth(
        f"an MP3 of {seconds} s", f"{count} bytes in the middle were overwritten, {count / 16_000:.2f} s of sound",
        f"about {count / 16_000:.2f} s of sound", "send it again, or try whether it plays elsewhere")


@kind
def mp3_cover(m):
    cover = m.work / "cover.jpg"
    cover.write_bytes(m.picture("jpg", size=(300, 300)))
    source = m.work / "plain.mp3"
    source.write_bytes(m.sound("mp3", m.between(3, 9), "-c:a", "libmp3lame"))
    out = m.work / "cover.mp3"
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-i", cover, "-map", "0", "-map", "1", "-c", "copy", "-disposition:v",
        "attached_pic", out)
    return "mp3", out.read_bytes(), whole(f"an MP3 of {m.seconds(source.read_bytes(), 'mp3')} s with a cover")


@kind
def flac_truncated(m):
    seconds, share = m.between(8, 25), m.between(30, 90)
    data = m.sound("flac", seconds, "-c:a", "flac")
    data = data[:len(data) * share // 100]
    return "flac", data, truth(
        f"a FLAC recording that announces {seconds} s", f"truncated: {share} % of its bytes are there",
        f"about the last {seconds * (100 - share) / 100:.1f} s", AGAIN)


@kind
def ogg_truncated(m):
    seconds, share, coding = m.between(8, 25), m.between(30, 90), m.pick("libopus", "libvorbis")
    data = m.sound("ogg", seconds, "-c:a", coding)
    data = data[:len(data) * share // 100]
    return "ogg", data, truth(
        f"an Ogg recording ({coding[3:]}), {seconds} s before", f"truncated: about {seconds * share / 100:.1f} s are left",
        f"about the last {seconds * (100 - share) / 100:.1f} s; the file does not say how much", AGAIN)


@kind
def wav_truncated(m):
    seconds, share = m.between(6, 25), m.between(20, 90)
    data = m.sound("wav", seconds)
    return "wav", data[:len(data) * share // 100], truth(
        f"a WAV recording that announces {seconds} s", f"truncated: {seconds * share / 100:.1f} s are there",
        f"the last {seconds * (100 - share) / 100:.1f} s", AGAIN)


@kind
def wav_unsized(m):
    data = bytearray(m.sound("wav", m.between(3, 9)))
    place = data.index(b"data") + 4
    data[place:place + 4] = data[4:8] = m.pick(b"\xff\xff\xff\xff", b"\0\0\0\0")
    seconds = (len(data) - place - 4) / 88_200
    return "wav", bytes(data), truth(
        f"a WAV recording of {seconds:.1f} s", "its header does not say how long it is, as of a recorder's stream", NOTHING, NONE)


@kind
def wav_channels(m):
    seconds, layout = m.between(3, 8), m.pick("5.1", "quad", "7.1")
    path = m.work / "many.wav"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-t", seconds, "-i", "sine=frequency=440", "-af",
        f"pan={layout}|c0=c0|c1=c0|c2=0.5*c0|c3=0.3*c0", path)
    return "wav", path.read_bytes(), whole(f"a WAV recording of {seconds} s with {layout} channels", "the channels beyond two are mixed down")


@kind
def long_sound(m):
    minutes, extension = m.between(3, 20), m.pick("m4a", "mp3", "ogg")
    coding = {"m4a": "aac", "mp3": "libmp3lame", "ogg": "libvorbis"}[extension]
    data = m.sound(extension, minutes * 60, "-c:a", coding, "-b:a", "48k", "-ar", "22050")
    return extension, data, whole(
        f"a recording (.{extension}) of {minutes} min", "all after the first 30 s, which the profile accepts",
        "ask for another part, or use a profile that takes more")


@kind
def long_sound_truncated(m):
    minutes, share = m.between(4, 12), m.between(20, 70)
    data = m.sound("m4a", minutes * 60, "-c:a", "aac", "-b:a", "48k", "-ar", "22050", "-movflags", "+faststart")
    data = data[:len(data) * share // 100]
    return "m4a", data, truth(
        f"an M4A recording that announces {minutes} min", f"truncated: about {minutes * share * 0.6:.0f} s are there",
        "the rest; of the first 30 s, which the profile accepts, nothing", AGAIN)


@kind
def aac_damaged(m):
    seconds = m.between(5, 10)
    data = bytearray(m.sound("aac", seconds, "-c:a", "aac", "-b:a", "96k"))
    place, count = len(data) // 2, m.between(1_500, 4_000)
    data[place:place + count] = m.bytes(count)
    return "aac", bytes(data), truth(
        f"an AAC stream of {seconds} s", f"{count} bytes in the middle were overwritten, {count / 12_000:.2f} s of sound",
        f"about {count / 12_000:.2f} s of sound", "send it again, or try whether it plays elsewhere")


@kind
def amr_truncated(m):
    seconds, share = m.between(5, 15), m.between(30, 80)
    data = m.sound("amr", seconds, "-c:a", "libopencore_amrnb", "-ar", "8000", "-ac", "1") if "opencore" in run(
        "ffmpeg", "-hide_banner", "-encoders") else (MEDIA / "amr/voice.amr").read_bytes()
    data = data[:len(data) * share // 100 // 32 * 32 + 6 + 9]
    return "amr", data, truth(
        "an AMR recording", f"truncated within a frame: {m.seconds(data, 'amr')} s are left", "what came after; the file does not say",
        AGAIN)


@kind
def foreign_sound(m):
    extension, coding = m.pick(("mka", "wavpack"), ("mka", "tta"), ("wv", "wavpack"), ("ogg", "libspeex"), ("tta", "tta"))
    return extension, m.sound(extension, m.between(2, 6), "-ac", "1", "-ar", "16000", "-c:a", coding), whole(
        f"a recording in {coding.removeprefix('lib')} (.{extension})", "all: the coding is not supported", CONVERT)


# MARK: Video

@kind
def mp4_truncated(m):
    seconds, share = m.between(6, 20), m.between(20, 85)
    data = m.video("mp4", seconds, "-c:v", "libx264", "-c:a", "aac", "-movflags", "+faststart")
    data = data[:len(data) * share // 100]
    return "mp4", data, truth(
        f"an MP4 video that announces {seconds} s", f"truncated: about {m.seconds(data, 'mp4')} s of packets are there",
        "the rest", AGAIN)


@kind
def mp4_unindexed(m):
    seconds = m.between(4, 10)
    data = m.video(m.pick("mp4", "mov"), seconds, "-c:v", "libx264", "-c:a", "aac")
    return "mp4", data[:data.rindex(b"moov") - m.between(10, 4000)], truth(
        "an MP4 video", "truncated: the index at its end is missing", "all of it: nothing can be decoded", AGAIN)


@kind
def mp4_damaged(m):
    seconds = m.between(6, 10)
    data = bytearray(m.video("mp4", seconds, "-c:v", "libx264", "-c:a", "aac", "-g", "25", "-movflags", "+faststart"))
    start = data.rindex(b"mdat")
    place, count = start + (len(data) - start) * m.between(40, 60) // 100, m.between(2_000, 8_000)
    data[place:place + count] = m.bytes(count)
    return "mp4", bytes(data), truth(
        f"an MP4 video of {seconds} s", f"{count} bytes in the middle of its data were overwritten",
        "some frames and some sound there", "send it again, or try whether it plays elsewhere")


@kind
def mp4_zeros(m):
    seconds, share = m.between(6, 10), m.between(50, 85)
    data = m.video("mp4", seconds, "-c:v", "libx264", "-c:a", "aac", "-movflags", "+faststart")
    place = len(data) * share // 100
    return "mp4", data[:place] + bytes(len(data) - place), truth(
        f"an MP4 video of {seconds} s", f"the last {100 - share} % of its bytes are zeros, as by an unfinished download",
        "the recording from there on", AGAIN)


@kind
def mp4_hole(m):
    seconds, start, extension = m.between(9, 12), m.between(2, 4), m.pick("mp4", "mkv", "ts", "mov")
    hole = m.between(2, 5)
    data = m.video(extension, seconds, "-c:v", "libx264", "-bf", "0", "-c:a", "aac",
                   filters=f"select='not(between(t,{start},{start + hole}))'")
    return extension, data, truth(
        f"a video (.{extension}) of {seconds} s with sound", f"it has no frame from {start} s to {start + hole} s; the sound goes on",
        f"{hole} s of video, which the file itself lacks", "check the recording; export it again if it should have them")


@kind
def sound_hole(m):
    seconds, start, hole, extension = m.between(9, 12), m.between(2, 4), m.between(2, 4), m.pick("mkv", "ts")
    path, holed, out = m.work / "a.mkv", m.work / "b.mkv", m.work / f"c.{extension}"
    path.write_bytes(m.video("mkv", seconds, "-c:v", "libx264", "-bf", "0", "-c:a", "aac"))
    # The filter drops nothing on its way into a transport stream.
    run("ffmpeg", "-v", "error", "-y", "-i", path, "-c", "copy", "-bsf:a",
        f"noise=drop='between(pts*tb,{start},{start + hole})'", holed)
    run("ffmpeg", "-v", "error", "-y", "-i", holed, "-c", "copy", out)
    return extension, out.read_bytes(), truth(
        f"a video (.{extension}) of {seconds} s with sound", f"it has no sound from {start} s to {start + hole} s; the video goes on",
        f"{hole} s of sound, which the file itself lacks", "check the recording; export it again if it should have it")


@kind
def mp4_short_sound(m):
    seconds, cut = m.between(8, 12), m.between(2, 4)
    data = m.video("mp4", seconds, "-c:v", "libx264", "-c:a", "aac", "-af", f"atrim=0:{cut}")
    return "mp4", data, whole(f"an MP4 video of {seconds} s whose sound ends after {cut} s", NOTHING)


@kind
def mp4_two_videos(m):
    first, second, out = m.work / "1.mp4", m.work / "2.mp4", m.work / "both.mp4"
    first.write_bytes(m.video("mp4", 4, "-c:v", "libx264", "-c:a", "aac"))
    second.write_bytes(m.video("mp4", 4, "-c:v", "libx264", sound=False))
    run("ffmpeg", "-v", "error", "-y", "-i", first, "-i", second, "-map", "0", "-map", "1", "-c", "copy", out)
    return "mp4", out.read_bytes(), whole("an MP4 of 4 s with two video tracks", "one of the two video tracks", "send the other track as a file")


@kind
def mkv_tracks(m):
    words = m.work / "words.srt"
    words.write_text("1\n00:00:00,500 --> 00:00:02,000\nHello\n")
    source, out = m.work / "a.mkv", m.work / "b.mkv"
    source.write_bytes(m.video("mkv", m.between(3, 6), "-c:v", "libx264", "-c:a", "aac"))
    languages = m.pick(("eng", "deu"), ("fra", "jpn"), ("spa", "ita"))
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-i", words, "-map", "0:v", "-map", "0:a", "-map", "0:a", "-map", "1", "-c",
        "copy", "-metadata:s:a:0", f"language={languages[0]}", "-metadata:s:a:1", f"language={languages[1]}", out)
    return "mkv", out.read_bytes(), whole(
        f"a Matroska video with two sound tracks ({', '.join(languages)}) and subtitles", "one sound track and the subtitles",
        "send the other track as a file; burn the subtitles in")


@kind
def mkv_surround(m):
    source = m.work / "a.mkv"
    source.write_bytes(m.video("mkv", 4, "-c:v", "libx264", "-c:a", m.pick("ac3", "eac3"), "-ac", "6"))
    return "mkv", source.read_bytes(), whole("a Matroska video with 5.1 sound", "the channels beyond two are mixed down")


@kind
def mkv_truncated(m):
    seconds, share, extension = m.between(6, 15), m.between(30, 85), m.pick("mkv", "webm")
    coding = ["-c:v", "libx264", "-c:a", "aac"] if extension == "mkv" else [
        "-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus"]
    data = m.video(extension, seconds, *coding)
    data = data[:len(data) * share // 100]
    return extension, data, truth(
        f"a video (.{extension}) that announces {seconds} s", f"truncated: about {m.seconds(data, extension)} s are there",
        "the rest", AGAIN)


@kind
def webm_alpha(m):
    out = m.work / "a.webm"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-t", 3, "-i", "testsrc2=size=160x120:rate=15", "-vf",
        f"format=yuva420p,colorchannelmixer=aa=0.{m.between(3, 7)}", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-auto-alt-ref", "0", out)
    return "webm", out.read_bytes(), whole("a WebM video (VP9) with transparency", "the transparency", "nothing, or send it as an animation")


@kind
def ts_lost_packets(m):
    seconds = m.between(6, 10)
    data = m.video("ts", seconds, "-c:v", "libx264", "-g", "25", "-c:a", "aac")
    count = len(data) // 188
    start, lost = count * m.between(40, 50) // 100, count * m.between(8, 20) // 100
    return "ts", data[:start * 188] + data[(start + lost) * 188:], truth(
        f"a transport stream of {seconds} s", f"{lost} of {count} packets in the middle are missing",
        f"about {lost / count * seconds:.1f} s of video and sound", AGAIN)


@kind
def ts_truncated(m):
    seconds, share = m.between(6, 10), m.between(40, 85)
    data = m.video("ts", seconds, "-c:v", "libx264", "-g", "25", "-c:a", "aac")
    data = data[:len(data) * share // 100 // 188 * 188 + m.between(20, 150)]
    return "ts", data, truth(
        f"a transport stream, of {seconds} s before", f"truncated within a packet: about {seconds * share / 100:.1f} s are left",
        "the rest; the file does not say how much", AGAIN)


@kind
def avi_truncated(m):
    seconds, share = m.between(6, 10), m.between(30, 85)
    data = m.video("avi", seconds, "-c:v", "mpeg4", "-c:a", "libmp3lame")
    data = data[:len(data) * share // 100]
    return "avi", data, truth(
        f"an AVI video that announces {seconds} s", f"truncated: about {seconds * share / 100:.1f} s are there", "the rest", AGAIN)


@kind
def foreign_video(m):
    extension, coding = m.pick(("mkv", "ffv1"), ("mov", "prores_ks"), ("avi", "cinepak"), ("mov", "svq1"), ("mkv", "utvideo"),
                               ("avi", "huffyuv"), ("mkv", "snow"), ("mov", "qtrle"), ("rm", "rv10"), ("nut", "libx264"))
    out = m.work / f"a.{extension}"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-t", 2, "-i", "testsrc2=size=160x120:rate=12", "-c:v", coding, "-strict", "-2", out)
    return extension, out.read_bytes(), whole(
        f"a video in {coding.removeprefix('lib')} (.{extension}) of 2 s",
        "all, if the coding or container is not supported; else nothing", "if it is refused, convert it to MP4")


@kind
def mp4_encrypted(m):
    data = m.video("mp4", 3, "-c:v", "libx264", "-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
                   f"{m.between(16, 99)}" * 16, "-encryption_kid", "a7" * 16)
    return "mp4", data, whole("an encrypted MP4 video", "all: it cannot be decoded without its key", "send it without encryption")


@kind
def fragment(m):
    data = m.video("mp4", 4, "-c:v", "libx264", "-g", "25", "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof")
    data = data[data.index(b"moof") - 4:]
    return m.pick("m4s", "mp4"), data, truth(
        "a segment of a fragmented MP4 stream", "its initialization part is missing", "all: it cannot be decoded alone",
        "send the whole stream as one file")


@kind
def mkv_no_video(m):
    out, source = m.work / "b.mkv", m.work / "a.mkv"
    source.write_bytes(m.video("mkv", 4, "-c:v", "libx264", "-c:a", "aac"))
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-c", "copy", "-bsf:v", "noise=drop=1", out)
    return "mkv", out.read_bytes(), truth(
        "a Matroska file of 4 s with a video track and sound", "its video track has not one frame", "the video, which the file itself lacks",
        "export it again")


@kind
def mp4_equal_times(m):
    source, out = m.work / "a.mp4", m.work / "b.mp4"
    source.write_bytes(m.video("mp4", 4, "-c:v", "libx264", "-bf", "0", "-c:a", "aac", rate=25))
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-c", "copy", "-bsf:v", f"setts=ts='if(between(N,20,{m.between(24, 34)}),20/(25*TB),N/(25*TB))'", out,
        check=False)
    return "mp4", out.read_bytes(), truth(
        "an MP4 video of 4 s", "several frames have nearly the same time", "those frames are hardly seen", NONE)


@kind
def raw_video(m):
    extension, coding = m.pick(("h264", "libx264"), ("m2v", "mpeg2video"), ("hevc", "libx265"))
    out = m.work / f"a.{extension}"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-t", 3, "-i", "testsrc2=size=160x120:rate=25", "-c:v", coding, out)
    return extension, out.read_bytes(), whole(
        f"a video stream without a container ({coding.removeprefix('lib')}, .{extension}), whose frames have no times",
        "all if it is refused; else nothing", "if it is refused, put it into an MP4")


@kind
def mp4_hdr(m):
    out = m.work / "hdr.mp4"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-t", 2, "-i", "testsrc2=size=160x120:rate=12", "-pix_fmt", "yuv420p10le", "-c:v",
        "libx265", "-x265-params", "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:log-level=error", "-color_primaries", "bt2020",
        "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-tag:v", "hvc1", out)
    return "mp4", out.read_bytes(), whole("an MP4 video (HEVC), HDR (PQ, 10 bits), of 2 s", "its HDR: it is tone-mapped")


@kind
def mov_offset(m):
    source, out, late = m.work / "a.mov", m.work / "b.mov", m.between(1, 3)
    source.write_bytes(m.video("mov", 5, "-c:v", "libx264", "-c:a", "aac"))
    run("ffmpeg", "-v", "error", "-y", "-itsoffset", late, "-i", source, "-i", source, "-map", "0:v", "-map", "1:a", "-c", "copy", out)
    return "mov", out.read_bytes(), truth(
        f"a QuickTime video of {5 + late} s", f"its video begins {late} s after its sound", f"the first {late} s have no video, in the file itself",
        NONE)


@kind
def long_video(m):
    minutes = m.between(2, 6)
    data = m.video("mp4", minutes * 60, "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-b:a", "32k", rate=10, size=(160, 120))
    return "mp4", data, whole(
        f"an MP4 video of {minutes} min", "all after the first seconds that the profile accepts",
        "ask for another part, or use a profile that takes more")


def judged(path: Path) -> str:
    """What independent tools say of a file."""
    kind = run("file", "--brief", "--mime-type", path).strip()
    streams = json.loads(run("ffprobe", "-v", "quiet", "-count_packets", "-show_entries",
                             "stream=codec_name,nb_read_packets:format=duration", "-of", "json", path, check=False) or "{}")
    parts = [f"{s.get('codec_name', '?')} {s.get('nb_read_packets', 0)}" for s in streams.get("streams", [])]
    length = streams.get("format", {}).get("duration")
    errors = len(run("ffmpeg", "-v", "error", "-i", path, "-f", "null", "-", check=False).splitlines())
    return ", ".join([kind, *parts, *([f"{float(length):.2f} s"] if length else []), f"{errors} complaints of FFmpeg"])


def main() -> None:
    seed, directory = sys.argv[1], Path(sys.argv[2])
    files = directory / "files"
    files.mkdir(parents=True)
    order = random.Random(seed)
    names = order.sample(sorted(KINDS), 50)
    rows = []
    for number, name in enumerate(names, 1):
        with tempfile.TemporaryDirectory() as work:
            extension, data, told = KINDS[name](Maker(f"{seed}/{name}", Path(work)))
        path = files / f"{number:02}.{extension}"
        path.write_bytes(data)
        rows.append(dict(file=path.name, kind=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), **told,
                         judged=judged(path)))
    head = ["file", "what", "happened", "missing", "todo", "judged"]
    lines = ["| File | What it is | What happened | What is missing | What to do | Independent tools |", "| --- " * 6 + "|"]
    lines += ["| " + " | ".join(row[key].replace("|", "/").replace("\n", " ") for key in head) + " |" for row in rows]
    (directory / "truth.md").write_text("\n".join(lines) + "\n")
    (directory / "truth.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


main()
