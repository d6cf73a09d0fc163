#!/usr/bin/env python3
"""Makes what fuzzers begin with: pieces of the sample files, and texts of every kind that is read.

    Tests/Fuzz/seeds.py DIRECTORY [PROGRAM]     a directory below it for each target

Messages of codecs are overheard from PROGRAM (satchel) at work, by strace; without it there are none.
"""
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEDIA = ROOT / "Media"
# An input is as long as a header and a few frames: longer ones are tried less often and say no more.
MOST = 6 << 10


def media(*endings):
    return [p for p in sorted(MEDIA.rglob("*")) if p.is_file() and p.suffix[1:].lower() in endings]


def gif():
    for path in media("gif"):
        if path.stat().st_size <= MOST:
            yield path.read_bytes()
        else:
            # The header, and frames as far as they fit; the end is missing.
            yield path.read_bytes()[:MOST]


def lzw():
    """The compressed data of frames behind what the target takes first: the size of codes and the number of pixels."""
    for data in gif():
        at = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
        while at + 11 < len(data):
            if data[at] == 0x21:
                at += 2
            elif data[at] == 0x2C:
                width, height = struct.unpack("<HH", data[at + 5:at + 9])
                at += 10 + (3 << (data[at + 9] & 7) + 1 if data[at + 9] & 0x80 else 0)
                size, blocks, place = data[at], bytearray(), at + 1
                while place < len(data) and data[place]:
                    blocks += data[place + 1:place + 1 + data[place]]
                    place += 1 + data[place]
                yield bytes([size & 15]) + struct.pack(">H", min(width * height, 0x3FFF)) + bytes(blocks[:2048])
                at += 1
            else:
                break
            while at < len(data) and data[at]:
                at += 1 + data[at]
            at += 1


def top_boxes(data):
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at:at + 4])
        size = len(data) - at if size == 0 else size
        if size < 8:
            return
        yield data[at + 4:at + 8], data[at:at + size]
        at += size


def movies():
    for path in media("mp4", "mov", "m4a", "m4v", "3gp"):
        yield path.read_bytes()


def boxes():
    for path in media("heic", "heif", "avif", "jxl"):
        data = path.read_bytes()
        yield data[:MOST]
        heads = b"".join(box for kind, box in top_boxes(data) if kind in (b"ftyp", b"meta"))
        if 0 < len(heads) <= MOST:
            yield heads
    for data in movies():
        heads = b"".join(box for kind, box in top_boxes(data) if kind in (b"ftyp", b"moov"))
        yield heads[:MOST]


def units():
    for data in movies():
        place = data.find(b"avcC")
        if place < 4:
            continue
        size = int.from_bytes(data[place - 4:place])
        configuration = data[place + 4:place - 4 + size]
        if len(configuration) < 7:
            continue
        yield configuration
        length = int.from_bytes(configuration[6:8])
        yield configuration[8:8 + length]
        yield b"\0\0\0\1" + configuration[8:8 + length] + b"\0\0\1" + configuration[11 + length:]
        for kind, box in top_boxes(data):
            if kind == b"mdat":
                yield box[8:8 + 600]
    yield b"\0\0\0\1\x09\x10\0\0\0\1\x67\x42\0\x1e\xab\0\0\1\x68\xce\0\0\1\x65\x88\x84\0\0\3\0\0\1\x06\5\1\2\x80"


def index():
    for path in media("mp3"):
        yield b"\0" + path.read_bytes()[:2000]
        yield b"\3" + path.read_bytes()[:2000]
    for path in media("aac"):
        yield b"\1" + path.read_bytes()[:800]
    yield b"\1" + bytes([0xDE, 0x04, 0x00, 0x4C, 0x61, 0x76, 0x63, 0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C])
    for data in movies():
        yield b"\2" + next((box for kind, box in top_boxes(data) if kind == b"moov"), b"")[:MOST]
    for path in media("wav", "aiff", "aifc", "mkv", "webm", "wma", "wmv", "avi", "ogg", "opus", "ts", "mpeg", "flac", "caf"):
        data = path.read_bytes()
        yield b"\3" + data[:1500]
        yield b"\3" + data[-1500:]
        yield b"\2" + data[:1500]
    for data in (b"\x12\x10", b"\x11\x90\x56\xe5\0", b"\x13\x10\x56\xe5\x9d\x48\x80"):
        yield b"\3" + data


