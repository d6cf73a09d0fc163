"""Sources that differ from each other, so that neither a cache nor finding the same bytes again flatters anyone.

They follow from a seed, are made once, on all processors, and kept: a directory is there when all of its files are.
"""

import math
import multiprocessing
import shutil
import struct
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import progress
from ..commands import Command, ffmpeg, usable_cores
from . import animations, mixed
from .camera import SHOTS, shot, write_of_bytes
from .chance import chance
from .scene import scene

_CLIPS_IN_GROUP = 12


def lavfi(source):
    return ["-f", "lavfi", "-i", source]


def files(directory):
    """Paths, in order."""
    return sorted(directory.iterdir()) if directory.is_dir() else []


def paths(directory):
    """The same, as words of a command."""
    return list(map(str, files(directory)))


def processes(count=None):
    """Workers, one for each processor unless it is said; started anew, as threads run in this process."""
    return ProcessPoolExecutor(count or len(usable_cores()), mp_context=multiprocessing.get_context("spawn"))


@dataclass
class Inputs:
    directory: Path  # where they are kept
    photograph: Path  # 4032 by 3024 pixels
    seed: int

    def made(self, name, count, make, name_of="{:05d}.jpg".format):
        """Files that `make(index, file, seed)` makes one by one, a function of a module."""
        place = self.directory / f"{name}-{count}"
        if len(files(place)) == count:
            return place
        making = place.with_name(place.name + ".part")
        for left in (place, making):
            shutil.rmtree(left, ignore_errors=True)
        making.mkdir(parents=True)
        with processes() as pool:
            tasks = [pool.submit(make, index, making / name_of(index), self.seed) for index in range(count)]
            for index, task in enumerate(tasks):
                if index % 20 == 0:
                    progress.say(f"making the inputs: {name}, {index} of {count}")
                task.result()
        return making.rename(place)

    def once(self, name, make):
        """A file that `make(path)` makes when it isn't there yet."""
        self.directory.mkdir(parents=True, exist_ok=True)
        file, making = self.directory / name, self.directory / f"making-{name}"
        if not file.exists():
            progress.say(f"making the inputs: {name}")
            make(making)
            making.rename(file)
        return file

    def directory_of(self, name, fill):
        def make(place):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            fill(place)

        return self.once(name, make)

    # MARK: Pictures

    def camera_roll(self, group):
        """Photographs as cameras write them; those of one group have the sizes of those of another, and other contents."""
        return self.made(f"camera-roll-{group}", SHOTS, partial(_make_shot, group * SHOTS))

    def photographs_of_width(self, width, count, group):
        """Photographs of one size, 4:3, with 0.3 bytes for each pixel."""
        return self.made(f"photographs-of-{width}-{group}", count, partial(_make_photograph, width, group * 100))

    def storm(self, count):
        """Pictures of about 20 kB, 360 to 480 pixels wide."""
        return self.made("storm", count, _make_storm)

    def photographs(self, count):
        """Photographs of 12 megapixels and about 4 MB: one with another noise each."""
        return self._varied("photographs", count, "scroll=h=0.037:v=0.011,noise=alls=10:allf=t", 2)

    def tiny_pictures(self, count):
        """Pictures of 64 by 64 pixels."""
        return self._varied("tiny", count, "crop=64:64:x='mod(n*61,3900)':y='mod(n*37,2900)',noise=alls=10:allf=t", 3)

    def small_pictures(self, count):
        """Pictures of 400 by 300 pixels, about 20 kB."""
        crop = "crop=1600:1200:x='mod(n*61,2400)':y='mod(n*37,1800)',scale=400:300"
        return self._varied("small", count, f"{crop},noise=alls=4:allf=t", 5)

    def raw_frames(self, count, width, height):
        """Pictures as raw RGB, one after the other, in a file."""
        crop = f"crop=1600:1200:x='mod(n*61,2400)':y='mod(n*37,1800)',scale={width}:{height}"
        arguments = ["-vf", f"loop=loop={count - 1}:size=1,{crop}", "-frames:v", count, "-f", "rawvideo", "-pix_fmt", "rgb24"]
        return self.once(
            f"raw-{count}-{width}x{height}", lambda path: ffmpeg("-i", self.photograph, *arguments, path))

    def _varied(self, name, count, filters, quality):
        return self.directory_of(f"{name}-{count}", lambda place: ffmpeg(
            "-i", self.photograph, "-vf", f"loop=loop={count - 1}:size=1,{filters}", "-frames:v", count, "-q:v", quality,
            "-pix_fmt", "yuvj420p", place / "%05d.jpg"))

    # MARK: Animations, clips and sounds

    def animations(self, count):
        return self.made("animations", count, animations.make, "{:05d}.gif".format)

    def loops(self, frames, count, group):
        """GIFs of 480 by 360 pixels that differ in the number of frames alone: a camera that moves."""
        return self.made(
            f"loops-of-{frames}-{group}", count, partial(animations.make_loop_of, frames, group * 100), "{:05d}.gif".format)

    def mixed(self, count):
        """A directory as people have them: photographs of 1 to 3 megapixels, pictures, clips of 4 to 8 s, and junk."""
        return self.made("mixed", count, mixed.make, mixed.name)

    def large_video(self):
        """10 seconds of 3840 by 2160 pixels, H.264."""
        return self.once("video-4k.mp4", lambda path: ffmpeg(
            *lavfi("testsrc2=size=3840x2160:rate=30:duration=10"), *lavfi("sine=duration=10"), "-c:v", "libx264", "-preset",
            "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", path))

    def clips(self, count):
        """Videos of a minute, 1280 by 720 pixels, H.264 with a keyframe in each second, AAC."""
        return self.directory_of(f"clips-{count}", lambda place: [ffmpeg(
            *lavfi("testsrc2=size=1280x720:rate=25:duration=60"),
            *lavfi(f"sine=frequency={300 + index * 50}:sample_rate=44100:duration=60"), "-vf", f"hue=h={index * 40}",
            *X264, *_KEYFRAMES, "-crf", 23, *_AAC, place / f"{index:05d}.mp4") for index in range(count)])

    def films(self, group):
        """Videos of a minute, 1280 by 720 pixels, H.264 of 4 Mbit/s with a keyframe in each second, AAC: parts of one film that
        begin a second apart, so that no two have the same bytes. 12 in each group."""
        noise = self.seed % 1000
        film = self.once("film.mp4", lambda path: ffmpeg(
            *lavfi("testsrc2=size=1280x720:rate=25:duration=84"), *lavfi(f"anoisesrc=c=pink:r=44100:a=0.3:d=84:seed={noise}"),
            "-vf", f"noise=alls=4:allf=t:all_seed={noise}", *X264, *_KEYFRAMES, "-b:v", "4M", "-maxrate", "5M", "-bufsize", "8M", *_AAC, path))
        first = group * _CLIPS_IN_GROUP
        return self.directory_of(f"films-{group}", lambda place: [ffmpeg(
            "-ss", first + index, "-t", 60, "-i", film, "-c", "copy", place / f"{index:05d}.mp4")
            for index in range(_CLIPS_IN_GROUP)])

    def recordings(self, kind, group):
        """Recordings of three minutes, 44,100 Hz, stereo, 128 kbit/s where they are compressed; 12 in each group. `kind` is m4a,
        mp3 or wav."""
        coding = {"m4a": ["aac", "-b:a", "128k"], "mp3": ["libmp3lame", "-b:a", "128k"], "wav": ["pcm_s16le"]}[kind]
        first = self.seed % 1000 + group * _CLIPS_IN_GROUP
        return self.directory_of(f"recordings-{kind}-{group}", lambda place: [ffmpeg(
            *lavfi(f"anoisesrc=c=pink:r=44100:a=0.3:d=180:seed={first + index}"), "-ac", 2, "-c:a", *coding,
            place / f"{index:05d}.{kind}") for index in range(_CLIPS_IN_GROUP)])

    def silence(self, count):
        """So many bytes in a WAV file; a file with a hole, so that it is quick to make."""
        def make(path):
            form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 2, 48_000, 192_000, 4, 16)
            head = struct.pack("<4sI4s", b"RIFF", count - 8, b"WAVE") + form
            with open(path, "wb") as file:
                file.write(head + struct.pack("<4sI", b"data", count - len(head) - 8))
                file.truncate(count)

        return self.once(f"silence-{count}.wav", make)

    def costly_sources(self):
        """What takes long to make something of, each in another part of the codec."""
        noise = self.once("noise-24.v", lambda path: Command(
            ["vips", "gaussnoise", path, 6000, 4000, "--mean", 128, "--sigma", 20]).run())
        samples = self.once("noise-24-bytes.v", lambda path: Command(["vips", "cast", noise, path, "uchar"]).run())

        def still(name, *saving):
            return self.once(name, lambda path: Command(["vips", saving[0], samples, path, *saving[1:]]).run())

        def video(name, source, *coding):
            return self.once(name, lambda path: ffmpeg(*lavfi(source), *coding, path))

        return [
            still("progressive.jpg", "jpegsave", "--interlace"),
            still("interlaced.png", "pngsave", "--interlace", "--compression", 1),
            still("large.webp", "webpsave", "--effort", 0),
            still("large.tiff", "tiffsave", "--compression", "lzw"),
            video("long.gif", "testsrc2=size=480x360:rate=20:duration=15"),
            video("short.gif", "testsrc2=size=320x240:rate=10:duration=3"),
            video("hd.mp4", "testsrc2=size=1920x1080:rate=30:duration=10", "-c:v", "mpeg4", "-q:v", 4, "-pix_fmt", "yuv420p"),
            video(
                "hevc-4k.mp4", "testsrc2=size=3840x2160:rate=30:duration=1", "-c:v", "libx265", "-preset", "ultrafast",
                "-x265-params", "log-level=error", "-pix_fmt", "yuv420p"),
            video(
                "vp9.webm", "testsrc2=size=1280x720:rate=30:duration=5", "-c:v", "libvpx-vp9", "-deadline", "realtime",
                "-cpu-used", 8, "-pix_fmt", "yuv420p"),
            video("long.flac", "anoisesrc=seed=1:duration=600"),
        ]


