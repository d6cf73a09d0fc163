"""Makes small JPEGs of photographs with a library, in one process.

    stills.py LIBRARY QUALITY SIZE,SIZE DIRECTORY SOURCE...

Each library is used as its makers advise where speed counts: one decode for all sizes (the largest first), scaled while
decoding, upright, no metadata; 'pillow-full' is what all are compared with: a full decode. Outputs are DIRECTORY/NAME-SIZE.jpg, SIZE being the longest side.
"""

import os
import sys


def output(directory, source, size):
    return os.path.join(directory, f"{os.path.basename(source)}-{size}.jpg")


def with_pyvips(directory, quality, sizes, sources, forced):
    os.environ["VIPS_CONCURRENCY"] = "1"
    import pyvips

    # Nothing is asked for twice.
    pyvips.cache_set_max(0)
    largest = sizes[0]
    for source in sources:
        if forced:
            # As far as libjpeg can scale without going below the size; vips_thumbnail leaves it twice as large.
            header = pyvips.Image.new_from_file(source)
            longest = max(header.width, header.height)
            shrink = next(s for s in (8, 4, 2, 1) if longest // s >= largest or s == 1)
            image = pyvips.Image.new_from_file(source, shrink=shrink, access="sequential")
            image = image.thumbnail_image(largest, height=largest, size="down")
        else:
            image = pyvips.Image.thumbnail(source, largest, height=largest, size="down")
        image = image.copy_memory()
        for size in sizes:
            if size != largest:
                image = image.thumbnail_image(size, height=size, size="down")
            image.jpegsave(output(directory, source, size), Q=quality, strip=True)


def with_pillow(directory, quality, sizes, sources, full):
    from PIL import Image, ImageOps

    for source in sources:
        with Image.open(source) as image:
            if not full:
                image.draft("RGB", (sizes[0], sizes[0]))
            for size in sizes:
                image.thumbnail((size, size), Image.Resampling.LANCZOS, reducing_gap=None)
                if size == sizes[0]:
                    image = ImageOps.exif_transpose(image)
                image.save(output(directory, source, size), "JPEG", quality=quality, exif=b"")


def main():
    library, quality, sizes, directory = sys.argv[1:5]
    sources = sys.argv[5:]
    sizes = sorted((int(size) for size in sizes.split(",")), reverse=True)
    if library in ("pillow", "pillow-full"):
        with_pillow(directory, int(quality), sizes, sources, full=library == "pillow-full")
    elif library in ("pyvips", "pyvips-forced"):
        with_pyvips(directory, int(quality), sizes, sources, forced=library == "pyvips-forced")
    else:
        sys.exit(f"stills.py: no library '{library}'")


main()
