"""Files that are damaged, lie, or are no media."""

import base64
import zlib

from . import CANARY, Kit, chunk, png, sample

JPEG = dict(kind="image", type="image/jpeg")




def whole(kit: Kit, path) -> bytes:
    return (kit.media / path).read_bytes()


def cut(path, share):
    """The first part of another sample, which must have been made before."""
    return lambda kit, out: out.write_bytes(whole(kit, path)[: int(len(whole(kit, path)) * share)])


def content(data: str | bytes):
    return lambda kit, out: out.write_bytes(data.encode() if isinstance(data, str) else data)


def copied(path):
    return lambda kit, out: out.write_bytes(whole(kit, path))


# MARK: Cut off

C = dict(state="failed", code="corrupt")
sample("trouble/truncated.jpg", cut("jpeg/coffee.jpg", 0.5), of="coffee", findings=["error ends_before rows"], traits="truncated", width=600, height=400,
       **JPEG, **C)
sample("trouble/truncated.png", cut("png/coffee.png", 0.5), of="coffee", traits="truncated", kind="image",
       type="image/png", width=300, height=200, **C)
sample("trouble/truncated.gif", cut("gif/film.gif", 0.55), of="film", traits="truncated", kind="animation",
       type="image/gif", width=200, height=112, **C)
sample("trouble/truncated.webp", cut("webp/cat.webp", 0.5), of="cat", traits="truncated", kind="image",
       type="image/webp", **C)
sample("trouble/truncated.heic", cut("heic/coffee-gps.heic", 0.5), of="coffee", traits="truncated", kind="image",
       type="image/heic", **C)
sample("trouble/truncated.tiff", cut("tiff/cmyk.tiff", 0.5), of="coffee", traits="truncated", **C)
sample("trouble/header-only.png", content(png(64, 64, [bytes(192)] * 64)[:33]), traits="truncated", **C)
sample("trouble/index-missing.mp4", cut("mp4/index-last.mp4", 0.8), of="film", traits="truncated", **C)
sample("trouble/no-pictures.mp4", lambda kit, out: out.write_bytes(
    whole(kit, "mp4/film.mp4")[: whole(kit, "mp4/film.mp4").find(b"mdat") + 4]), of="film", traits="truncated",
       type="video/mp4", **C)
sample("trouble/no-sound.wav", lambda kit, out: out.write_bytes(
    whole(kit, "wav/voice.wav")[: whole(kit, "wav/voice.wav").find(b"data") + 8]), of="voice", traits="truncated",
       kind="audio", type="audio/wav", **C)
# Animations: without what marks the end, within the last of 901 frames, and with a claim that no file of that size can keep.
sample("trouble/unmarked.gif", lambda kit, out: out.write_bytes(whole(kit, "gif/loop-3.gif")[:-2]),
       findings=["evidence end_mark_missing"], traits="truncated, animated", kind="animation", type="image/gif", width=96, height=64, frames=6, duration=0.6)
sample("trouble/last-frame.gif", lambda kit, out: out.write_bytes(whole(kit, "gif/901-frames.gif")[:-8]),
       findings=["losses ends_within frames 1 901"], traits="truncated, animated", kind="animation", type="image/gif", width=8, height=8, frames=900, duration=18.0,
       fidelity="reduced")
sample("trouble/no-frame.gif", lambda kit, out: out.write_bytes(whole(kit, "gif/loop-3.gif")[:13] + bytes(64)),
       traits="damaged", type="image/gif", **C)


def claiming(kit: Kit, out):
    data = whole(kit, "png/animated-disposal.png")
    place = data.index(b"acTL") - 4
    claim = (0x80000001).to_bytes(4, "big") + bytes(4)
    out.write_bytes(data[:place] + chunk(b"acTL", claim) + data[place + 20:])


sample("trouble/claim.png", claiming, findings=["losses announces_more animation"], traits="lying count, apng", kind="image", type="image/png", width=64, height=64,
       fidelity="reduced")
# What other programs play until there without a word is delivered, and said to be short.
sample("trouble/truncated.mp3", cut("mp3/voice.mp3", 0.5), of="voice", traits="truncated, canary", kind="audio",
       type="audio/mpeg", fidelity="reduced")
