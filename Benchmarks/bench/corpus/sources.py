"""What a contest is about: sources that everybody can read, made or of the user's own, with what is to be said of them."""

import os
import shutil
from dataclasses import dataclass, field

from PIL import Image

from .. import Failure, progress
from .inputs import files, processes

# Kinds of the user's files, by extension; and Pillow's names of what they ought to be. A photograph may have another picture
# behind it (MPO).
_EXTENSIONS = {"photographs": {".jpg", ".jpeg"}, "animations": {".gif"}}
_FORMATS = {"photographs": {"JPEG", "MPO"}, "animations": {"GIF"}}
_SAMPLES = set(
    "jpg png gif webp heic heif avif tiff mp4 m4v mov 3gp webm mkv avi mpg ts mp3 m4a aac wav aiff caf flac ogg opus amr bmp jxl"
    .split())


def sample_files(directory):
    """The sample files of every kind, good and bad, in order."""
    return sorted(file for file in directory.rglob("*") if file.is_file() and file.suffix[1:] in _SAMPLES)


@dataclass
class Source:
    path: str
    width: int  # as stored
    height: int
    frames: int
    bytes: int


@dataclass
class SourceSet:
    sources: list
    left_out: list = field(default_factory=list)  # names and reasons: files of the user's own that nobody is measured with

    @property
    def files(self):
        return [source.path for source in self.sources]

    @property
    def photographs(self):
        """`24 photographs of 1.9 to 24 MP`"""
        return self._counted("photograph", [source.width * source.height / 1e6 for source in self.sources], "MP")

    @property
    def animations(self):
        """`8 GIFs of 44 to 125 frames`"""
        return self._counted("GIF", [source.frames for source in self.sources], "frames")

    @property
    def pictures(self):
        """`1000 pictures of 17 to 23 kB`"""
        return self._counted("picture", [source.bytes / 1e3 for source in self.sources], "kB")

    def _counted(self, item, values, unit):
        # Two digits, or all before the point.
        ends = [(f"{value:.1f}" if value < 9.95 else f"{value:.0f}").removesuffix(".0") for value in sorted(values)]
        things = f"{len(values)} {item}{'' if len(values) == 1 else 's'}"
        return f"{things} of {' to '.join(dict.fromkeys([ends[0], ends[-1]]))} {unit}" if ends else things

    @property
    def notes(self):
        """What was left out, a line for each; of many the first."""
        lines, more = [f"{name}: {reason}" for name, reason in self.left_out[:20]], len(self.left_out) - 20
        return [f"Left out for everybody: {line}" for line in lines + ([f"{more} more"] if more > 0 else [])]

    def leave_out(self, reasons, names):
        """Further files; `reasons` and `names` for people are by path. Raises Failure where nothing is left."""
        self.left_out += [(names[path], reasons[path]) for path in self.files if path in reasons]
        self.sources = [source for source in self.sources if source.path not in reasons]
        if not self.sources:
            raise Failure("\n".join(["--corpus: nothing is left to measure", *self.notes]))


def look(kind, path):
    """A source, or why it can't be compared what is made of it: it is decoded whole, by the library that looks at results."""
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(path) as image:
            if image.format not in _FORMATS[kind]:
                return f"it is {image.format}"
            frames = image.n_frames if image.format == "GIF" else 1
            if image.format == "GIF" and frames < 2:
                return "it has one frame alone"
            if image.mode == "CMYK":
                return "it is CMYK, which not everybody turns into RGB"
            width, height = image.size
            for frame in range(frames):
                image.seek(frame)
                image.load()
            return Source(str(path), width, height, frames, os.path.getsize(path))
    except Exception as error:  # whatever a damaged file makes of a decoder is a reason
        return " ".join(str(error).replace(f" '{path}'", "").split()) or type(error).__name__


def own_files(directory, kind, place):
    """Links to the user's files of a kind (of all where it is none), and their names beneath the user's directory.

    The links are in a directory of their own, as contenders that take whole directories are to find nothing else, and numbered, so
    that no two names are alike. Raises Failure where there is none.
    """
    root, wanted = directory.resolve(), _EXTENSIONS.get(kind)
    found = sorted(
        file for file in root.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(root).parts)
        and (wanted is None or file.suffix.lower() in wanted))
    if not found:
        raise Failure(f"--corpus {directory}: has no {kind}")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for index, file in enumerate(found):
        link = place / f"{index:05d}{file.suffix.lower()}"
        try:
            link.hardlink_to(file)
        except OSError:
            # On another file system, or another's.
            shutil.copyfile(file, link)
    return place, [str(file.relative_to(root)) for file in found]


def sources(run, kind, made, refusals):
    """The user's files of a kind, without those that not everybody can make something of; else those that `made` makes.

    `refusals` says of paths why Satchel delivers nothing, or something else, of some of them, by path.
    """
    corpus = run.options.corpus
    place, own_names = own_files(corpus, kind, run.options.directory / "corpus" / kind) if corpus else (made(), None)
    paths = list(map(str, files(place)))
    names = dict(zip(paths, own_names or paths))
    with processes() as pool:
        looks = dict(zip(paths, pool.map(look, [kind] * len(paths), paths, chunksize=4)))
    found = SourceSet([one for one in looks.values() if isinstance(one, Source)])
    found.left_out = [(names[path], reason) for path, reason in looks.items() if isinstance(reason, str)]
    found.leave_out({}, names)
    if corpus:
        _remove_others(place, found)
        found.leave_out(refusals(found.files), names)
        _remove_others(place, found)
    for note in found.notes:
        progress.note(note)
    return found


def _remove_others(directory, found):
    """Some contenders take whole directories."""
    for file in files(directory):
        if str(file) not in found.files:
            file.unlink()
