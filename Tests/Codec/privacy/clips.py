"""Canaries in every place that a container of sound or video, and the codings in it, offer."""

import base64
import pathlib
import re
import struct
import subprocess

from canary import LATITUDE, LONGITUDE, MARK, Places, xmp
from pictures import MEDIA, box, riff, with_comment

PLACE = f"+{LATITUDE}+0{LONGITUDE}/"
DATE = "2001-02-03T04:05:06.000000Z"


def ffmpeg(*arguments) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)], check=True)


class Workshop:
    """What several files are made of: one short film, as elementary streams and as packets."""

    def __init__(self, directory: pathlib.Path):
        self.directory = directory / "workshop"
        self.directory.mkdir()
        self.film = self.path("film.mp4")
        ffmpeg("-f", "lavfi", "-i", "testsrc=size=96x64:rate=10:duration=2", "-f", "lavfi", "-i",
               "sine=frequency=440:sample_rate=44100:duration=2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "10",
               "-bf", "0", "-c:a", "aac", "-b:a", "48k", "-shortest", self.film)
        self.cover = self.path("cover.jpg")
        self.voice = self.path("voice.wav")
        ffmpeg("-i", self.film, "-vn", "-bitexact", "-ac", "1", self.voice)

    def path(self, name: str) -> pathlib.Path:
        return self.directory / name

    def art(self, p: Places) -> pathlib.Path:
        self.cover.write_bytes(with_comment((MEDIA / "jpeg/orientation-1.jpg").read_bytes(), p("comment of the cover art")))
        return self.cover

    def h264(self, p: Places) -> pathlib.Path:
        """The film's pictures with units that are none: user data, filler, and numbers that nobody gave a meaning."""
        raw = self.path("raw.h264")
        ffmpeg("-i", self.film, "-c", "copy", "-an", raw)
        data = raw.read_bytes()
        uuid = bytes.fromhex("dc45e9bde6d948b7962cd820d923eeef")
        message = uuid + p("H.264 SEI user data")
        caption = b"\xb5\0\x31GA94\3" + p("H.264 SEI registered user data")
        start = b"\0\0\0\1"
        supplement = start + b"\6\5" + bytes([len(message)]) + message + b"\x80"
        supplement += start + b"\6\4" + bytes([len(caption)]) + caption + b"\x80"
        behind = start + b"\x0c" + p("H.264 filler") + b"\x80"
        for number in [0, 22, 23, 24, 28, 30, 31]:
            behind += start + bytes([number]) + p(f"H.264 unit {number}") + b"\x80"
        # The first slice of a keyframe follows its supplements.
        at = data.index(b"\0\0\1\x65")
        second = data.index(b"\0\0\0\1", at + 4)
        raw.write_bytes(data[:at] + supplement + data[at:second] + behind + data[second:])
        return raw

    def aac(self, p: Places) -> bytes:
        """The film's sound with data that belongs to no channel, before and behind the channels of each frame."""
        plain = self.path("plain.aac")
        ffmpeg("-i", self.film, "-c", "copy", "-vn", plain)
        data, frames, at = plain.read_bytes(), b"", 0
        stream, fill = p("AAC data stream element")[:60], p("AAC fill element")[:60]
        while at < len(data):
            length = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
            block = data[at + 7:at + length]
            # Type 4, any tag, aligned; a count; the bytes. Type 6 with the long count; its first half byte is a kind.
            front = Bits().put(4, 3).put(0, 4).put(1, 1).put(len(stream), 8).data(stream)
            front.put(6, 3).put(15, 4).put(len(fill) - 13, 8).put(0, 4).data(fill).put(0, 4)
            body = front.data(block).finish()
            total = 7 + len(body)
            head = bytearray(data[at:at + 7])
            head[3] = head[3] & ~3 | total >> 11
            head[4] = total >> 3 & 0xFF
            head[5] = head[5] & 0x1F | (total & 7) << 5
            frames += bytes(head) + body
            at += length
        return frames