def directories():
    for path in media("tif", "tiff", "jpg", "jpeg", "png", "webp", "bmp", "dng"):
        data = path.read_bytes()
        yield data[:3000]
        if data[:2] in (b"II", b"MM"):
            # Their directories are at the end.
            yield data[:8] + data[-2000:]
        for mark in (b"acsp", b"MPF\0"):
            if (place := data.find(mark)) >= 36:
                yield data[place - 36 if mark == b"acsp" else place - 4:][:3500]


def conversation(program):
    """What satchel and its codecs say to each other over some of the samples, from either side."""
    files = [MEDIA / name for name in (
        "jpeg/odd.jpg", "gif/delays.gif", "mp3/voice.mp3", "mp4/film.mp4", "png/pixel.png", "heic/rotated.heic")]
    files += sorted((MEDIA / "trouble").iterdir())[:40]
    log = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=sendmsg", "-e", "signal=none", "-s", "70000", program, "inspect",
         *[str(f) for f in files if f.is_file()]], capture_output=True, text=True, check=False).stderr
    for found in re.finditer(r'iov_base="((?:[^"\\]|\\.)*)"', log):
        text = found[1].encode().decode("unicode_escape").encode("latin-1")
        if text.startswith(b"{"):
            yield text


FINISHED = {
    "trim": {"start": 0, "duration": 1, "source_duration": 2.5, "method": "copy"},
    "placeholder": {"thumbhash": "1QcSHQRnh493V4dIh4eXh1h4kJUI", "blurhash": "LEHV6nWB2yk8", "color": "#aabbcc", "peaks": [0, 1]},
    "thumbnail_clipping_rect": {"x": 0, "y": 0, "width": 1, "height": 0.5}, "thumbnail_time": 0.5, "warnings": ["w"],
    "losses": [{"what": "1 row", "reason": "cut"}], "notes": ["n"], "omissions": ["main", {"time_up": {}}],
}
PAYLOADS = [
    {"aps": {"alert": "Hi", "mutable-content": 1}, "my-attachment": "https://a.example/1.jpg"},
    {"aps": {"alert": {"title": "T", "body": "B"}, "category": "c", "mutable-content": 1},
     "fcm_options": {"image": "https://a.example/2.png"}, "att": {"id": "https://a.example/3.mp4", "two": "cid:photo"}},
    {"message": {"token": "t", "notification": {"title": "T", "image": "https://a.example/4.png"},
                 "android": {"notification": {"image": "https://a.example/5.png"}}, "data": {"media-url": "https://b.example/"}}},
    [{"to": "ExponentPushToken[x]", "title": "T", "richContent": {"image": "https://a.example/6.png"}}],
    {"app_id": "a", "contents": {"en": "B"}, "ios_attachments": {"id": "https://a.example/7.gif"}, "big_picture": "cid:photo"},
    {"title": "T", "options": {"body": "B", "image": "https://a.example/8.webp", "icon": "https://a.example/9.png"}},
    {"web_push": 8030, "notification": {"title": "T", "navigate": "https://a.example/", "body": "B", "image": "cid:photo"}},
]
FORM = (
    b'--frontier\r\nContent-Disposition: form-data; name="job"\r\nContent-Type: application/json\r\n\r\n{"a": 1}\r\n'
    b'--frontier\r\nContent-Disposition: form-data; name="photo"; filename*=UTF-8\'\'caf%C3%A9.jpg; filename="a\\"b"\r\n\r\n'
    b'\xff\xd8\r\n--front\r\n\r\n--frontier--\r\nrest')
