"""Text that must not survive, and the structures in which several formats carry it."""

import struct

MARK = b"SATCHEL-CANARY"
# Also drawn as numbers: GPS fields have them as fractions.
LATITUDE, LONGITUDE = 12.3456, 98.7654


class Places:
    """The places of one file in which a canary was put."""

    def __init__(self, name: str):
        self.name = name
        self.used: list[str] = []

    def __call__(self, place: str) -> bytes:
        self.used.append(place)
        return self.text(place)

    def text(self, place: str) -> bytes:
        """The same canary again."""
        return b"%s-%s-%s" % (MARK, self.name.encode(), place.replace(" ", "-").encode())

    def wide(self, place: str, encoding: str = "utf-16-le") -> bytes:
        return self(place).decode().encode(encoding)


def fraction(value: float) -> bytes:
    """A GPS coordinate as TIFF has it: degrees, minutes, seconds."""
    degrees = int(value)
    minutes = int((value - degrees) * 60)
    seconds = ((value - degrees) * 60 - minutes) * 60
    return struct.pack("<6I", degrees, 1, minutes, 1, round(seconds * 10000), 10000)


class Tiff:
    """A TIFF, written from its end to its beginning: what is referred to comes before what refers."""

    SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1}

    def __init__(self):
        self.data = bytearray(b"II*\0\0\0\0\0")

    def put(self, data: bytes) -> int:
        if len(self.data) % 2:
            self.data += b"\0"
        self.data += data
        return len(self.data) - len(data)

    def directory(self, entries, following: int = 0) -> int:
        fields = []
        for tag, kind, value in sorted(entries):
            if isinstance(value, int):
                value = struct.pack("<H" if kind == 3 else "<I", value)
            count = len(value) // self.SIZES[kind]
            inline = value.ljust(4, b"\0") if len(value) <= 4 else struct.pack("<I", self.put(value))
            fields.append(struct.pack("<HHI", tag, kind, count) + inline)
        return self.put(struct.pack("<H", len(fields)) + b"".join(fields) + struct.pack("<I", following))

    def finish(self, first: int) -> bytes:
        self.data[4:8] = struct.pack("<I", first)
        return bytes(self.data)


def descriptive_fields(p: Places):
    """What every directory of a picture may say of it."""
    named = {0x010E: "ImageDescription", 0x010F: "Make", 0x0110: "Model", 0x0131: "Software", 0x013B: "Artist",
             0x013C: "HostComputer", 0x8298: "Copyright", 0x010D: "DocumentName", 0x011D: "PageName"}
    fields = [(tag, 2, p(f"EXIF {name}") + b"\0") for tag, name in named.items()]
    fields += [(0x0132, 2, b"2001:02:03 04:05:06\0"), (0x9C9B, 1, p.wide("EXIF XPTitle") + b"\0\0"),
               (0x9C9C, 1, p.wide("EXIF XPComment") + b"\0\0"), (0xFDE8, 7, p("EXIF private tag"))]
    return fields


def exif_directories(p: Places, tiff: Tiff):
    """The pointers to the directories of EXIF, GPS and interoperability."""
    interoperability = tiff.directory([(1, 2, b"R98\0"), (0x1000, 2, p("EXIF Interop RelatedImageFileFormat") + b"\0")])
    named = {0xA420: "ImageUniqueID", 0xA430: "CameraOwnerName", 0xA431: "BodySerialNumber", 0xA433: "LensMake",
             0xA434: "LensModel", 0xA435: "LensSerialNumber"}
    exif = tiff.directory(
        [(tag, 2, p(f"EXIF {name}") + b"\0") for tag, name in named.items()]
        + [(0x9000, 7, b"0232"), (0x9003, 2, b"2001:02:03 04:05:06\0"),
           (0x9286, 7, b"ASCII\0\0\0" + p("EXIF UserComment")), (0x927C, 7, b"APPLEX\0" + p("EXIF MakerNote")),
           (0xA005, 4, interoperability)])
    gps = tiff.directory(
        [(0, 1, b"\2\3\0\0"), (1, 2, b"N\0"), (2, 5, fraction(LATITUDE)), (3, 2, b"E\0"), (4, 5, fraction(LONGITUDE)),
         (0x1B, 7, b"ASCII\0\0\0" + p("EXIF GPSProcessingMethod")),
         (0x1C, 7, b"ASCII\0\0\0" + p("EXIF GPSAreaInformation"))])
    return [(0x8769, 4, exif), (0x8825, 4, gps)]


