"""Pictures of one frame."""

from . import CANARY, Kit, sample

COFFEE = dict(kind="image", width=600, height=400)


def plain(name, size=None, *options):
    return lambda kit, out: kit.magick(kit.photo(name, size), *options, out)


def twelve_megapixels(kit: Kit, out):
    kit.magick(kit.sources["earth"], "-strip", "-crop", "3600x2700+1900+0", "+repage", "-resize", "4032x3024!",
               "-sampling-factor", "4:2:0", "-quality", "72", out)
    kit.exif(out, "-Make=Satchel", "-Model=Sample 12", "-DateTimeOriginal=2024:05:04 10:11:12", "-Orientation#=1")


sample("jpeg/earth-12-megapixels.jpg", twelve_megapixels, of="earth", traits="12 megapixels, photograph, exif",
       kind="image", type="image/jpeg", width=4032, height=3024)
sample("jpeg/coffee.jpg", plain("coffee", None, "-quality", "85"), of="coffee", traits="photograph",
       type="image/jpeg", **COFFEE)


def orientation(number):
    # What a camera held so would have stored: the inverse of what the reader has to do.
    stored = {1: [], 2: ["-flop"], 3: ["-rotate", "180"], 4: ["-flip"], 5: ["-transpose"], 6: ["-rotate", "270"],
              7: ["-transverse"], 8: ["-rotate", "90"]}[number]

    def make(kit: Kit, out):
        kit.magick(kit.photo("coffee", "300x200"), *stored, "-quality", "80", out)
        kit.exif(out, f"-Orientation#={number}")
    return make


for number in range(1, 9):
    sample(f"jpeg/orientation-{number}.jpg", orientation(number), of="coffee", traits=f"orientation {number}",
           kind="image", type="image/jpeg", width=300, height=200)


def transparent(kit: Kit, out, *options):
    """The cup cut out by a soft ellipse."""
    kit.magick(kit.photo("coffee"), "(", "-size", "600x400", "xc:black", "-fill", "white", "-draw",
               "ellipse 290,190 220,170 0,360", "-blur", "0x6", ")", "-alpha", "off", "-compose", "CopyOpacity",
               "-composite", *options, out)


sample("png/alpha.png", lambda kit, out: transparent(kit, out, "-resize", "300x200"), of="coffee", traits="alpha",
       kind="image", type="image/png", width=300, height=200)
sample("webp/cat.webp", plain("cat", "450x300", "-quality", "80"), of="cat", traits="photograph",
       kind="image", type="image/webp", width=450, height=300)


def heif(kit: Kit, out, source, *options):
    kit.run("heif-enc", "-q", "50", *options, "-o", out, source)


def heic_with_gps(kit: Kit, out):
    jpeg = kit.work / "in.jpg"
    kit.magick(kit.photo("coffee"), "-quality", "95", jpeg)
    kit.exif(jpeg, "-Make=Satchel", f"-ImageDescription={CANARY} heic description", "-GPSLatitude=12.3456",
             "-GPSLatitudeRef=N", "-GPSLongitude=98.7654", "-GPSLongitudeRef=E",
             f"-UserComment={CANARY} heic comment")
    heif(kit, out, jpeg)


sample("heic/coffee-gps.heic", heic_with_gps, of="coffee", traits="photograph, exif, gps, canary", type="image/heic",
       **COFFEE)
