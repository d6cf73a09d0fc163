"""Colour profiles, computed: matrix and curve, as small as the format allows."""

# Primaries adapted to D50, from the ICC profiles that Apple and Adobe publish.
DISPLAY_P3 = ((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))
ADOBE_RGB = ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))
D50 = (0.96420, 1.0, 0.82491)


def fixed(value: float) -> bytes:
    return round(value * 65536).to_bytes(4, "big", signed=True)


def profile(name: str, primaries, curve: list[float], *, padding: int = 0) -> bytes:
    """A version 4 display profile; `curve` is a parametric curve's parameters (1: a gamma, 5: sRGB's form)."""
    def text(value):
        data = value.encode("utf-16-be")
        return b"mluc\0\0\0\0" + (1).to_bytes(4, "big") + (12).to_bytes(4, "big") + b"enUS" + len(data).to_bytes(
            4, "big") + (28).to_bytes(4, "big") + data

    def xyz(values):
        return b"XYZ \0\0\0\0" + b"".join(map(fixed, values))

    kind = {1: 0, 5: 3}[len(curve)]
    trc = b"para\0\0\0\0" + kind.to_bytes(2, "big") + b"\0\0" + b"".join(map(fixed, curve))
    tags = {b"desc": text(name), b"cprt": text("Public domain"), b"wtpt": xyz(D50), b"rXYZ": xyz(primaries[0]),
            b"gXYZ": xyz(primaries[1]), b"bXYZ": xyz(primaries[2]), b"rTRC": trc, b"gTRC": trc, b"bTRC": trc}
    if padding:
        tags[b"pad "] = b"data\0\0\0\0\0\0\0\0" + bytes(padding)
    table, body, places = b"", b"", {}
    start = 128 + 4 + 12 * len(tags)
    for tag, data in tags.items():
        if data not in places:
            places[data] = start + len(body)
            body += data + bytes(-len(data) % 4)
        table += tag + places[data].to_bytes(4, "big") + len(data).to_bytes(4, "big")
    size = start + len(body)
    header = size.to_bytes(4, "big") + bytes(4) + b"\x04\x20\0\0mntrRGB XYZ " + bytes([7, 232, 0, 1, 0, 1]) + bytes(6)
    header += b"acsp" + bytes(28) + b"".join(map(fixed, D50))
    return header.ljust(128, b"\0") + len(tags).to_bytes(4, "big") + table + body


SRGB_CURVE = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]


def display_p3(**options) -> bytes:
    return profile("Display P3", DISPLAY_P3, SRGB_CURVE, **options)


def adobe_rgb() -> bytes:
    return profile("Adobe RGB (1998) compatible", ADOBE_RGB, [2.19921875])