X264 = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
_KEYFRAMES = ["-g", 25, "-keyint_min", 25, "-sc_threshold", 0, "-x264-params", "open-gop=0"]
_AAC = ["-c:a", "aac", "-b:a", "96k"]


def _make_shot(first, index, file, seed):
    shot(first + index, seed).write(file, seed, first + index)


def _make_photograph(width, first, index, file, seed):
    height = width * 3 // 4
    picture = scene(width, height, seed, f"photograph of {width}", first + index)
    write_of_bytes(picture, file, width * height * 3 // 10)


def _make_storm(index, file, seed):
    random = chance(seed, "storm size", index)
    width = int(random.integers(360, 481))
    write_of_bytes(scene(width, width * 3 // 4, seed, "storm", index), file, int(random.integers(17_000, 23_000)))


@dataclass(frozen=True)
class GrowingKind:
    """Sources of one kind that are each twice as large as the one before."""

    name: str  # for programs
    title: str
    unit: str  # what they have more of each time: pixels, frames or seconds
    sizes: list
    extension: str
    count: int  # how many of each size there are, no two alike: of what costs little, several
    film: object = None  # of a size and a number, as ffmpeg is told it; None for a scene

    def sources(self, size, inputs):
        """Those of one size, alone in a directory."""
        def fill(place):
            for index in range(self.count):
                file, number = place / f"{index:05d}.{self.extension}", inputs.seed + index * 61
                if self.film:
                    source, *arguments = self.film(size, number)
                    ffmpeg(*lavfi(source), *arguments, file)
                else:
                    scene(*_sides(size), number, "growing", size).save(file, quality=88, subsampling="4:2:0")

        return inputs.directory_of(f"growing-{self.name}-{size}", fill)


def _sides(pixels):
    """Of 4:3, with so many pixels."""
    height = int(math.sqrt(pixels * 0.75)) // 2 * 2
    return height * 2 // 3 * 2, height


def growing_kinds(is_full):
    """Up to 640 frames and ten minutes, else to a quarter of that."""
    pixels = [750_000, 1_500_000, 3_000_000, 6_000_000, 12_000_000, 24_000_000, 48_000_000]
    frames, seconds = [20, 40, 80, 160] + [320, 640] * is_full, [10, 20, 40, 80, 150] + [300, 600] * is_full
    return [
        GrowingKind("jpeg", "a JPEG", "pixels", pixels, "jpg", 1),
        # A drawing, as a scene of 48 megapixels has more bytes than an image may have.
        GrowingKind("png", "a PNG", "pixels", pixels, "png", 1, lambda size, number: [
            "testsrc2=size={}x{}".format(*_sides(size)), "-frames:v", 1, "-pix_fmt", "rgb24"]),
        GrowingKind("gif", "a GIF of 320 × 240", "frames", frames, "gif", 4, lambda size, number: [
            f"testsrc2=size=320x240:rate=20,hue=h={number % 360}", "-frames:v", size]),
        GrowingKind("wav", "a WAV, encoded", "seconds", seconds, "wav", 4, lambda size, number: [
            f"anoisesrc=color=pink:amplitude=0.3:seed={number % 1000}", "-t", size]),
        GrowingKind("mp4", "an MP4 of 640 × 360, copied", "seconds", seconds, "mp4", 4, lambda size, number: [
            f"testsrc2=size=640x360:rate=25,hue=h={number % 360}", "-t", size, *X264, "-g", 50]),
        GrowingKind("mpeg4", "an MPEG-4 video of 320 × 240, encoded", "seconds", seconds, "avi", 1, lambda size, number: [
            "testsrc2=size=320x240:rate=25", "-t", size, "-c:v", "mpeg4", "-q:v", 5]),
    ]
