"""Programs and libraries of others, each at its best settings, and the floors that nobody can be below."""

import shlex

from ..commands import Command, Usage, usable_cores
from ..figures import FLOOR
from ..machine import IMAGE_MAGICK
from ..workplace import PEERS
from .contest import Contender
from .services import fill, parsed
from .tasks import ANIMATIONS, INSPECT, POSTER, QUALITY, SECONDS, SIDE, SIZES, STILLS


def commands(task, words, source, place, environment=None):
    """Of a program that is called for each source, and for each size where its words have `{output}`.

    Put in are `{input}`, `{output}`, `{output_SIDE}` in one call for all sizes, and `{width}` and `{height}`, as the box that the
    output is to fit.
    """
    outputs = task.all_outputs([source], place)
    by_side = {f"output_{side}": output for _, output, side in outputs}
    for _, output, side in outputs if any("{output}" in word for word in words) else outputs[:1]:
        values = {"input": source, "output": output, "width": side, "height": side, **by_side}
        yield Command([fill(word, **values) for word in words], environment or {})


def calls(task, name, title, line, environment=None):
    """Words of the line are held together by quotes as in a shell."""
    words = shlex.split(line)
    return Contender.of_calls(name, title, lambda source, place: commands(task, words, source, place, environment))


def own(task, text):
    """`NAME=command {input} {output} {width} {height}`. Raises ValueError."""
    name, line = parsed(text, "input", "output", "width", "height")
    if "{input}" not in line or "{output}" not in line:
        raise ValueError("the command needs {input} and {output}")
    return calls(task, f"peer-{name}", name, line)


def library(run, task, name, title, environment, script, *words, with_outputs=False):
    """A script that takes all sources in one process of a virtual environment."""
    def command(sources, place):
        files = [word for source in sources for word in (source, task.output(source, place))] if with_outputs else [place, *sources]
        return Command([run.workplace.python(environment), PEERS / script, *words, *files])

    return Contender.of_library(name, title, command)


def floor(run, name, title, line, column):
    """What a program says that it took, in milliseconds for each source: neither its start nor anything else around is counted.
    `line(place, sources)` calls it; the words of `column` of its lines are counted."""
    def make(sources, place):
        lines = run.workplace.inner_lines([run.workplace.program(name), *line(place, sources)], len(sources))
        cpu = sum(float(word) for words in lines for word in words[column]) / 1000
        # One of them, on each processor.
        return Usage(cpu / len(usable_cores()), cpu)

    return Contender(name, title, FLOOR, make)


# MARK: Photographs

# One thread, because that costs it the least.
VIPS_ENVIRONMENT = {"VIPS_CONCURRENCY": 1}
VIPSTHUMBNAIL = ["vipsthumbnail", "{input}", "--size", "{width}x{height}>", "-o", f"{{output}}[Q={QUALITY},strip]"]


def vipsthumbnail(run):
    """Called for each source and size, as people call it."""
    line = shlex.join(VIPSTHUMBNAIL)
    return calls(STILLS, "vipsthumbnail", f"vipsthumbnail, {run.libvips}, for each size", line, VIPS_ENVIRONMENT)


def magicks():
    """One call for all sizes, scaled while decoding; there is no way to scale further what was written but `-write`."""
    large, small = SIZES
    box = f"{large}x{large}"

    def sizes(sampling):
        form = f"-quality {QUALITY} -sampling-factor {sampling}"
        return f"-thumbnail '{box}>' {form} -write {{output_{large}}} -thumbnail '{small}x{small}>' {form} {{output_{small}}}"

    return [
        calls(
            STILLS, "imagemagick", "ImageMagick, one decode",
            f"{IMAGE_MAGICK} -limit thread 1 -define jpeg:size={box} {{input}} -auto-orient {sizes('4:2:0')}"),
        calls(
            STILLS, "graphicsmagick", "GraphicsMagick, one decode",
            f"gm convert -limit threads 1 -size {box} {{input}} -auto-orient +profile '*' {sizes('2x2')}"),
    ]


def libraries(run, *names):
    """Python libraries, as `stills.py` says. All, or those that are named."""
    newest = f"libvips {run.tools.get('pyvips-binary', '(newest)')}"
    found = [
        ("pyvips", f"pyvips, {run.libvips}, one decode", "system", "pyvips"),
        ("pyvips-forced", f"pyvips, {run.libvips}, forced shrink on load", "system", "pyvips-forced"),
        ("pyvips-newest", f"pyvips, {newest}", "newest", "pyvips"),
        ("pyvips-newest-forced", f"pyvips, {newest}, forced", "newest", "pyvips-forced"),
        ("pillow", "Pillow, draft", "system", "pillow"),
        ("full-decode", "Pillow, full decode, Lanczos 3", "system", "pillow-full"),
        ("pillow-simd", "Pillow-SIMD, draft", "simd", "pillow"),
    ]
    return [
        library(run, STILLS, name, title, environment, "stills.py", form, QUALITY, ",".join(map(str, SIZES)))
        for name, title, environment, form in found if not names or name in names]


