"""Pictures of one frame."""

import struct
import zlib

from . import CANARY, SAMPLES, Kit, heifbox, png, profiles, sample

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

# MARK: JPEG

SMALL = dict(kind="image", width=300, height=200)
J = dict(of="coffee", type="image/jpeg", **SMALL)
small = lambda *options: plain("coffee", "300x200", *options)  # noqa: E731


def tagged(make_profile):
    """The photograph in another colour space: converted to sRGB it is the photograph again."""
    def make(kit: Kit, out):
        profile = kit.work / "p.icc"
        profile.write_bytes(make_profile())
        moved = kit.work / "moved.png"
        kit.run("vips", "icc_transform", kit.photo("coffee", "300x200"), moved, profile, "--input-profile", "srgb",
                "--intent", "relative")
        kit.run("vips", "jpegsave", moved, out, "--Q", "85")
    return make


def private(kit: Kit, out):
    """Everything that a camera and a person write into a photograph, each with a canary."""
    thumbnail = kit.work / "thumbnail.jpg"
    kit.magick(kit.photo("cat", "120x80"), thumbnail)
    kit.magick(kit.photo("coffee", "300x200"), "-quality", "80", out)
    kit.exif(out, "-Make=Satchel", f"-Model={CANARY} model", f"-Artist={CANARY} artist", f"-Copyright={CANARY} rights",
             f"-ImageDescription={CANARY} description", f"-UserComment={CANARY} comment",
             f"-SerialNumber={CANARY} serial", "-GPSLatitude=12.3456", "-GPSLatitudeRef=N", "-GPSLongitude=98.7654",
             "-GPSLongitudeRef=E", f"-GPSAreaInformation={CANARY} area", f"-XMP-dc:Title={CANARY} xmp",
             f"-IPTC:Keywords={CANARY} iptc", f"-Comment={CANARY} com", f"-Photoshop:URL={CANARY} url",
             f"-ThumbnailImage<={thumbnail}")


def motion_photo(kit: Kit, out):
    """A still with its clip behind the end of the image, as some phones write it."""
    small("-quality", "80")(kit, out)
    clip = kit.work / "clip.mp4"
    kit.ffmpeg("-i", kit.sources["film"], "-t", "1", "-vf", "scale=160:90", "-an", "-metadata",
               f"comment={CANARY} trailer", "-c:v", "libx264", "-threads", "1", "-crf", "35", clip)
    out.write_bytes(out.read_bytes() + clip.read_bytes())


sample("jpeg/orientation-9.jpg", orientation(1), **J, traits="orientation invalid")
SAMPLES["jpeg/orientation-9.jpg"].make = lambda kit, out: (orientation(1)(kit, out), kit.exif(out, "-Orientation#=9"))
sample("jpeg/progressive.jpg", small("-interlace", "JPEG", "-quality", "80"), **J, traits="progressive")
sample("jpeg/grey.jpg", small("-colorspace", "Gray", "-quality", "80"), **J, traits="grey")
sample("jpeg/cmyk.jpg", small("-colorspace", "CMYK", "-quality", "80"), **J, traits="cmyk",
       findings=["changes profile_assumed"])
sample("jpeg/444.jpg", small("-sampling-factor", "4:4:4", "-quality", "90"), **J, traits="4:4:4")
sample("jpeg/display-p3.jpg", tagged(profiles.display_p3), **J, traits="display p3, icc")
sample("jpeg/adobe-rgb.jpg", tagged(profiles.adobe_rgb), **J, traits="adobe rgb, icc")
sample("jpeg/private.jpg", private, **J, traits="exif, gps, xmp, iptc, exif thumbnail, canary")
sample("jpeg/motion-photo.jpg", motion_photo, **J, traits="trailing data, canary")
sample("jpeg/rocket-portrait.jpg", lambda kit, out: (
    kit.magick(kit.photo("rocket", "640x426"), "-rotate", "270", "-quality", "85", out),
    kit.exif(out, "-Orientation#=6", "-Make=Satchel")), of="rocket", traits="orientation 6, photograph", kind="image",
       type="image/jpeg", width=640, height=426)
sample("jpeg/galaxies.jpg", plain("galaxies", None, "-quality", "80"), of="galaxies", traits="photograph", kind="image",
       type="image/jpeg", width=1000, height=872)
sample("jpeg/pixel.jpg", plain("coffee", "1x1"), of="coffee", traits="tiny", kind="image", type="image/jpeg", width=1,
       height=1)
sample("jpeg/odd.jpg", plain("coffee", "17x13"), of="coffee", traits="tiny, odd size", kind="image", type="image/jpeg",
       width=17, height=13)