sample("trouble/truncated.wav", cut("wav/voice.wav", 0.5), of="voice", traits="truncated, lying size", kind="audio",
       type="audio/wav", duration=2.0, fidelity="reduced")
sample("trouble/truncated.ts", cut("ts/film.ts", 0.7), of="film", findings=["losses ends_within video"], traits="truncated", kind="video", type="video/mp2t",
       width=320, height=180, fidelity="reduced")
sample("trouble/truncated.webm", cut("webm/film.webm", 0.7), of="film", traits="truncated", kind="video",
       type="video/webm", width=320, height=180, **C)


# Which part of it is there, no header tells: the first of several fragments, a stream's first part without any, a cluster that
# is missing in between, zeros in between and at the end.


def drawn(*options):
    return lambda kit, out: kit.ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=4", "-f", "lavfi", "-i", "sine=duration=4", "-pix_fmt",
        "yuv420p", "-c:v", "libx264", "-threads", "1", "-g", "25", "-c:a", "aac", "-b:a", "32k", *options, out)


def changed(make, change):
    """What `make` makes, with other bytes."""
    def changing(kit, out):
        make(kit, out)
        out.write_bytes(change(out.read_bytes()))
    return changing


def without_cluster(data: bytes) -> bytes:
    mark = b"\x1f\x43\xb6\x75"
    places = [at for at in range(len(data)) if data[at:at + 4] == mark]
    return data[:places[1]] + data[places[2]:]


FRAGMENTS = ("-movflags", "frag_keyframe+empty_moov+default_base_moof")
sample("trouble/truncated-fragment.mp4", changed(drawn(*FRAGMENTS), lambda data: data[:data.index(b"mdat") + 9_000]),
       findings=["losses ends_within video"], traits="truncated, fragmented", kind="video", type="video/mp4", width=64, height=48, fidelity="reduced")
sample("trouble/truncated-index.mp4", changed(drawn("-movflags", "faststart"),
                                              lambda data: data[:data.index(b"stbl") + 40]), traits="truncated", **C)
sample("trouble/first-part.mp4", changed(drawn(*FRAGMENTS), lambda data: data[:data.index(b"moof") - 4]),
       traits="fragmented", state="failed", code="unsupported_feature")
sample("trouble/lost-cluster.mkv", changed(drawn("-cluster_time_limit", "1000"), without_cluster), findings=["losses gap video"], traits="a gap",
       kind="video", type="video/x-matroska", width=64, height=48, fidelity="reduced")
sample("trouble/zeros-inside.mp3", lambda kit, out: out.write_bytes(
    whole(kit, "mp3/voice.mp3")[:8_000] + bytes(300) + whole(kit, "mp3/voice.mp3")[8_300:]), of="voice",
       traits="zeros, canary", findings=["error not_decoded sound"], kind="audio", type="audio/mpeg", state="failed",
       code="undecodable")