class Bits:
    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value: int, count: int) -> "Bits":
        self.value = self.value << count | value
        self.count += count
        return self

    def data(self, data: bytes) -> "Bits":
        return self.put(int.from_bytes(data, "big"), len(data) * 8)

    def finish(self) -> bytes:
        self.put(0, -self.count % 8)
        return self.value.to_bytes(self.count // 8, "big")


# MARK: The MP4 family

def boxes(data: bytes, start: int = 0, end: int | None = None):
    """(name, start, end) of each box."""
    end = len(data) if end is None else end
    while start + 8 <= end:
        size = int.from_bytes(data[start:start + 4], "big")
        yield data[start + 4:start + 8], start, start + size
        start += size


def edited(data: bytes, path: tuple[bytes, ...], change) -> bytes:
    """`data`, boxes, with the content of each box at `path` changed. What lies before them must not be moved by it."""
    result = b""
    for name, start, end in boxes(data):
        content = data[start + 8:end]
        if name == path[0]:
            content = change(content) if len(path) == 1 else edited(content, path[1:], change)
        result += box(name, content)
    return result


def item(name: bytes, kind: int, value: bytes) -> bytes:
    return box(name, box(b"data", struct.pack(">II", kind, 0) + value))


def itunes(p: Places, art: bytes) -> bytes:
    def text(name: bytes) -> bytes:
        return item(name, 1, p("ilst " + name.decode("latin-1").replace("\xa9", "(c)")))
    free = box(b"----", box(b"mean", b"\0\0\0\0com.apple.iTunes") + box(b"name", b"\0\0\0\0" + p("ilst ---- name"))
               + box(b"data", struct.pack(">II", 1, 0) + p("ilst ----")))
    names = [b"\xa9nam", b"\xa9ART", b"\xa9too", b"\xa9cmt", b"\xa9lyr", b"desc", b"cprt", b"purd", b"apID"]
    handler = box(b"hdlr", bytes(8) + b"mdirappl" + bytes(9))
    return box(b"meta", bytes(4) + handler + box(b"ilst", b"".join(map(text, names)) + item(b"covr", 13, art) + free))


def keys(p: Places) -> bytes:
    """Apple's other way."""
    named = {"com.apple.quicktime.location.ISO6709": PLACE.encode(), "com.apple.quicktime.make": p("mdta make"),
             "com.apple.quicktime.model": p("mdta model"), "com.apple.quicktime.software": p("mdta software"),
             "com.apple.quicktime.creationdate": p("mdta creationdate"), "com.satchel.own": p("mdta own")}
    listed = b"".join(box(b"mdta", name.encode()) for name in named)
    values = b"".join(item(struct.pack(">I", index + 1), 1, value) for index, value in enumerate(named.values()))
    return box(b"meta", box(b"hdlr", bytes(8) + b"mdta" + bytes(13)) + box(b"keys", struct.pack(">II", 0, len(named)) + listed)
               + box(b"ilst", values))


def classic(name: bytes, text: bytes) -> bytes:
    return box(name, struct.pack(">HH", len(text), 0x15C7) + text)


def user_data(p: Places, art: bytes) -> bytes:
    names = [b"\xa9nam", b"\xa9mak", b"\xa9mod", b"\xa9swr", b"\xa9cmt", b"\xa9aut"]
    texts = b"".join(classic(name, p("udta " + name.decode("latin-1").replace("\xa9", "(c)"))) for name in names)
    place = box(b"loci", bytes(4) + struct.pack(">H", 0x15C7) + p("3GPP loci name") + b"\0\0"
                + struct.pack(">iii", round(LONGITUDE * 65536), round(LATITUDE * 65536), 0) + p("3GPP loci body") + b"\0" + b"\0")
    asset = b"".join(box(name, bytes(4) + struct.pack(">H", 0x15C7) + p(f"3GPP {name.decode()}") + b"\0")
                     for name in [b"titl", b"auth", b"dscp", b"cprt"])
    chapters = p("udta chpl")
    return box(b"udta", texts + classic(b"\xa9xyz", PLACE.encode()) + place + asset + itunes(p, art)
               + box(b"chpl", bytes(8) + b"\1" + bytes(8) + bytes([len(chapters)]) + chapters)
               + box(b"XMP_", xmp(p)) + box(b"GPS ", p("udta GPS")) + box(b"CANA", p("udta unknown")))


def mp4(p: Places, shop: Workshop, kind: str, *, sound_only: bool = False) -> bytes:
    """A film with all that phones, cameras and editors add, its index last so that boxes in it can grow."""
    subtitle, chapters, target = shop.path("text.srt"), shop.path("chapters"), shop.path(f"target.{kind}")
    subtitle.write_text(f"1\n00:00:00,000 --> 00:00:02,000\n{p('subtitle').decode()}\n\n")
    chapters.write_text(f";FFMETADATA1\ntitle={p('title').decode()}\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\n"
                        f"title={p('chapter').decode()}\n")
    art = shop.art(p)
    (shop.path("sound.aac")).write_bytes(shop.aac(p))
    named = {"comment": p("comment").decode(), "artist": p("artist").decode(), "location": PLACE, "creation_time": DATE}
    inputs = ["-i", shop.path("sound.aac")] if sound_only else [
        "-r", "10", "-i", shop.h264(p), "-i", shop.path("sound.aac"), "-i", subtitle]
    extra = [] if sound_only or kind == "3gp" else ["-map", "2", "-c:s", "mov_text"]
    maps = ["-map", "0:a"] if sound_only else ["-map", "0:v", "-map", "1:a", *extra, "-metadata:s:v", "timecode=01:02:03:04"]
    ffmpeg(*inputs, "-i", chapters, *maps, "-c:v", "copy", "-c:a", "copy", "-bsf:a", "aac_adtstoasc",
           "-map_metadata", "1" if sound_only else "3", "-map_chapters", "1" if sound_only else "3",
           *[part for key, value in named.items() for part in ("-metadata", f"{key}={value}")],
           "-metadata:s:a", f"title={p('track title').decode()}", "-metadata:s:a", f"handler_name={p('handler name').decode()}",
           "-metadata:s:a", f"creation_time={DATE}", target)
    data = target.read_bytes()
    index = next(start for name, start, _ in boxes(data) if name == b"moov")
    media = next(start for name, start, _ in boxes(data) if name == b"mdat")
    assert index > media, "the index must come last"
    picture = art.read_bytes()

    def configuration(stsd: bytes) -> bytes:
        """Behind avcC's lists, and another unit among its picture parameters."""
        def avcc(content: bytes) -> bytes:
            count = 8 + int.from_bytes(content[6:8], "big")
            end = count + 3 + int.from_bytes(content[count + 1:count + 3], "big")
            unit = b"\6\5" + p("H.264 unit in avcC")
            return (content[:count] + b"\2" + content[count + 1:end] + struct.pack(">H", len(unit)) + unit + content[end:]
                    + p("behind avcC"))
        entry = stsd[8:]
        if entry[4:8] != b"avc1":
            return stsd
        inner = edited(entry[86:], (b"avcC",), avcc) + box(b"CANA", p("unknown box of a sample entry"))
        fixed = bytearray(entry[8:86])
        name = p("compressor name")[:31]
        fixed[42:74] = bytes([len(name)]) + name.ljust(31, b"\0")
        return stsd[:8] + box(b"avc1", bytes(fixed) + inner)

    tail = data[index:]
    if not sound_only:
        tail = edited(tail, (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd"), configuration)
    more = user_data(p, picture)
    track = box(b"udta", box(b"name", p("track udta name")) + classic(b"\xa9xyz", PLACE.encode())) + box(b"CANA", p("unknown box of a track"))
    tail = edited(tail, (b"moov", b"trak"), lambda content: content + track)
    tail = edited(tail, (b"moov",), lambda content: content + more + keys(p) + itunes(p, picture)
                  + box(b"uuid", bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + xmp(p))
                  + box(b"free", p("free in moov")) + box(b"CANA", p("unknown box in moov")))
    return (data[:index] + tail + box(b"free", p("free")) + box(b"skip", p("skip")) + box(b"wide", p("wide"))
            + box(b"uuid", b"SpherCalVideo123" + p("uuid")) + box(b"udta", box(b"name", p("udta outside moov")))
            + box(b"meta", bytes(4) + box(b"hdlr", bytes(8) + b"mdta" + bytes(12)) + box(b"CANA", p("meta outside moov")))
            + box(b"mdat", p("mdat that no sample has")) + box(b"CANA", p("unknown box")) + p("after the end"))


def telemetry(p: Places, shop: Workshop) -> bytes:
    """A camera's track of positions: a subtitle's, under another name."""
    data = mp4(p, shop, "mov")
    p("samples of a gpmd track")
    return data.replace(b"subtsbtl", b"mhlrmeta").replace(b"tx3g", b"gpmd").replace(b"text\0\0\0\0", b"meta\0\0\0\0")


# MARK: MPEG streams

def transport_packet(pid: int, content: bytes) -> bytes:
    return struct.pack(">BHB", 0x47, 0x4000 | pid, 0x10) + content.ljust(184, b"\xff")[:184]


def transport_stream(p: Places, shop: Workshop) -> bytes:
    target = shop.path("target.ts")
    shop.path("sound.aac").write_bytes(shop.aac(p))
    ffmpeg("-r", "10", "-i", shop.h264(p), "-i", shop.path("sound.aac"), "-map", "0:v", "-map", "1:a", "-c", "copy",
           "-metadata", f"service_name={p('TS service').decode()}", "-metadata",
           f"service_provider={p('TS provider').decode()}", target)
    data = target.read_bytes()
    tagged = b"\0\0\1\xbd" + b"\0\x60\x84\x80\5!\0\1\0\1ID3\4\0\0\0\0\0\x40" + p("TS private stream")
    return (data[:564] + transport_packet(0x1FFF, p("TS null packet")) + transport_packet(0x0321, tagged)
            + transport_packet(0x0321, p("TS unknown packet")) + data[564:] + p("after the end"))


def program_stream(p: Places, shop: Workshop) -> bytes:
    raw, target = shop.path("raw.m2v"), shop.path("target.mpg")
    ffmpeg("-i", shop.film, "-an", "-c:v", "mpeg2video", "-r", "25", "-q:v", "4", raw)
    data = raw.read_bytes()
    at = data.index(b"\0\0\1\xb8")
    raw.write_bytes(data[:at] + b"\0\0\1\xb2" + p("MPEG-2 user data of the sequence") + data[at:at + 8]
                    + b"\0\0\1\xb2" + p("MPEG-2 user data of the group") + data[at + 8:])
    ffmpeg("-i", raw, "-i", shop.voice, "-c:v", "copy", "-c:a", "mp2", "-f", "vob", target)
    data = target.read_bytes()

    def packet(stream: int, content: bytes) -> bytes:
        return b"\0\0\1" + bytes([stream]) + struct.pack(">H", len(content)) + content

    at = data.index(b"\0\0\1\xba", 16)
    return data[:at] + packet(0xBE, p("PS padding stream")) + packet(0xBF, p("PS private stream 2")) + data[at:] \
        + p("after the end")


# MARK: AVI, Matroska

def avi(p: Places, shop: Workshop) -> bytes:
    target = shop.path("target.avi")
    ffmpeg("-i", shop.film, "-c:v", "mpeg4", "-c:a", "libmp3lame", "-metadata", f"title={p('INFO INAM').decode()}", "-metadata",
           f"comment={p('INFO ICMT').decode()}", "-metadata:s:v", f"title={p('strn').decode()}", target)
    data = target.read_bytes()
    more = riff(b"JUNK", p("JUNK")) + riff(b"IDIT", p("IDIT")) + riff(b"LIST", b"INFO" + riff(b"ISFT", p("INFO ISFT")))
    more += riff(b"_PMX", xmp(p)) + riff(b"CANA", p("unknown chunk"))
    return data[:4] + struct.pack("<I", len(data) - 8 + len(more)) + data[8:] + more + p("after the end")


def matroska(p: Places, shop: Workshop, kind: str) -> bytes:
    target, chapters, subtitle = shop.path(f"target.{kind}"), shop.path("chapters"), shop.path("text.srt")
    chapters.write_text(f";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle={p('chapter').decode()}\n")
    subtitle.write_text(f"1\n00:00:00,000 --> 00:00:02,000\n{p('subtitle').decode()}\n\n")
    named = {"title": p("title"), "comment": p("tag comment"), "encoder": p("tag encoder"), "artist": p("tag artist"),
             "location": PLACE.encode(), "creation_time": DATE.encode()}
    if kind == "webm":
        inputs, codecs = ["-i", shop.film], ["-c:v", "libvpx", "-b:v", "100k", "-c:a", "libopus", "-c:s", "webvtt"]
        streams, attached = ["-map", "0:v", "-map", "0:a", "-map", "1"], []
        behind = 2
    else:
        (shop.path("sound.aac")).write_bytes(shop.aac(p))
        inputs, codecs = ["-r", "10", "-i", shop.h264(p), "-i", shop.path("sound.aac")], ["-c", "copy"]
        streams = ["-map", "0:v", "-map", "1:a", "-map", "2"]
        note = shop.path("note.txt")
        note.write_bytes(p("attachment"))
        attached = ["-attach", shop.art(p), "-metadata:s:3", "mimetype=image/jpeg", "-metadata:s:3", f"filename={p('attachment name').decode()}",
                    "-attach", note, "-metadata:s:4", "mimetype=text/plain"]
        behind = 3
    ffmpeg(*inputs, "-i", subtitle, "-i", chapters, *streams, *codecs, *attached, "-map_chapters", behind,
           *[part for key, value in named.items() for part in ("-metadata", f"{key}={value.decode()}")],
           "-metadata:s:v", f"title={p('track name').decode()}", "-metadata:s:v", f"own={p('track tag').decode()}", target)
    data = target.read_bytes()

    def element(name: bytes, content: bytes) -> bytes:
        return name + struct.pack(">Q", 1 << 56 | len(content)) + content

    segment = data.index(b"\x18\x53\x80\x67") + 4
    size = int.from_bytes(data[segment + 1:segment + 8], "big")
    more = element(b"\xec", p("Void")) + element(b"\x1f\x43\xb6\x75", element(b"\xe7", b"\x7f") + element(b"\xec", p("Void of a cluster")))
    more += element(b"\x15\x49\xa9\x66", element(b"\x4d\x80", p("MuxingApp")) + element(b"\x57\x41", p("WritingApp"))
                    + element(b"\x73\x84", p("SegmentFilename")))
    return data[:segment] + b"\1" + (size + len(more)).to_bytes(7, "big") + data[segment + 8:] + more


# MARK: Sound

def synchsafe(number: int) -> bytes:
    return bytes(number >> shift & 0x7F for shift in (21, 14, 7, 0))


def id3(p: Places, version: int, art: bytes) -> bytes:
    """An ID3 tag of version 2.2, 2.3 or 2.4."""
    def frame(name: str, content: bytes) -> bytes:
        if version == 2:
            return name.encode() + struct.pack(">I", len(content))[1:] + content
        size = synchsafe(len(content)) if version == 4 else struct.pack(">I", len(content))
        return name.encode() + size + b"\0\0" + content

    texts = ["TT2", "TP1", "TEN", "TSS"] if version == 2 else ["TIT2", "TPE1", "TENC", "TSSE", "TCOP"]
    body = b"".join(frame(name, b"\0" + p(f"ID3v2.{version} {name}")) for name in texts)
    wide = p.wide(f"ID3v2.{version} text in UTF-16")
    body += frame(texts[0][:1] + ("AL" if version == 2 else "ALB"), b"\1\xff\xfe" + wide)
    if version == 2:
        body += frame("COM", b"\0eng\0" + p("ID3v2.2 COM")) + frame("PIC", b"\0JPG\3\0" + art)
        body += frame("GEO", b"\0text/plain\0name\0\0" + p("ID3v2.2 GEO"))
    else:
        body += frame("COMM", b"\0eng\0" + p(f"ID3v2.{version} COMM")) + frame("APIC", b"\0image/jpeg\0\3\0" + art)
        body += frame("PRIV", b"owner\0" + p(f"ID3v2.{version} PRIV")) + frame("TXXX", b"\0key\0" + p(f"ID3v2.{version} TXXX"))
        body += frame("GEOB", b"\0text/plain\0name\0\0" + p(f"ID3v2.{version} GEOB"))
        body += frame("USLT", b"\0eng\0" + p(f"ID3v2.{version} USLT")) + frame("WXXX", b"\0\0" + p(f"ID3v2.{version} WXXX"))
        body += frame("CHAP", b"chapter\0" + struct.pack(">4I", 0, 1000, 0, 0) + frame("TIT2", b"\0" + p(f"ID3v2.{version} CHAP")))
    body += bytes(64)
    return b"ID3" + bytes([version, 0, 0]) + synchsafe(len(body)) + body


def mp3(p: Places, shop: Workshop, version: int) -> bytes:
    """Tags of every age before and behind, and text where frames have room."""
    target = shop.path("target.mp3")
    ffmpeg("-i", shop.voice, "-af", "volume='if(lt(t,1),1,0)':eval=frame", "-c:a", "libmp3lame", "-b:a", "128k",
           "-id3v2_version", "0", target)
    data = target.read_bytes()
    # LAME signs in the bytes that a frame's sound leaves over.
    text = p("MP3 ancillary data")[:18]
    body, places = re.subn(rb"LAME3\.100U+", lambda match: (text * 9)[:len(match[0])], data[500:])
    assert places > 3, places
    head = data[:500].replace(b"LAME3.100", MARK[:9], 1)
    art = shop.art(p).read_bytes()
    ape_item = p("APEv2 item")
    items = struct.pack("<II", len(ape_item), 0) + b"Comment\0" + ape_item
    footer = b"APETAGEX" + struct.pack("<IIII", 2000, len(items) + 32, 1, 0) + bytes(8)
    lyrics = b"LYRICSBEGIN" + b"LYR" + b"%05d" % len(p.text("Lyrics3 text")) + p("Lyrics3 text")
    lyrics += b"%06dLYRICS200" % len(lyrics)
    old = (b"TAG" + p("ID3v1 title")[:30].ljust(30, b"\0") + p("ID3v1 artist")[:30].ljust(30, b"\0") + bytes(30) + b"2001"
           + p("ID3v1 comment")[:30].ljust(30, b"\0") + b"\0")
    return id3(p, version, art) + head + body + items + footer + lyrics + old


def between_frames(p: Places, data: bytes, starts: list[int], zeros: int) -> bytes:
    """Sound with what tools leave before, between and behind its frames: zeros, tags of every kind, and junk."""
    junk = lambda place: bytes(zeros) + p(place) * 3
    half = starts[len(starts) // 2]
    footer = b"3DI" + bytes([4, 0, 0]) + synchsafe(40) + p("ID3v2 footer")
    old = b"TAG" + p("ID3v1 behind zeros")[:30].ljust(30, b"\0") + p("ID3v1 artist behind zeros")[:30].ljust(95, b"\0")
    return (id3(p, 4, b"") + data[starts[0]:half] + id3(p, 3, b"") + bytes(zeros) + p("junk between frames")
            + data[half:] + bytes(zeros) + footer + junk("junk behind the last frame") + b"LYRICSBEGIN" + p("Lyrics3 behind zeros")
            + b"LYRICSEND" + bytes(zeros) + old)


def framed(p: Places, shop: Workshop, kind: str, zeros: int) -> bytes:
    target = shop.path(f"target.{kind}")
    ffmpeg("-i", shop.voice, "-c:a", "aac" if kind == "aac" else "libmp3lame", "-write_xing" if kind == "mp3" else "-aac_coder",
           "0" if kind == "mp3" else "fast", *(["-id3v2_version", "0"] if kind == "mp3" else []), target)
    data, starts, at = target.read_bytes(), [], 0
    while at + 6 < len(data):
        starts.append(at)
        if kind == "aac":
            at += (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        else:
            rate = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][data[at + 2] >> 4]
            at += 144 * rate * 1000 // 44100 + (data[at + 2] >> 1 & 1)
    return between_frames(p, data, starts, zeros)


def aac(p: Places, shop: Workshop) -> bytes:
    return id3(p, 4, shop.art(p).read_bytes()) + shop.aac(p)


def wav(p: Places, shop: Workshop) -> bytes:
    data = shop.voice.read_bytes()
    assert data[36:40] == b"data"
    info = b"INFO" + b"".join(riff(name, p(f"INFO {name.decode()}") + b"\0") for name in
                              [b"INAM", b"IART", b"ICMT", b"ISFT", b"ICRD", b"IENG"])
    broadcast = p("bext description").ljust(256, b"\0") + p("bext originator")[:32].ljust(32, b"\0") + bytes(314) \
        + p("bext coding history")
    labels = b"adtl" + riff(b"labl", struct.pack("<I", 1) + p("labl") + b"\0") + riff(b"note", struct.pack("<I", 1) + p("note") + b"\0")
    cue = struct.pack("<III4sIII", 1, 1, 0, b"data", 0, 0, 0)
    before = riff(b"bext", broadcast) + riff(b"JUNK", p("JUNK")) + riff(b"fmt ", data[20:36] + b"\x30\0" + p("behind fmt").ljust(48, b"\0"))
    after = (riff(b"LIST", info) + riff(b"cue ", cue) + riff(b"LIST", labels) + riff(b"iXML", p("iXML")) + riff(b"axml", p("axml"))
             + riff(b"cart", b"0101" + p("cart title").ljust(64, b"\0") + bytes(1984)) + riff(b"_PMX", xmp(p))
             + riff(b"id3 ", id3(p, 3, shop.art(p).read_bytes())) + riff(b"CANA", p("unknown chunk")))
    body = b"WAVE" + before + data[36:] + b"\0" * (len(data) % 2) + after
    return b"RIFF" + struct.pack("<I", len(body)) + body + p("after the end")


def aiff(p: Places, shop: Workshop) -> bytes:
    target = shop.path("target.aiff")
    ffmpeg("-i", shop.voice, target)
    data = target.read_bytes()

    def part(name: bytes, content: bytes) -> bytes:
        return name + struct.pack(">I", len(content)) + content + b"\0" * (len(content) % 2)

    comment = p("COMT")
    more = (part(b"NAME", p("NAME")) + part(b"AUTH", p("AUTH")) + part(b"(c) ", p("copyright")) + part(b"ANNO", p("ANNO"))
            + part(b"COMT", struct.pack(">HIHH", 1, 0, 0, len(comment)) + comment) + part(b"APPL", b"stoc" + p("APPL"))
            + part(b"ID3 ", id3(p, 3, shop.art(p).read_bytes())) + part(b"CANA", p("unknown chunk")))
    body = data[8:12] + part(b"ANNO", p("ANNO before the sound")) + data[12:] + more
    return b"FORM" + struct.pack(">I", len(body)) + body + p("after the end")


def caf(p: Places, shop: Workshop) -> bytes:
    target = shop.path("target.caf")
    ffmpeg("-i", shop.voice, "-c:a", "alac", "-metadata", f"title={p('info title').decode()}", target)
    more = b"".join(name + struct.pack(">q", len(content)) + content for name, content in [
        (b"strg", p("strg")), (b"uuid", bytes(16) + p("uuid")), (b"free", p("free")), (b"umid", p("umid").ljust(64, b"\0"))])
    return target.read_bytes() + more


def flac(p: Places, shop: Workshop) -> bytes:
    target = shop.path("target.flac")
    ffmpeg("-i", shop.voice, target)
    data, parts, at, last = target.read_bytes(), [], 4, False
    while not last:
        last, kind = data[at] >> 7, data[at] & 0x7F
        size = int.from_bytes(data[at + 1:at + 4], "big")
        if kind == 0:
            parts.append((0, data[at + 4:at + 4 + size]))
        at += 4 + size
    art = shop.art(p).read_bytes()
    picture = flac_picture(p, art)
    comments = [b"TITLE=" + p("Vorbis comment"), b"LATITUDE=12.3456", b"METADATA_BLOCK_PICTURE=" + base64.b64encode(picture)]
    vendor = p("vendor")
    listed = struct.pack("<I", len(vendor)) + vendor + struct.pack("<I", len(comments))
    listed += b"".join(struct.pack("<I", len(comment)) + comment for comment in comments)
    track = bytes(8) + b"\1" + p("cuesheet ISRC")[:12] + bytes(14) + b"\1" + bytes(12)
    sheet = p("cuesheet catalogue")[:128].ljust(128, b"\0") + bytes(8 + 259) + b"\2" + track + bytes(8) + b"\xaa" + bytes(27)
    seeks = struct.pack(">QQH", 0, 0, 4096) + p("seek table")[:18].ljust(18, b"\0")
    parts += [(4, listed), (6, picture), (2, b"CANA" + p("application")), (5, sheet), (3, seeks), (1, p("padding"))]
    body = b"".join(bytes([kind | (0x80 if index == len(parts) - 1 else 0)]) + len(content).to_bytes(3, "big") + content
                    for index, (kind, content) in enumerate(parts))
    return b"fLaC" + body + data[at:] + old_tag(p)


def flac_picture(p: Places, art: bytes) -> bytes:
    described = p("picture's description")
    return (struct.pack(">II", 3, 10) + b"image/jpeg" + struct.pack(">I", len(described)) + described + bytes(16)
            + struct.pack(">I", len(art)) + art)


def old_tag(p: Places) -> bytes:
    text = p("ID3v1 title")[:30]
    return b"TAG" + text.ljust(125, b"\0")


def ogg(p: Places, shop: Workshop, codec: str) -> bytes:
    target, second = shop.path("target.ogg"), shop.path("second.ogg")
    named = [f"title={p('title').decode()}", f"location={PLACE}", f"encoder={p('encoder').decode()}",
             "METADATA_BLOCK_PICTURE=" + base64.b64encode(flac_picture(p, shop.art(p).read_bytes())).decode()]
    ffmpeg("-i", shop.voice, "-c:a", codec, *[part for name in named for part in ("-metadata", name)], target)
    ffmpeg("-i", shop.voice, "-c:a", codec, "-t", "0.3", "-metadata", f"title={p('title of a chained stream').decode()}", second)
    return target.read_bytes() + second.read_bytes() + p("after the end")


def amr(p: Places) -> bytes:
    # Thrice as long: what is read as sound behind its end is to be no more than is taken as damage.
    data = (MEDIA / "amr/voice.amr").read_bytes()
    return data + data[6:] * 2 + p("after the end")


def make(directory: pathlib.Path):
    """(name of the file, its bytes, its places) of every clip."""
    shop = Workshop(directory)

    def one(name: str, build, *arguments, **options):
        p = Places(name.replace(".", "-"))
        return name, build(p, *arguments, **options), p

    yield one("everything.mp4", mp4, shop, "mp4")
    yield one("everything.mov", mp4, shop, "mov")
    yield one("everything.m4v", mp4, shop, "m4v")
    yield one("everything.3gp", mp4, shop, "3gp")
    yield one("telemetry.mov", telemetry, shop)
    yield one("everything.m4a", mp4, shop, "m4a", sound_only=True)
    yield one("everything.ts", transport_stream, shop)
    yield one("everything.mpg", program_stream, shop)
    yield one("everything.avi", avi, shop)
    yield one("everything.mkv", matroska, shop, "mkv")
    yield one("everything.webm", matroska, shop, "webm")
    for version in (2, 3, 4):
        yield one(f"id3v2-{version}.mp3", mp3, shop, version)
    yield one("everything.aac", aac, shop)
    for zeros in (0, 1, 200):
        yield one(f"between-{zeros}.mp3", framed, shop, "mp3", zeros)
        yield one(f"between-{zeros}.aac", framed, shop, "aac", zeros)
    yield one("everything.wav", wav, shop)
    yield one("everything.aiff", aiff, shop)
    yield one("everything.caf", caf, shop)
    yield one("everything.flac", flac, shop)
    yield one("vorbis.ogg", ogg, shop, "libvorbis")
    yield one("opus.ogg", ogg, shop, "libopus")
    yield one("voice.amr", amr)
    for path in shop.directory.iterdir():
        path.unlink()
    shop.directory.rmdir()
