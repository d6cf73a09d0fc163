"""A directory as people have them: photographs, pictures, clips, sounds and junk."""

from ..commands import ffmpeg
from . import animations
from .camera import QUARTER_TURN, UPRIGHT, write_of_bytes
from .chance import chance
from .scene import scene

# By turns: eight photographs in twenty, two PNG, two WebP, a GIF, an MP3, a WAV, an AAC, two MP4 and two of junk.
_TURNS = """
    jpeg png webp jpeg gif jpeg mp3 wav jpeg aac
    jpeg png webp jpeg mp4 jpeg junk mp4 jpeg junk
""".split()
# Prose, photographs that end too early, bytes without sense, nothing at all.
_JUNK = ["text", "truncated", "noise", "empty"]
# Junk is called what people call their pictures.
_EXTENSIONS = {"jpeg": "jpg", "truncated": "jpg", "noise": "jpg", "text": "txt", "empty": "png", "aac": "m4a"}


def kind(index):
    turn = _TURNS[index % len(_TURNS)]
    # There are two in twenty, so that all kinds come in forty.
    return _JUNK[(index // 20 * 2 + (index % 20 == 19)) % len(_JUNK)] if turn == "junk" else turn


def is_media(index):
    """Whether something can be made of it."""
    return kind(index) not in _JUNK


def name(index):
    return f"{index:05d}.{_EXTENSIONS.get(kind(index), kind(index))}"


def make(index, file, seed):
    random = chance(seed, "mixed", index)
    what = kind(index)
    seconds = int(random.integers(4, 9))

    def picture(width):
        return scene(width, width * 3 // 4, seed, "mixed scene", index)

    sound = ["-f", "lavfi", "-i", f"anoisesrc=color=pink:sample_rate=44100:duration={seconds}:seed={index}"]
    match what:
        case "jpeg" | "truncated":
            width = int(random.integers(1200, 2000))
            write_of_bytes(picture(width), file, width * width // 4, QUARTER_TURN if index % 4 == 3 else UPRIGHT)
            if what == "truncated":
                data = file.read_bytes()
                file.write_bytes(data[: len(data) // 3])
        case "png":
            picture(800).save(file)
        case "webp":
            picture(1000).save(file, quality=80)
        case "gif":
            film = animations.FILMED[index % len(animations.FILMED)]
            animations.make_film(film, index, 30, 360, 270, random, file, seed)
        case "mp3":
            ffmpeg("-bitexact", *sound, "-c:a", "libmp3lame", "-b:a", "128k", file)
        case "wav":
            ffmpeg("-bitexact", *sound, "-c:a", "pcm_s16le", file)
        case "aac":
            ffmpeg("-bitexact", *sound, "-c:a", "aac", "-b:a", "96k", file)
        case "mp4":
            ffmpeg(
                "-bitexact", "-f", "lavfi", "-i", f"testsrc2=size=640x360:rate=25:duration={seconds}", *sound, "-vf",
                f"hue=h={index * 29 % 360}", "-c:v", "libx264", "-preset", "veryfast", "-threads", 1, "-pix_fmt", "yuv420p",
                "-c:a", "aac", file)
        case "text":
            file.write_bytes(bytes(random.integers(97, 123, 400, dtype="u1")))
        case "noise":
            # No format begins so.
            file.write_bytes(b"\x01\x02" + random.bytes(50_000))
        case "empty":
            file.touch()
