"""Clips without pictures."""

import ctypes

from . import CANARY, Kit, sample

VOICE = dict(of="voice", kind="audio", duration=7.1)


def voice(*options):
    return lambda kit, out: kit.ffmpeg("-i", kit.sources["voice"], *options, out)


def chord(seconds, *options, channels=2):
    """A slow chord whose left and right differ, synthesised."""
    left = "0.2*(sin(2*PI*220*t)+sin(2*PI*277.18*t)+0.5*sin(2*PI*329.63*t))*(0.6+0.4*sin(2*PI*0.25*t))"
    right = "0.2*(sin(2*PI*220*t)+sin(2*PI*329.63*t)+0.5*sin(2*PI*440*t))*(0.6+0.4*cos(2*PI*0.25*t))"
    voices = {1: left, 2: f"{left}|{right}", 6: "|".join(
        f"0.3*sin(2*PI*{frequency}*t)" for frequency in (220, 277, 330, 55, 440, 554))}[channels]
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[channels]
    return lambda kit, out: kit.ffmpeg("-f", "lavfi", "-i", f"aevalsrc={voices}:d={seconds}:s=44100:c={layout}",
                                       *options, out)


CHORD = dict(kind="audio", duration=4.0)

# MARK: MP3

MP3 = ("-c:a", "libmp3lame")
sample("mp3/voice.mp3", voice(*MP3, "-b:a", "48k", "-metadata", f"comment={CANARY} id3"), traits="mono, id3, canary",
       type="audio/mpeg", **VOICE)
sample("mp3/stereo.mp3", chord(4, *MP3, "-b:a", "96k"), traits="stereo", type="audio/mpeg", **CHORD)
sample("mp3/variable-rate.mp3", chord(4, *MP3, "-q:a", "5"), traits="stereo, variable bit rate", type="audio/mpeg",
       **CHORD)
sample("mp3/long.mp3", chord(42, *MP3, "-b:a", "32k", "-ar", "22050", channels=1), traits="mono, longer than 30 s",
       type="audio/mpeg", kind="audio", duration=42.0)


