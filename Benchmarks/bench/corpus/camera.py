"""Photographs as cameras, phones, editors and sites write them: JPEG with EXIF."""

import io
from dataclasses import dataclass, field

import piexif
from PIL import Image

from .chance import chance, log_uniform
from .scene import Look, scene

# How a picture is to be turned to stand upright, as EXIF numbers it.
UPRIGHT, HALF_TURN, QUARTER_TURN, THREE_QUARTER_TURN = 1, 3, 6, 8


@dataclass(frozen=True)
class CameraJPEG:
    """How a picture is written."""

    quality: int
    subsampling: str = "4:2:0"
    is_progressive: bool = False
    orientation: int = UPRIGHT
    has_preview: bool = False  # a preview of 160 pixels and the maker's notes in EXIF, else the orientation alone

    def write(self, picture, file):
        jpeg = _encoded(picture, self.quality, self.subsampling, progressive=self.is_progressive)
        exif = {"0th": {piexif.ImageIFD.Orientation: self.orientation}}
        if self.has_preview:
            preview = picture.copy()
            preview.thumbnail((160, 160), Image.Resampling.BOX)
            # Of no sense to anybody else, 2 to 10 kB.
            notes = chance(len(jpeg), "maker's notes").bytes(2000 + len(jpeg) % 8000)
            exif["0th"] |= {
                piexif.ImageIFD.Make: "Benchmark", piexif.ImageIFD.Model: "Dead leaves",
                piexif.ImageIFD.DateTime: "2026:07:01 12:00:00",
            }
            exif["Exif"] = {piexif.ExifIFD.ISOSpeedRatings: 400, piexif.ExifIFD.MakerNote: notes}
            exif["1st"] = {piexif.ImageIFD.Compression: 6}
            exif["thumbnail"] = _encoded(preview, 80)
        piexif.insert(piexif.dump(exif), jpeg, str(file))


def write_of_bytes(picture, file, count, orientation=UPRIGHT):
    """Baseline and 4:2:0, in the quality whose file comes nearest to so many bytes."""
    low, high, found = 60, 97, []
    while low <= high:
        quality = (low + high) // 2
        size = len(_encoded(picture, quality))
        found.append((abs(size - count), quality))
        low, high = (low, quality - 1) if size > count else (quality + 1, high)
    CameraJPEG(min(found)[1], orientation=orientation).write(picture, file)


def _encoded(picture, quality, subsampling="4:2:0", progressive=False):
    output = io.BytesIO()
    picture.save(output, "JPEG", quality=quality, subsampling=subsampling, progressive=progressive)
    return output.getvalue()


@dataclass(frozen=True)
class Shot:
    """A photograph of the corpus, before it is made."""

    width: int  # of the stored pixels, always landscape
    height: int
    look: Look = field(hash=False)
    file: CameraJPEG

    def write(self, file, seed, number):
        self.file.write(scene(self.width, self.height, seed, "photograph", number, self.look), file)


# Those of a camera or phone each: what people have of the last twenty years. Most have 2 to 8 megapixels, 6 on average, one 24;
# five have been through an editor, which leaves no preview, or a site, which also makes them progressive.
_MODELS = [
    (3264, 2448, 95, "4:2:0", "camera"), (2048, 1536, 90, "4:2:2", "camera"), (3888, 2592, 96, "4:2:2", "camera"),
    (1632, 1224, 93, "4:2:0", "camera"), (2592, 1944, 94, "4:2:2", "camera"), (1920, 1280, 85, "4:2:0", "site"),
    (4032, 3024, 92, "4:2:0", "camera"), (2816, 2112, 95, "4:2:2", "camera"), (2048, 1536, 96, "4:4:4", "camera"),
    (3072, 2304, 93, "4:2:0", "camera"), (1600, 1200, 75, "4:2:2", "camera"), (2560, 1440, 90, "4:2:0", "editor"),
    (3008, 2000, 94, "4:2:2", "camera"), (2592, 1944, 96, "4:2:0", "camera"), (1920, 1080, 92, "4:2:0", "camera"),
    (6000, 4000, 92, "4:2:2", "camera"), (2272, 1704, 95, "4:2:2", "camera"), (2048, 1365, 85, "4:2:0", "site"),
    (3456, 2304, 97, "4:2:2", "camera"), (2560, 1920, 88, "4:2:0", "editor"), (2048, 1536, 95, "4:2:0", "camera"),
    (3072, 2048, 90, "4:4:4", "editor"), (3264, 1836, 96, "4:2:0", "camera"), (2592, 1944, 93, "4:2:2", "camera"),
]
SHOTS = len(_MODELS)


def shot(index, seed):
    """Sizes and settings are the same for every seed and repeat after SHOTS; a quarter is portrait by orientation.

    Scenes differ in light and depth: from a portrait in the sun, of which most is out of focus, to a landscape at dusk. That
    gives the 0.1 to 0.7 bytes for each pixel that camera files have.
    """
    random = chance(seed, "shot", index)
    width, height, quality, subsampling, origin = _MODELS[index % SHOTS]
    orientation = {2: QUARTER_TURN, 5: THREE_QUARTER_TURN}.get(index % 8, HALF_TURN if index % 16 == 7 else UPRIGHT)
    look = Look(log_uniform(random, 1, 4), log_uniform(random, 1 / 600, 1 / 120), random.uniform(0.5, 1.3))
    return Shot(width, height, look, CameraJPEG(quality, subsampling, origin == "site", orientation, origin == "camera"))