def jpeg_floor(run):
    def line(place, sources):
        return [place, QUALITY, ",".join(map(str, SIZES)), *sources]

    return floor(run, "jpeg-floor", "libjpeg alone: decode, encode", line, slice(None))


# MARK: GIFs

_BOX = f"{SIDE}x{SIDE}"
_SCALE = f"scale={SIDE}:{SIDE}:force_original_aspect_ratio=decrease:flags=lanczos"


def gifsicle():
    line = f"gifsicle --no-warnings --resize-method=mix -O2 --resize-fit {_BOX} -o {{output}} {{input}}"
    return calls(ANIMATIONS, "gifsicle", "gifsicle --resize-method=mix -O2", line)


def vipsthumbnail_of_gifs(run):
    line = f"vipsthumbnail {{input}}[n=-1] --size '{_BOX}>' -o {{output}}"
    return calls(ANIMATIONS, "vipsthumbnail", f"vipsthumbnail, {run.libvips}", line, VIPS_ENVIRONMENT)


def other_gif_makers(run):
    # One palette for all frames, as everybody advises.
    filters = f"'{_SCALE},split[one][two];[one]palettegen[palette];[two][palette]paletteuse'"

    def pillow(source, place):
        return [Command([
            run.workplace.python("system"), PEERS / "animations.py", source, ANIMATIONS.output(source, place), SIDE])]

    return [
        calls(
            ANIMATIONS, "imagemagick", "ImageMagick -coalesce -layers optimize",
            f"{IMAGE_MAGICK} -limit thread 1 {{input}} -coalesce -resize '{_BOX}>' -layers optimize {{output}}"),
        calls(
            ANIMATIONS, "graphicsmagick", "GraphicsMagick -coalesce",
            f"gm convert -limit threads 1 {{input}} -coalesce -resize '{_BOX}>' {{output}}"),
        calls(
            ANIMATIONS, "ffmpeg", "ffmpeg palettegen, paletteuse",
            f"ffmpeg -v error -nostdin -y -threads 1 -i {{input}} -fps_mode passthrough -filter_complex {filters} {{output}}"),
        Contender.of_calls("pillow", "Pillow", pillow),
    ]


# MARK: Videos and recordings

_FFMPEG = "ffmpeg -v error -nostdin -y"


def ffmpeg(task):
    """Called for each source, as people call it; of a poster its first keyframe, without a search for a better one."""
    part, scale = f"-t {SECONDS} -i {{input}}", f"-vf scale={task.side}:-2"
    work = {
        "trim": f"-ss 0 {part} -map 0 -c copy",
        "poster": f"-ss 0 -i {{input}} -frames:v 1 {scale} -q:v 4",
        "transcode": f"-ss 0 -threads 1 {part} {scale} -c:v libx264 -preset veryfast -crf 23 -profile:v high -g 100 -threads 1"
        " -filter_threads 1 -c:a copy",
    }[task.profile]
    return calls(task, "ffmpeg", "ffmpeg", f"{_FFMPEG} {work} {{output}}")


def ffmpeg_choosing():
    """Looks at the keyframes of the part and takes the one that is most like all of them."""
    return calls(
        POSTER, "ffmpeg-choosing", "ffmpeg, of 8 keyframes by `thumbnail`",
        f"{_FFMPEG} -skip_frame nokey -t {SECONDS} -i {{input}} -vf thumbnail=n=8,scale={POSTER.side}:-2 -frames:v 1 -q:v 4 {{output}}")


def ffprobe():
    return calls(INSPECT, "ffprobe", "ffprobe", "ffprobe -v error -show_format -show_streams -of json -o {output} {input}")


def pyav(run, task):
    """One process for all sources; `clips.py` says how."""
    return library(run, task, "pyav", "PyAV", "system", "clips.py", task.profile, SECONDS, task.side, with_outputs=True)


def remux(run, task):
    """Reading and writing the packets alone. What it makes of the last source is left."""
    def line(place, sources):
        return [0, SECONDS, task.output("last", place), *sources]

    return floor(run, "remux", "libavformat alone: read, write", line, slice(1, 2))