sample("trouble/zeros-behind.mp4", changed(drawn("-movflags", "faststart"), lambda data:
                                           data[:len(data) * 3 // 4] + bytes(len(data) - len(data) * 3 // 4)),
       findings=["error zeros"], traits="zeros", kind="video", type="video/mp4", width=64, height=48, **C)


def stray_marker(kit: Kit, out):
    """An end marker in the midst of the data."""
    data = whole(kit, "jpeg/coffee.jpg")
    middle = data.index(b"\xff\xda") + len(data) // 3
    out.write_bytes(data[:middle] + b"\xff\xd9" + data[middle + 2:])


sample("trouble/stray-marker.jpg", stray_marker, of="coffee", findings=["error data_ends_early rows"], traits="damaged", width=600, height=400, **JPEG, **C)
# What a transfer that takes them for text makes of them.
sample("trouble/line-ends.jpg", lambda kit, out: out.write_bytes(
    whole(kit, "jpeg/coffee.jpg").replace(b"\n", b"\r\n")), of="coffee", findings=["error line_ends_changed"], traits="line ends", **C)
sample("trouble/line-ends.png", lambda kit, out: out.write_bytes(
    whole(kit, "png/alpha.png").replace(b"\r\n", b"\n")), of="coffee", traits="line ends", **C)


def encrypted(*options):
    """Common encryption, with a key that nobody has."""
    return lambda kit, out: kit.ffmpeg(
        "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=1", "-f", "lavfi", "-i", "sine=duration=1", "-pix_fmt",
        "yuv420p", "-c:v", "libx264", "-threads", "1", "-c:a", "aac", "-b:a", "32k", "-encryption_scheme",
        "cenc-aes-ctr", "-encryption_key", "76" * 16, "-encryption_kid", "a7" * 16, *options, out)


def partly_encrypted(kit: Kit, out):
    """Only its sound says that it is."""
    encrypted()(kit, out)
    out.write_bytes(out.read_bytes().replace(b"encv", b"avc1", 1))


def late_start(kit: Kit, out):
    """What a download over a captive portal left before the first frame."""
    kit.ffmpeg("-f", "lavfi", "-i", "sine=duration=2", "-c:a", "libmp3lame", "-b:a", "32k", "-id3v2_version", "0",
               "-write_xing", "0", out)
    out.write_bytes(b"\r\n\r\n200 OK" + out.read_bytes())


def unheard(kit: Kit, out):
    """Pictures whose sound has a coding that no decoder of ours takes."""
    kit.ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=1", "-f", "lavfi", "-i",
               "sine=duration=1:sample_rate=8000", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-threads", "1", "-c:a",
               "wavpack", out)


U = dict(state="failed", code="unsupported_feature")
sample("trouble/encrypted.mp4", encrypted(), traits="encrypted", type="video/mp4", kind="video", **U)
sample("trouble/partly-encrypted.mp4", partly_encrypted, traits="encrypted", type="video/mp4", kind="video", **U)
sample("trouble/junk-before.mp3", late_start, traits="junk before the first frame", type="audio/mpeg", kind="audio",
       duration=2.0)
sample("trouble/unheard.mkv", unheard, findings=["losses not_supported sound_tracks"], traits="sound that isn't taken", type="video/x-matroska", kind="video", width=64,
       height=48, duration=1.0, fidelity="reduced")
sample("trouble/unheard.mka", lambda kit, out: kit.ffmpeg(
    "-f", "lavfi", "-i", "sine=duration=1:sample_rate=8000", "-c:a", "wavpack", out), traits="sound that isn't taken",
       type="video/x-matroska", kind="audio", **U)

# MARK: What is found

# `findings` has what is lost, left out or found: list, code, part, and two amounts where they are known.


def page_sum(page: bytes) -> bytes:
    """The checksum of a page of Ogg (RFC 3533, section 6)."""
    register = 0
    for byte in page[:22] + bytes(4) + page[26:]:
        register ^= byte << 24
        for _ in range(8):
            register = (register << 1 ^ (register >> 31) * 0x04C11DB7) & 0xFFFFFFFF
    return register.to_bytes(4, "little")


def unmarked(data: bytes) -> bytes:
    last = bytearray(data[data.rindex(b"OggS"):])
    last[5] &= 0xFB
    last[22:26] = page_sum(bytes(last))
    return data[:data.rindex(b"OggS")] + bytes(last)


def from_whole(path, change):
    return lambda kit, out: out.write_bytes(change(whole(kit, path)))


def damaged_order(data: bytes) -> bytes:
    """An APNG whose second frame has another number, with the checksum of that."""
    place = data.index(b"fcTL", data.index(b"fcTL") + 4)
    body = (99).to_bytes(4, "big") + data[place + 8:place + 30]
    return data[:place - 4] + chunk(b"fcTL", body) + data[place + 34:]


def as_text(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def late_pictures(kit: Kit, out):
    kit.ffmpeg("-f", "lavfi", "-i", "sine=duration=6", "-itsoffset", "3", "-f", "lavfi", "-i",
               "testsrc2=size=64x48:rate=25:duration=3", "-map", "1", "-map", "0", "-pix_fmt", "yuv420p", "-c:v", "libx264",
               "-bf", "0", "-threads", "1", "-c:a", "aac", "-b:a", "32k", "-vsync", "passthrough", out)


def keyless(kit: Kit, out):
    """A part of a video without the keyframe before it."""
    film = kit.work / "film.mp4"
    kit.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=4", "-pix_fmt", "yuv420p", "-c:v", "libx264",
               "-threads", "1", "-g", "250", film)
    kit.ffmpeg("-i", film, "-ss", "1", "-c", "copy", "-copyinkf", out)


def erased(data: bytes) -> bytes:
    place = data.index(b"moov") - 4
    return data[:place] + bytes(len(data) - place)


D = dict(state="failed", code="undecodable")
sample("trouble/first-page.ogg", from_whole("ogg/chord.ogg", lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:]),
       traits="damaged", findings=["error checksum_differs"], **C)