def exif(p: Places, thumbnail: bytes) -> bytes:
    """An EXIF block with everything that one can hold."""
    tiff = Tiff()
    tiff.put(p("EXIF gap between directories"))
    shown = tiff.put(thumbnail)
    small = tiff.directory([(0x0103, 3, 6), (0x010E, 2, p("EXIF IFD1 ImageDescription") + b"\0"), (0x0201, 4, shown),
                            (0x0202, 4, len(thumbnail))])
    first = tiff.directory(descriptive_fields(p) + exif_directories(p, tiff), small)
    return tiff.finish(first)


def xmp(p: Places, more: str = "") -> bytes:
    text = p("XMP").decode()
    return f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="{text}">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:exif="http://ns.adobe.com/exif/1.0/"
 xmlns:xmpNote="http://ns.adobe.com/xmp/note/" dc:source="{text}" exif:GPSLatitude="12,20.736N"
 exif:GPSLongitude="98,45.924E" {more}/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>""".encode()


def photoshop(p: Places, thumbnail: bytes) -> bytes:
    """Photoshop's resources: IPTC, a thumbnail, a caption, and one of nobody's."""
    def resource(number: int, data: bytes) -> bytes:
        return b"8BIM" + struct.pack(">H", number) + b"\0\0" + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)

    def record(number: int, data: bytes) -> bytes:
        return struct.pack(">BBBH", 0x1C, 2, number, len(data)) + data

    iptc = b"".join(record(number, p(f"IPTC {name}")) for number, name in
                    [(5, "ObjectName"), (80, "By-line"), (90, "City"), (116, "CopyrightNotice"), (120, "Caption")])
    picture = struct.pack(">IIIIIIHH", 1, 160, 120, 480, 57600, len(thumbnail), 24, 1) + thumbnail
    return resource(0x0404, iptc) + resource(0x040C, picture) + resource(0x0FA0, p("Photoshop resource"))


def profile(p: Places) -> bytes:
    """sRGB's primaries with a plain gamma, and text wherever a profile has some."""
    def number(value: float) -> bytes:
        return struct.pack(">i", round(value * 65536))

    def xyz(*values: float) -> bytes:
        return b"XYZ \0\0\0\0" + b"".join(number(value) for value in values)

    def described(place: str) -> bytes:
        text = b"sRGB " + p(place) + b"\0"
        return b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * 78

    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, 563)
    tags = {
        b"desc": described("ICC description"), b"cprt": b"text\0\0\0\0" + p("ICC copyright") + b"\0",
        b"dmnd": described("ICC manufacturer"), b"dmdd": described("ICC model"), b"vued": described("ICC viewing"),
        b"wtpt": xyz(0.9642, 1, 0.8249), b"rXYZ": xyz(0.4361, 0.2225, 0.0139), b"gXYZ": xyz(0.3851, 0.7169, 0.0971),
        b"bXYZ": xyz(0.1431, 0.0606, 0.7141), b"rTRC": curve, b"gTRC": curve, b"bTRC": curve,
        b"cana": b"data\0\0\0\0\0\0\0\0" + p("ICC private tag"),
    }
    table, body = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        table += name + struct.pack(">II", start + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    body += p("ICC trailing data")
    body += b"\0" * (-len(body) % 4)
    head = struct.pack(">I4sI4s4s4s", start + len(body), b"none", 0x02100000, b"mntr", b"RGB ", b"XYZ ")
    head += struct.pack(">6H", 2001, 2, 3, 4, 5, 6) + b"acsp" + b"\0" * 28 + number(0.9642) + number(1) + number(0.8249)
    return head.ljust(128, b"\0") + table + body