sample("jpeg/panorama.jpg", plain("earth", "4000x80", "-quality", "60"), of="earth", traits="extreme shape",
       kind="image", type="image/jpeg", width=4000, height=80)


def eighty_megapixels(kit: Kit, out):
    kit.run("vips", "grey", kit.work / "grey.v", 10_000, 8_000, "--uchar")
    kit.run("vips", "jpegsave", kit.work / "grey.v", out, "--Q", "30", "--optimize-coding")


sample("jpeg/80-megapixels.jpg", eighty_megapixels,
       traits="large, grey, decompression bomb", kind="image", type="image/jpeg", width=10_000, height=8_000)

# MARK: PNG

P = dict(of="coffee", type="image/png")
sample("png/coffee.png", plain("coffee", "300x200"), **P, **SMALL, traits="photograph")
sample("png/interlaced.png", plain("coffee", "150x100", "-interlace", "PNG"), **P, kind="image", width=150, height=100,
       traits="interlaced")
sample("png/palette.png", small("-colors", "64", "-define", "png:color-type=3"), **P, **SMALL, traits="palette")
sample("png/palette-alpha.png", lambda kit, out: (
    transparent(kit, kit.work / "alpha.png", "-resize", "300x200"),
    kit.run("vips", "pngsave", kit.work / "alpha.png", out, "--palette", "--Q", "60")), **P, **SMALL,
       traits="palette, alpha")
sample("png/grey.png", small("-colorspace", "Gray"), **P, **SMALL, traits="grey")
sample("png/grey-alpha.png", lambda kit, out: transparent(
    kit, out, "-resize", "300x200", "-colorspace", "Gray", "-define", "png:color-type=4"), **P, **SMALL,
       traits="grey, alpha")
sample("png/1-bit.png", small("-colorspace", "Gray", "-ordered-dither", "o8x8", "-depth", "1"), **P, **SMALL,
       traits="grey, 1 bit")