sample("trouble/unmarked.ogg", from_whole("ogg/chord.ogg", unmarked), traits="truncated", kind="audio", type="audio/ogg",
       findings=["evidence end_mark_missing"])
sample("trouble/tiny.jpg", from_whole("jpeg/grey.jpg", lambda data: data[:22]), of="coffee", traits="truncated",
       findings=["error too_small"], **C)
sample("trouble/seven-bits.jpg", from_whole("jpeg/pixel.jpg", lambda data: bytes(byte & 0x7F for byte in data)),
       traits="text", findings=["error high_bits_lost"], **C)
sample("trouble/replaced.png", from_whole("png/alpha.png", as_text), of="coffee", traits="text",
       findings=["error bytes_replaced"], **C)
sample("trouble/recoded.jpg", from_whole("jpeg/pixel.jpg", lambda data: data.decode("latin-1").encode()), traits="text",
       findings=["error bytes_recoded"], **C)
# One bit is changed; djpeg finds a code for each block, and "53 extraneous bytes before marker 0xd9".
sample("trouble/left-over.jpg", from_whole("jpeg/grey.jpg", lambda data: data[:8363] + bytes([data[8363] ^ 1]) + data[8364:]),
       of="coffee", traits="damaged", findings=["evidence bytes_left_over"], width=300, height=200, **JPEG)
sample("trouble/index-erased.mp4", changed(drawn(), erased), traits="zeros", findings=["error index_missing"], **C)
sample("trouble/tag.mp3", content(b"ID3\4\0\0\0\0\x08\0" + bytes(1024)), traits="tag", findings=["error nothing_inside"], **C)
sample("trouble/order.png", from_whole("png/animated-disposal.png", damaged_order), traits="apng, damaged", kind="image",
       type="image/png", width=64, height=64, fidelity="reduced", findings=["losses malformed animation"])
sample("trouble/keyless.mp4", keyless, traits="damaged", findings=["error no_keyframe video"], kind="video",
       type="video/mp4", **D)
sample("trouble/late-pictures.mp4", late_pictures, traits="late pictures", kind="video", type="video/mp4", width=64,
       height=48, duration=6.0, findings=["evidence gap video 3 6"])
sample("trouble/segment.mp4", changed(drawn(*FRAGMENTS), lambda data: b"\0\0\0\x20sidx" + bytes(24) + data[data.index(b"moof") - 4:]),
       traits="fragmented", state="failed", code="unsupported_feature")
sample("trouble/font.jpg", content("%!PS-AdobeFont-1.0: Sample 001.001\n%%Title: Sample\n11 dict begin\n"),
       traits="font, mislabelled", state="skipped", code="unrecognized_type")
sample("trouble/attack.png", content("push graphic-context\nviewbox 0 0 640 480\nimage over 0,0 0,0 'https://127.0.0.1/x'\n"
                                     "pop graphic-context\n"),
       traits="script, mislabelled", state="skipped", code="unrecognized_type")


def joined(kit: Kit, out):
    """Two recordings of different sizes, one behind the other: the first's last frames have the second's times."""
    parts = []
    for number, size in enumerate(["64x48", "128x72"]):
        part = kit.work / f"{number}.ts"
        kit.ffmpeg("-f", "lavfi", "-i", f"color=c=white:size={size}:rate=25:duration=2", "-pix_fmt", "yuv420p", "-c:v",
                   "libx264", "-threads", "1", "-output_ts_offset", str(2 * number), part)
        parts.append(part.read_bytes())
    out.write_bytes(b"".join(parts))


def late_video(kit: Kit, out):
    """Its frames begin after the part that a notification shows."""
    kit.ffmpeg("-f", "lavfi", "-i", "sine=duration=13:sample_rate=8000", "-itsoffset", "12", "-f", "lavfi", "-i",
               "testsrc2=size=64x48:rate=10:duration=1", "-map", "1", "-map", "0", "-pix_fmt", "yuv420p", "-c:v", "libx264",
               "-bf", "0", "-threads", "1", "-c:a", "aac", "-b:a", "16k", "-vsync", "passthrough", out)


