"""Clips without pictures."""

from . import CANARY, Kit, sample


def voice(*options):
    return lambda kit, out: kit.ffmpeg("-i", kit.sources["voice"], *options, out)


VOICE = dict(of="voice", kind="audio", duration=7.1)

sample("mp3/voice.mp3", voice("-c:a", "libmp3lame", "-b:a", "48k", "-metadata", f"comment={CANARY} id3"),
       traits="mono, id3, canary", type="audio/mpeg", **VOICE)
sample("m4a/voice.m4a", voice("-c:a", "aac", "-b:a", "40k", "-metadata", f"comment={CANARY} m4a"),
       traits="mono, aac, canary", type="audio/mp4", **VOICE)
sample("wav/voice.wav", voice("-c:a", "pcm_s16le"), traits="mono, pcm", type="audio/wav", **VOICE)
