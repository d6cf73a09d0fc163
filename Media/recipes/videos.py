"""Clips with pictures."""

from . import Kit, sample

H264 = ("-c:v", "libx264", "-preset", "medium", "-threads", "1", "-pix_fmt", "yuv420p")
AAC = ("-c:a", "aac", "-b:a", "64k")


def film(*options, size="640:360", crf=30, codec=H264, audio=AAC, before=()):
    return lambda kit, out: kit.ffmpeg(
        *before, "-i", kit.sources["film"], "-vf", f"scale={size}", "-ac", "2", *codec, "-crf", str(crf), *audio,
        *options, out)


sample("mp4/film.mp4", film("-movflags", "+faststart"), of="film", traits="h264, aac, index first, b-frames",
       kind="video", type="video/mp4", width=640, height=360, duration=5.3)


def rotated(kit: Kit, out):
    """As a phone stores a clip taken upright: landscape pictures, and a matrix that turns them."""
    stored = kit.work / "stored.mov"
    film("-t", "3", size="320:180,transpose=cclock")(kit, stored)
    kit.ffmpeg("-i", stored, "-map", "0", "-c", "copy", "-metadata:s:v:0", "rotate=270", out)


sample("mov/rotated.mov", rotated, of="film", traits="rotated, h264, aac", kind="video", type="video/quicktime",
       width=320, height=180, duration=3.0)