sample("trouble/joined.ts", joined, traits="two sizes", findings=["evidence repeated_times", "changes size_changes"], kind="video",
       type="video/mp2t", width=64, height=48, duration=4.0)
sample("trouble/late-video.mp4", late_video, traits="late pictures", findings=["losses starts_after video"], kind="audio",
       type="video/mp4", fidelity="reduced")
sample("trouble/unconfigured.ts", changed(
    lambda kit, out: kit.ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-f", "lavfi", "-i", "sine=duration=2", "-pix_fmt",
        "yuv420p", "-c:v", "libx264", "-threads", "1", "-g", "250", "-c:a", "aac", "-b:a", "32k", out),
    lambda data: data[10 * 188:]), traits="truncated at its beginning", findings=["losses configuration_missing video"],
       kind="audio", type="video/mp2t", fidelity="reduced")
sample("trouble/all-around.wav", lambda kit, out: kit.ffmpeg(
    "-f", "lavfi", "-i", "sine=duration=0.1:sample_rate=8000", "-af", "pan=hexadecagonal|"
    + "|".join(f"c{channel}=c0" for channel in range(16)), out), traits="16 channels",
       findings=["losses not_mixed channels 8 16", "omissions mixed_down channels 14 16"], kind="audio", type="audio/wav",
       fidelity="reduced")
sample("trouble/five-seconds.mp4", lambda kit, out: kit.ffmpeg(
    "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=9", "-f", "lavfi", "-i", "sine=duration=9:sample_rate=8000",
    "-vf", "select='not(between(t,2,6.9))'", "-vsync", "passthrough", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0",
    "-threads", "1", "-c:a", "aac", "-b:a", "16k", out), traits="a gap", findings=["evidence gap video 4.9 9"],
       kind="video", type="video/mp4", width=64, height=48, duration=9.0)


# MARK: Under another name

sample("trouble/png-named.jpg", copied("png/alpha.png"), of="coffee", traits="mislabelled, alpha", kind="image",
       type="image/png", width=300, height=200)
sample("trouble/jpeg-named.heic", copied("jpeg/orientation-6.jpg"), of="coffee", traits="mislabelled, orientation 6",
       width=300, height=200, **JPEG)
sample("trouble/mp4-named.mov", copied("mp4/b-frames.mp4"), of="film", traits="mislabelled", kind="video",
       type="video/mp4", width=320, height=180, duration=2.0)
sample("trouble/gif-named.png", copied("gif/disposal-2.gif"), traits="mislabelled, animated", kind="animation",
       type="image/gif", width=96, height=64, frames=6, duration=0.6)
sample("trouble/wav-named.mp3", copied("wav/8-bit.wav"), of="voice", traits="mislabelled", kind="audio",
       type="audio/wav", duration=2.0)
sample("trouble/no-extension", copied("jpeg/grey.jpg"), of="coffee", traits="mislabelled, no extension", width=300,
       height=200, **JPEG)
sample("trouble/page.jpg", content("<!DOCTYPE html>\n<html><head><title>Not a photo</title></head>"
                                   "<body><p>404</p></body></html>\n"),
       traits="mislabelled, html", state="skipped", code="unrecognized_type")

# MARK: No media, or none that is taken

N = dict(state="skipped", code="unrecognized_type")
# Known, and not taken: nobody is to believe that a folder full of them was prepared.
sample("trouble/picture.qoi", lambda kit, out: kit.ffmpeg(
    "-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1", out), traits="qoi", **U)
sample("trouble/written-as-text.jpg", lambda kit, out: out.write_bytes(
    base64.encodebytes(whole(kit, "jpeg/pixel.jpg"))), traits="text, mislabelled", **U)
sample("trouble/zeros.jpg", content(bytes(4096)), traits="zeros, mislabelled", **N)
sample("trouble/playlist.m3u8", content("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfirst.ts\n#EXT-X-ENDLIST\n"),
       traits="playlist", **N)
sample("trouble/empty.jpg", content(b""), traits="empty", state="skipped")
sample("trouble/text.txt", content("Only words.\n"), traits="text", **N)
sample("trouble/binary.dat", content(bytes((i * 197 + i * i * 31 + 11) % 256 for i in range(4096))),
       traits="noise", **N)