def sixteen_bits(channels):
    """Gradients finer than 8 bits can show."""
    def make(kit: Kit, out):
        def row(y):
            return b"".join(
                b"".join((value % 65536).to_bytes(2, "big") for value in (
                    x * 65535 // 119, y * 65535 // 79, (x + y) * 65535 // 198, 65535 - x * 300)[:channels])
                for x in range(120))
        colour = {1: 0, 3: 2, 4: 6}[channels]
        out.write_bytes(png(120, 80, (row(y) for y in range(80)), depth=16, colour=colour))
    return make


for name, channels, more in [("grey", 1, ", grey"), ("rgb", 3, ""), ("alpha", 4, ", alpha")]:
    sample(f"png/16-bit-{name}.png", sixteen_bits(channels), traits="16 bit" + more, kind="image", type="image/png",
           width=120, height=80)


def colour_key(kit: Kit, out):
    """One colour of an RGB picture is transparent, without an alpha channel."""
    rows = [b"".join(b"\xff\0\xff" if (x // 10 + y // 10) % 2 else bytes([x * 2, y * 3, 90]) for x in range(120))
            for y in range(80)]
    out.write_bytes(png(120, 80, rows, extra=[(b"tRNS", b"\0\xff\0\0\0\xff")]))


sample("png/colour-key.png", colour_key, traits="alpha, colour key", kind="image", type="image/png", width=120,
       height=80)


def private_png(kit: Kit, out):
    plain("cat", "150x100")(kit, out)
    kit.exif(out, f"-PNG:Comment={CANARY} text", f"-XMP-dc:Title={CANARY} xmp", f"-EXIF:ImageDescription={CANARY} exif",
             "-GPSLatitude=12.3456", "-GPSLatitudeRef=N", "-GPSLongitude=98.7654", "-GPSLongitudeRef=E")
    out.write_bytes(out.read_bytes() + f"{CANARY} trailer".encode())


sample("png/private.png", private_png, of="cat", traits="gps, exif, xmp, trailing data, canary", kind="image",
       type="image/png", width=150, height=100)


def vast_profile(kit: Kit, out):
    icc = zlib.compress(profiles.display_p3(padding=5 << 20), 9)
    out.write_bytes(png(16, 16, [bytes(48)] * 16, extra=[(b"iCCP", b"padded\0\0" + icc)]))


# Gray pixels with a profile for RGB.
sample("png/unfit-profile.png", lambda kit, out: out.write_bytes(
    png(16, 16, [bytes(range(0, 256, 16))] * 16, colour=0,
        extra=[(b"iCCP", b"P3\0\0" + zlib.compress(profiles.display_p3(), 9))])),
       traits="grey, unfit profile", findings=["evidence profile_left_out"], kind="image", type="image/png", width=16,
       height=16)
sample("png/vast-profile.png", vast_profile, traits="icc, vast profile", state="failed", code="too_expensive",
       kind="image", type="image/png", width=16, height=16)

# MARK: WebP

W = dict(type="image/webp", **SMALL)
sample("webp/lossless-alpha.webp", lambda kit, out: transparent(
    kit, out, "-resize", "300x200", "-define", "webp:lossless=true"), of="coffee", traits="alpha, lossless", **W)


def private_webp(kit: Kit, out):
    small("-quality", "75")(kit, out)
    kit.exif(out, f"-EXIF:ImageDescription={CANARY} exif", "-GPSLatitude=12.3456", "-GPSLatitudeRef=N",
             "-GPSLongitude=98.7654", "-GPSLongitudeRef=E", f"-XMP-dc:Title={CANARY} xmp")


sample("webp/private.webp", private_webp, of="coffee", traits="exif, gps, xmp, canary", **W)

# MARK: HEIC, HEIF, AVIF

H = dict(of="coffee", type="image/heic")


def heic_rotated(kit: Kit, out):
    """As phones store it: the container's rotation, and an EXIF orientation that must not be applied as well."""
    jpeg = kit.work / "in.jpg"
    kit.magick(rotated_png(kit), "-quality", "95", jpeg)
    kit.exif(jpeg, "-Orientation#=6")
    heif(kit, out, jpeg)
    out.write_bytes(heifbox.rotated(out.read_bytes(), 3))


def heic_10_bit(kit: Kit, out):
    kit.magick(kit.photo("coffee", "300x200"), "-depth", "16", "-evaluate", "Multiply", "0.999", "-blur", "0x0.4",
               kit.work / "deep.png")
    heif(kit, out, kit.work / "deep.png", "-b", "10")


def heic_alpha(kit: Kit, out):
    transparent(kit, kit.work / "alpha.png", "-resize", "300x200")
    heif(kit, out, kit.work / "alpha.png")


def heif_brand(kit: Kit, out):
    """The same coding under the general brand, as some cameras write it."""
    heif(kit, out, kit.photo("cat", "450x300"))
    data = out.read_bytes()
    out.write_bytes(data[:8] + b"mif1" + data[12:])


sample("heic/rotated.heic", heic_rotated, **H, **SMALL, traits="rotated, orientation 6")
sample("heic/alpha.heic", heic_alpha, **H, **SMALL, traits="alpha")
sample("heic/10-bit.heic", heic_10_bit, **H, **SMALL, traits="10 bit")
sample("heif/cat.heif", heif_brand, of="cat", traits="photograph, general brand", kind="image", type="image/heif",
       width=450, height=300)


def avif(kit: Kit, out, *sources, options=()):
    kit.run("avifenc", "--jobs", "1", "--speed", "8", "--min", "25", "--max", "35", *options, *sources, out)


def avif_alpha(kit: Kit, out):
    transparent(kit, kit.work / "alpha.png", "-resize", "300x200")
    avif(kit, out, kit.work / "alpha.png")


A = dict(of="coffee", type="image/avif")
sample("avif/coffee.avif", lambda kit, out: avif(kit, out, kit.photo("coffee")), **A, **COFFEE, traits="photograph")
sample("avif/alpha.avif", avif_alpha, **A, **SMALL, traits="alpha")
sample("avif/10-bit.avif", lambda kit, out: avif(kit, out, kit.photo("coffee", "300x200"), options=["--depth", "10"]),
       **A, **SMALL, traits="10 bit")
sample("avif/rotated.avif", lambda kit, out: avif(kit, out, rotated_png(kit), options=["--irot", "3"]), **A, **SMALL,
       traits="rotated")


def rotated_png(kit: Kit):
    out = kit.work / "rotated.png"
    kit.magick(kit.photo("coffee", "300x200"), "-rotate", "270", out)
    return out


# MARK: TIFF, BMP, JPEG XL


def floats(kit: Kit, out):
    """Light up to four times that of white."""
    light = b"".join(struct.pack("<3f", x / 4, x / 8, 0.5) for _ in range(12) for x in range(16))
    entries = [(256, 16), (257, 12), (258, 32), (259, 1), (262, 2), (273, 8), (277, 3), (278, 12), (279, len(light)),
               (339, 3)]
    directory = len(entries).to_bytes(2, "little") + b"".join(
        struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries) + bytes(4)
    out.write_bytes(b"II*\0" + (8 + len(light)).to_bytes(4, "little") + light + directory)


T = dict(of="coffee", type="image/tiff")
sample("tiff/lzw.tiff", plain("coffee", "150x100", "-compress", "LZW"), **T, kind="image", width=150, height=100,
       traits="lzw")
sample("tiff/jpeg.tiff", small("-compress", "JPEG", "-quality", "80"), **T, **SMALL, traits="jpeg inside")
sample("tiff/big-endian.tiff", plain("coffee", "150x100", "-compress", "Zip", "-define", "tiff:endian=msb"), **T,
       kind="image", width=150, height=100, traits="deflate, big endian")
sample("tiff/cmyk.tiff", plain("coffee", "150x100", "-colorspace", "CMYK", "-compress", "LZW"), **T, kind="image",
       width=150, height=100, traits="cmyk")
sample("tiff/float.tiff", floats, traits="float", findings=["changes clipped"], kind="image", type="image/tiff", width=16,
       height=12)
sample("tiff/16-bit.tiff", lambda kit, out: (
    sixteen_bits(3)(kit, kit.work / "deep.png"),
    kit.magick(kit.work / "deep.png", "-depth", "16", "-compress", "Zip", out)), type="image/tiff", kind="image",
       width=120, height=80, traits="16 bit")
sample("tiff/alpha.tiff", lambda kit, out: transparent(kit, out, "-resize", "150x100", "-compress", "Zip"), **T,
       kind="image", width=150, height=100, traits="alpha")
sample("tiff/fax.tiff", small("-colorspace", "Gray", "-threshold", "45%", "-compress", "Group4"), **T, **SMALL,
       traits="1 bit, fax")
sample("tiff/tiled.tiff", lambda kit, out: kit.run(
    "vips", "tiffsave", kit.photo("coffee", "300x200"), out, "--tile", "--tile-width", "64", "--tile-height", "64",
    "--compression", "jpeg", "--pyramid"), **T, **SMALL, traits="tiled, pyramid")
sample("tiff/big.tiff", lambda kit, out: kit.run(
    "vips", "tiffsave", kit.photo("coffee", "150x100"), out, "--bigtiff", "--compression", "deflate"), **T,
       kind="image", width=150, height=100, traits="bigtiff")
sample("tiff/multi-page.tiff", lambda kit, out: kit.magick(
    kit.photo("coffee", "300x200"), kit.photo("cat", "150x100"), kit.photo("rocket", "120x80"), "-compress", "JPEG",
    out), **T, **SMALL, findings=["omissions one_taken pages 2 3"], traits="multi-page")
sample("tiff/orientation-6.tiff", lambda kit, out: (
    kit.magick(rotated_png(kit), "-compress", "JPEG", out), kit.exif(out, "-Orientation#=6")), **T, **SMALL,
       traits="orientation 6")

B = dict(of="cat", type="image/bmp", kind="image", width=150, height=100)
sample("bmp/24-bit.bmp", plain("cat", "150x100", "-type", "TrueColor", "-define", "bmp:format=bmp3"), **B, traits="rgb")
sample("bmp/palette.bmp", plain("cat", "150x100", "-colors", "32", "-type", "Palette", "-define", "bmp:format=bmp3",
                                "-compress", "None"), **B, traits="palette")
sample("bmp/rle.bmp", plain("cat", "150x100", "-colors", "16", "-type", "Palette", "-define", "bmp:format=bmp3",
                            "-compress", "RLE"), **B, traits="palette, rle")


def top_down(kit: Kit, out):
    """Rows from the top, which a negative height says."""
    rows = b"".join(bytes([90, y * 3, x * 2]) for y in range(80) for x in range(120))
    header = (40).to_bytes(4, "little") + (120).to_bytes(4, "little") + (-80).to_bytes(4, "little", signed=True)
    header += b"\x01\0\x18\0" + bytes(4) + len(rows).to_bytes(4, "little") + bytes(16)
    out.write_bytes(b"BM" + (54 + len(rows)).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + header
                    + rows)


sample("bmp/top-down.bmp", top_down, traits="rgb, negative height", type="image/bmp", kind="image", width=120,
       height=80)


def jxl(kit: Kit, out, source, *options):
    kit.run("cjxl", source, out, "--num_threads=0", "-e", "5", *options)


def jxl_alpha(kit: Kit, out):
    transparent(kit, kit.work / "alpha.png", "-resize", "150x100")
    jxl(kit, out, kit.work / "alpha.png", "-d", "0")


X = dict(of="coffee", type="image/jxl")
sample("jxl/coffee.jxl", lambda kit, out: jxl(kit, out, kit.photo("coffee"), "-d", "2"), **X, **COFFEE,
       traits="photograph")
sample("jxl/alpha.jxl", jxl_alpha, **X, kind="image", width=150, height=100, traits="alpha, lossless")
sample("jxl/from-jpeg.jxl", lambda kit, out: (
    orientation(6)(kit, kit.work / "in.jpg"), jxl(kit, out, kit.work / "in.jpg")), **X, **SMALL,
       traits="jpeg inside, orientation 6")