REQUESTS = [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /b?c=d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloHEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n", "GET http://a.example/b HTTP/1.1\r\nhost: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "\x16\x03\x01\x02\0\x01\0\x01\xfc", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]
HEADERS = [
    "bytes=0-499", "bytes=-500", "bytes=9223372036854775807-", "bytes = 1 - 2", 'W/"a", "x" , *', "*", "?1;a=b", "?0", "123456789012345",
    "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:, sha-512=:AA==:", 'form-data; name="a"; filename*=UTF-8\'en\'caf%C3%A9.jpg',
    "\r\nContent-Disposition: form-data; name=x\r\nContent-Type: Image/JPEG; a=b", "../../etc/passwd", "a\\b\u202ec.jpg",
]
YAML = [
    "profiles:\n  banner:\n    based_on: notification\n    image:\n      longest_side: 800\n      aim: 200000\n    video: null\n",
    "profiles:\n  a: &x\n    thumbnail: {side: 64, fit: contain}\n    audio: {types: [audio/mp4, audio/mpeg]}\n  b: *x\n",
    "profiles: {a: {video: {maximum_duration: 30.5, when_longer: trim}, animation: {type: image/webp, cap: 10000}}}\n", "profiles: []",
    "? [a]\n: !!int 5\n--- |\n x\n...\n",
    '{"name": "a", "summary": "", "keeps_original": false, "speed": "best", "damaged": "refuse", "audio": {"types": ["audio/mp4"], '
    '"bit_rate": 128000, "aim": 10000000, "cap": 50000000, "maximum_duration": 600, "when_longer": "refuse"}}',
]


def texts(program):
    spoken = list(dict.fromkeys(conversation(program))) if program else []
    finished = dict(FINISHED)
    service = [m for m in spoken if m.startswith((b'{"order"', b'{"proceed"', b'{"stop"', b'{"fork"'))]
    yield "service-messages", service + [b'{"stop":{}}', b'{"fork":{"id":3}}']
    yield "codec-messages", [m for m in spoken if m not in service] + [
        json.dumps(message).encode() for message in (
            {"finished": {"_0": finished}}, {"beyond_decoder_set": {}}, {"refused": {"id": 1, "reason": "r"}},
            {"ended": {"id": 1, "_1": {"signal": 9, "cpu_seconds": 0.5, "peak_memory": 5}}})]
    description = json.loads((ROOT / "Sources/Service/API/Description/openapi.json").read_text())
    examples = []

    def collect(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ("example", "examples"):
                    examples.append(inner)
                else:
                    collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    collect(description)
    written = [json.dumps(e, indent=i % 3 or None).encode() for i, e in enumerate(examples)]
    yield "json", [w for w in written if len(w) <= 1500][::3] + [
        b'{"a":"\\ud83d\\ude00\\n","a":-0.5e+3,"":[[],{},null,true]}', b"1e400", b'"\xf0\x9f\x98\x80"', b"[" * 70 + b"]" * 70]
    payloads = [json.dumps(p).encode() for p in PAYLOADS]
    yield "payloads", [bytes([choice + n % 8]) + p for n, p in enumerate(payloads) for choice in (0, 16, 96, 128)] + [
        bytes([n]) + p for n in range(8) for p in payloads]
    yield "multipart", [bytes([size]) + form for size in (0, 1, 7, 200) for form in (
        FORM, FORM.replace(b"\r\n\r\n", b"\r\nX: y\r\n\r\n", 1), b"before\r\n" + FORM, FORM[:-10], b"--frontier--")]
    yield "http", [bytes([size]) + r.encode("latin-1") for size in (0, 1, 30) for r in REQUESTS]
    yield "headers", [h.encode() for h in HEADERS]
    yield "tokens", [bytes(range(n, n + 48)) for n in (0, 100)] + [b"satg_" + b"0" * 71, b"satk_" + b"z" * 71]
    lines = (ROOT / "Tests/Service/IngestTests/Fetching/HostileURLs.txt").read_text().splitlines()
    hostile = [line.split("\t")[1] for line in lines if "\t" in line and not line.startswith("#")]
    hostile = [re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda m: chr(int(m[1], 16)), url) for url in hostile]
    yield "urls", [url.encode("utf-8", "replace") for url in hostile[::4]] + [
        ("https://a.example/b/c?d#e\n" + reference).encode() for reference in (
            "../x", "//b.example:81/y", "?q", "#f", "http://[::1]/", "10.0.0.0/8", "[fd00::/8]:80", "b.example:80", "a/./b/..")]
    yield "addresses", [bytes([3, 0, 8, 8, 8, 8, 1]) + bytes.fromhex("20014860486000000000000000008888") + bytes([0, 10, 0, 0, 1]),
                        bytes([1, 1]) + bytes.fromhex("0064ff9b00000000000000000a000001")]
    yield "profiles", [y.encode() for y in YAML]


def main():
    directory = Path(sys.argv[1])
    program = sys.argv[2] if len(sys.argv) > 2 else None
    kinds = [(f.__name__, list(f())) for f in (gif, lzw, boxes, units, index, directories)]
    for name, seeds in kinds + list(texts(program)):
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(dict.fromkeys(seeds)):
            (folder / f"seed-{number}").write_bytes(seed)
        print(f"{name}: {len(set(seeds))}")


main()