sample("trouble/drawing.svg", content(
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><script>alert(1)</script>'
    '<image href="file:///etc/passwd" width="60" height="40"/><rect width="60" height="40" fill="teal"/></svg>\n'),
       traits="svg", **U)
sample("trouble/playlist.mp4", content("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n"
                                       "#EXTINF:10,\nhttp://127.0.0.1:9/canary.ts\n#EXT-X-ENDLIST\n"),
       traits="playlist, mislabelled", **N)
sample("trouble/concat.avi", content("ffconcat version 1.0\nfile /etc/passwd\n"), traits="playlist, mislabelled", **N)
sample("trouble/script.gif", content("GIF89a/*<script>*/=1;alert(document.cookie)//" + " " * 64 + "\n"),
       traits="script, mislabelled", **N)
sample("trouble/archive.zip", content(b"PK\x05\x06" + bytes(18)), traits="archive", **N)


def document(kit: Kit, out):
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] >>"]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    data += (f"xref\n0 4\n0000000000 65535 f \n{table}trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n{len(data)}\n"
             "%%EOF\n").encode()
    out.write_bytes(data)


sample("trouble/document.pdf", document, traits="pdf", **N)
sample("trouble/locked.pdf", changed(document, lambda data: data.replace(b"/Size 4", b"/Size 4 /Encrypt 4 0 R")),
       traits="pdf, encrypted", **N)
sample("trouble/flash.flv", lambda kit, out: kit.ffmpeg(
    "-i", kit.sources["film"], "-t", "1", "-vf", "scale=160:90", "-c:v", "flv", "-q:v", "10", "-an", out), of="film",
       traits="flv", **U)
sample("trouble/icon.ico", lambda kit, out: kit.magick(kit.photo("cat", "32x32"), out), of="cat", traits="ico", **U)
sample("trouble/cursor.cur", lambda kit, out: out.write_bytes(
    b"\0\0\2" + whole(kit, "trouble/icon.ico")[3:10] + bytes(4) + whole(kit, "trouble/icon.ico")[14:]), of="cat",
       traits="cur", **U)

# MARK: Too much


def vast_png(kit: Kit, out):
    """A header that claims ten thousand megapixels over 64."""
    header = (100_000).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    data = png(8, 8, [bytes(24)] * 8)
    out.write_bytes(data[:8] + chunk(b"IHDR", header) + data[33:])


def flat_png(width, height):
    return lambda kit, out: out.write_bytes(png(width, height, [bytes((width + 7) // 8)] * height, depth=1, colour=0))


TOO = dict(state="failed", code="too_many_pixels", kind="image", type="image/png")
sample("trouble/vast.png", vast_png, traits="lying dimensions", width=100_000, height=100_000, **TOO)
sample("trouble/301-megapixels.png", flat_png(20_000, 15_050), traits="decompression bomb, just over the limit",
       width=20_000, height=15_050, **TOO)
sample("trouble/600-megapixels.png", flat_png(30_000, 20_000), traits="decompression bomb", width=30_000,
       height=20_000, **TOO)


def large_jpeg(kit: Kit, out):
    """A header that claims 324 megapixels, the only thing that is looked at."""
    data = bytearray(whole(kit, "jpeg/progressive.jpg"))
    at = data.index(b"\xff\xc2") + 5
    data[at:at + 4] = (18_000).to_bytes(2, "big") * 2
    out.write_bytes(data)


sample("trouble/324-megapixels.jpg", large_jpeg, traits="decompression bomb, large, progressive", state="failed",
       code="too_many_pixels", width=18_000, height=18_000, **JPEG)
sample("png/120-megapixels.png", flat_png(12_000, 10_000), traits="large", kind="image", type="image/png", width=12_000,
       height=10_000)


def endless_text(kit: Kit, out):
    """A compressed text chunk that unfolds to 64 MB: a reader of metadata's trap."""
    text = zlib.compress(CANARY.encode() + b"A" * (64 << 20), 9)
    out.write_bytes(png(16, 16, [bytes([40, 90, 160]) * 16] * 16, extra=[(b"zTXt", b"Comment\0\0" + text)]))


sample("trouble/endless-text.png", endless_text, traits="decompression bomb, metadata", kind="image", type="image/png",
       width=16, height=16)