def headless(kit: Kit, out):
    """Cut out of the middle of a stream: no ID3, no Xing, and the first bytes are the end of a frame."""
    chord(6, *MP3, "-b:a", "64k", "-id3v2_version", "0", "-write_xing", "0")(kit, kit.work / "whole.mp3")
    data = (kit.work / "whole.mp3").read_bytes()
    out.write_bytes(data[len(data) // 6 + 77:])


def covered(side, quality):
    """Cover art: a photograph, stored before the sound."""
    def make(kit: Kit, out):
        cover = kit.work / "cover.jpg"
        kit.magick(kit.photo("galaxies", f"{side}x{side}"), "-quality", quality, cover)
        sound = kit.work / f"sound{out.suffix}"
        chord(4, *({".mp3": (*MP3, "-b:a", "64k"), ".m4a": ("-c:a", "aac", "-b:a", "64k"), ".flac": (
            "-c:a", "flac", "-ar", "16000", "-ac", "1")}[out.suffix]))(kit, sound)
        kit.ffmpeg("-i", sound, "-i", cover, "-map", "0:a", "-map", "1:v", "-c", "copy", "-disposition:v:0",
                   "attached_pic", "-metadata:s:v", f"title={CANARY} cover", "-metadata", f"comment={CANARY} sound", *(
                       ("-id3v2_version", "3") if out.suffix == ".mp3" else ()), out)
    return make


def lying(kit: Kit, out):
    """A Xing header that claims a million frames, over seven hours."""
    chord(4, *MP3, "-b:a", "64k", "-id3v2_version", "0")(kit, out)
    data = bytearray(out.read_bytes())
    place = max(data.find(b"Xing"), data.find(b"Info"))
    data[place + 8:place + 12] = (1_000_000).to_bytes(4, "big")
    out.write_bytes(data)


def old_tag(kit: Kit, out):
    """The tag of 128 bytes at the end."""
    voice(*MP3, "-b:a", "32k", "-id3v2_version", "0")(kit, out)
    tag = b"TAG" + f"{CANARY} id3v1".encode().ljust(30, b"\0") + bytes(94) + b"\x0c"
    out.write_bytes(out.read_bytes() + tag)


sample("mp3/headless.mp3", headless, traits="headerless", type="audio/mpeg", kind="audio", duration=5.0)
sample("mp3/cover.mp3", covered(120, 60), of="galaxies", traits="cover art, canary", type="audio/mpeg", **CHORD)
sample("mp3/large-cover.mp3", covered(500, 88), of="galaxies", traits="cover art, cover art over 64 KB, canary",
       type="audio/mpeg", **CHORD)
sample("mp3/lying-duration.mp3", lying, traits="lying duration", findings=["evidence other_length"], type="audio/mpeg",
       **CHORD)
sample("mp3/id3v1.mp3", old_tag, traits="id3v1, canary", type="audio/mpeg", **VOICE)

# MARK: MPEG-4

sample("m4a/voice.m4a", voice("-c:a", "aac", "-b:a", "40k", "-metadata", f"comment={CANARY} m4a"),
       traits="mono, aac, canary", type="audio/mp4", **VOICE)
sample("m4a/cover.m4a", covered(200, 70), of="galaxies", traits="stereo, aac, cover art, canary", type="audio/mp4",
       **CHORD)
sample("m4a/lossless.m4a", voice("-t", "3", "-c:a", "alac"), of="voice", traits="mono, alac", type="audio/mp4",
       kind="audio", duration=3.0)
sample("m4a/surround.m4a", chord(4, "-c:a", "aac", "-b:a", "192k", channels=6), findings=["omissions mixed_down channels 4 6"], traits="5.1, aac", type="audio/mp4",
       **CHORD)
sample("m4a/long.m4a", chord(47, "-c:a", "aac", "-b:a", "24k", "-ar", "22050", channels=1), kind="audio",
       traits="mono, aac, longer than 30 s", type="audio/mp4", duration=47.0)
sample("mp4/sound-only.mp4", voice("-c:a", "aac", "-b:a", "40k"), traits="audio only, mono, aac", type="audio/mp4",
       **VOICE)
sample("aac/voice.aac", voice("-c:a", "aac", "-b:a", "40k"), traits="mono, adts", type="audio/aac", **VOICE)

# MARK: WAV, AIFF, CAF

sample("wav/voice.wav", voice("-t", "4", "-c:a", "pcm_s16le"), of="voice", traits="mono, pcm", type="audio/wav",
       kind="audio", duration=4.0)
R = dict(of="voice", type="audio/wav", kind="audio", duration=2.0)
sample("wav/24-bit.wav", voice("-t", "2", "-c:a", "pcm_s24le"), traits="mono, 24 bit", **R)
sample("wav/float.wav", voice("-t", "2", "-c:a", "pcm_f32le"), traits="mono, float", **R)
sample("wav/8-bit.wav", voice("-t", "2", "-c:a", "pcm_u8", "-ar", "8000"), traits="mono, 8 bit", **R)
sample("wav/telephone.wav", voice("-t", "2", "-c:a", "pcm_mulaw", "-ar", "8000"), traits="mono, mu-law", **R)
sample("wav/adpcm.wav", voice("-t", "2", "-c:a", "adpcm_ima_wav"), traits="mono, adpcm", **R)
sample("wav/surround.wav", chord(1, "-c:a", "pcm_s16le", "-ar", "16000", channels=6), traits="5.1, pcm",
       type="audio/wav", kind="audio", duration=1.0)


def streamed(kit: Kit, out):
    """Written to a pipe: the sizes in the header were never filled in."""
    voice("-t", "2", "-c:a", "pcm_s16le")(kit, out)
    data = bytearray(out.read_bytes())
    place = data.find(b"data")
    data[4:8] = data[place + 4:place + 8] = b"\xff" * 4
    out.write_bytes(data)


sample("wav/streamed.wav", streamed, traits="mono, pcm, lying size", **R)
sample("aiff/voice.aiff", voice("-t", "3", "-c:a", "pcm_s16be"), of="voice", traits="mono, pcm", type="audio/aiff",
       kind="audio", duration=3.0)
sample("aiff/little-endian.aifc", voice("-t", "2", "-f", "aiff", "-c:a", "pcm_s16le"), of="voice",
       traits="mono, pcm, aifc", type="audio/aiff", kind="audio", duration=2.0)
sample("caf/voice.caf", voice("-t", "3", "-c:a", "pcm_s16le"), of="voice", traits="mono, pcm", type="audio/x-caf",
       kind="audio", duration=3.0)
sample("caf/lossless.caf", voice("-c:a", "alac"), traits="mono, alac", type="audio/x-caf", **VOICE)

# MARK: FLAC, Ogg, AMR, WebM, Matroska

sample("flac/voice.flac", voice("-c:a", "flac", "-metadata", f"comment={CANARY} vorbis comment"),
       traits="mono, canary", type="audio/flac", **VOICE)
sample("flac/cover.flac", covered(200, 70), of="galaxies", traits="mono, cover art, canary", type="audio/flac", **CHORD)
sample("ogg/voice.opus", voice("-c:a", "libopus", "-b:a", "24k", "-metadata", f"comment={CANARY} opus"),
       traits="mono, opus, canary", type="audio/ogg", **VOICE)
sample("ogg/chord.ogg", chord(4, "-c:a", "libvorbis", "-q:a", "2"), traits="stereo, vorbis", type="audio/ogg", **CHORD)
sample("ogg/surround.opus", chord(2, "-c:a", "libopus", "-b:a", "128k", channels=6), traits="5.1, opus",
       type="audio/ogg", kind="audio", duration=2.0)


def chained(kit: Kit, out):
    """Two streams one after another, as internet radio is recorded."""
    chord(2, "-c:a", "libvorbis", "-q:a", "1", "-bitexact")(kit, kit.work / "1.ogg")
    voice("-t", "2", "-ac", "2", "-ar", "44100", "-c:a", "libvorbis", "-q:a", "1", "-bitexact")(
        kit, kit.work / "2.ogg")
    out.write_bytes((kit.work / "1.ogg").read_bytes() + (kit.work / "2.ogg").read_bytes())


sample("ogg/chained.ogg", chained, of="voice", traits="stereo, vorbis, chained", type="audio/ogg", kind="audio")


def narrow(kit: Kit, out):
    kit.run("sox", "-D", kit.sources["voice"], "-r", "8000", "-t", "amr-nb", out, "trim", "0", "4")


def wide(kit: Kit, out):
    """No program of Debian's encodes AMR-WB, but a library does."""
    library = ctypes.CDLL("libvo-amrwbenc.so.0")
    library.E_IF_init.restype = ctypes.c_void_p
    encoder = ctypes.c_void_p(library.E_IF_init())
    raw = kit.run("ffmpeg", "-v", "error", "-i", kit.sources["voice"], "-t", "4", "-ar", "16000", "-ac", "1", "-f",
                  "s16le", "-")
    data, coded = b"#!AMR-WB\n", ctypes.create_string_buffer(128)
    for start in range(0, len(raw) - 639, 640):
        size = library.E_IF_encode(encoder, 2, raw[start:start + 640], coded, 0)
        data += coded.raw[:size]
    library.E_IF_exit(encoder)
    out.write_bytes(data)


W = dict(of="voice", type="audio/amr", kind="audio", duration=4.0)
sample("amr/voice.amr", narrow, traits="mono, narrow band", **W)
sample("amr/voice.awb", wide, traits="mono, wide band", **W)
sample("webm/sound-only.webm", voice("-c:a", "libopus", "-b:a", "24k"), traits="audio only, mono, opus",
       type="video/webm", **VOICE)
sample("mkv/sound-only.mka", voice("-f", "matroska", "-c:a", "flac"), traits="audio only, mono, flac",
       type="video/x-matroska", **VOICE)

# MARK: What films, broadcasts and older programs have

sample("wma/voice.wma", lambda kit, out: kit.ffmpeg(
    "-i", kit.sources["voice"], "-t", "2", "-c:a", "wmav2", "-b:a", "32k", "-ar", "22050", out), of="voice",
       traits="wma", kind="audio", type="audio/x-ms-wma", duration=2.0)
S = dict(kind="audio", duration=1.0)
sample("mkv/dts.mka", chord(1, "-c:a", "dca", "-strict", "experimental", "-b:a", "256k"), traits="stereo, dts",
       type="video/x-matroska", **S)
sample("mkv/truehd.mka", chord(0.5, "-c:a", "truehd", "-strict", "experimental", channels=1), traits="mono, truehd",
       type="video/x-matroska", kind="audio", duration=0.5)
sample("ogg/chord.spx", chord(1, "-ar", "16000", "-c:a", "libspeex", channels=1), traits="mono, speex", type="audio/ogg",
       **S)
sample("mp3/chord.mp2", chord(1, "-c:a", "mp2", "-b:a", "96k"), traits="stereo, mp2", type="audio/mpeg", **S)
sample("ts/latm.ts", chord(1, "-c:a", "aac", "-b:a", "64k", "-mpegts_flags", "latm"), traits="stereo, aac, latm",
       type="video/mp2t", **S)
