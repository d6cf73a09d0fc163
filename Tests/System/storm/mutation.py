"""Changes to a file, each a kind of its own: bytes and a generator in, bytes out. All kinds keep what they change within three times
its length."""

import random
import struct

# What lengths and counts are changed to, beside one more and one less.
ODD = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]
# Boxes of the MP4 family that others stand in.
BOXES = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"meta", b"iprp", b"ipco", b"edts", b"udta", b"moof", b"traf"]


def place(data, generator):
    """Mostly in the first kilobytes, where headers are."""
    most = len(data) if generator.random() < 0.4 else min(len(data), 2048)
    return generator.randrange(most)


def piece(data, generator):
    start = place(data, generator)
    return start, min(len(data), start + 1 + int(generator.expovariate(1 / 200)))


def bits(data, generator):
    changed = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 4, 16, 64])):
        changed[place(data, generator)] ^= 1 << generator.randrange(8)
    return bytes(changed)


def lengths(data, generator):
    """Numbers of two or four bytes, in either order."""
    changed = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 3])):
        form = generator.choice([">H", "<H", ">I", "<I"])
        width = struct.calcsize(form)
        if len(data) < width:
            return bits(data, generator)
        at = min(place(data, generator), len(data) - width)
        old, = struct.unpack_from(form, changed, at)
        new = generator.choice(ODD + [old + 1, old - 1, old * 2]) & (1 << 8 * width) - 1
        struct.pack_into(form, changed, at, new)
    return bytes(changed)


def end(data, generator):
    return data[:generator.randrange(len(data))]


def cut(data, generator):
    start, stop = piece(data, generator)
    return data[:start] + data[stop:]


def doubled(data, generator):
    start, stop = piece(data, generator)
    return data[:stop] + data[start:stop] * generator.choice([1, 1, 3, 20]) + data[stop:]


def swapped(data, generator):
    (a, b), (c, d) = sorted([piece(data, generator), piece(data, generator)])
    c = max(b, c)
    d = max(c, d)
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def nested(data, generator):
    """A box in a box of its kind, up to hundreds deep; of files without boxes, the file within itself."""
    found = [at for kind in BOXES if (at := data.find(kind)) >= 4]
    if not found:
        at = place(data, generator)
        return data[:at] + data[:min(len(data), 1 << 16)] + data[at:]
    at = generator.choice(found) - 4
    size = int.from_bytes(data[at:at + 4])
    if not 8 <= size <= len(data) - at:
        return lengths(data, generator)
    box, kind = data[at:at + size], data[at + 4:at + 8]
    for _ in range(generator.choice([1, 2, 10, 400])):
        box = (len(box) + 8).to_bytes(4) + kind + box
        if len(box) > 2 * len(data) + 4096:
            break
    return data[:at] + box + data[at + size:]


def foreign(data, generator, other):
    """The beginning of one and the end of another."""
    return data[:place(data, generator)] + other[place(other, generator):]


KINDS = {f.__name__: f for f in (bits, lengths, end, cut, doubled, swapped, nested)}


def mutant(seed, number, samples):
    """Number so many of a seed: its kind, the name of its sample, its bytes."""
    generator = random.Random(f"{seed}:{number}")
    name, data = generator.choice(samples)
    kind = generator.choice([*KINDS, "foreign"])
    if kind == "foreign":
        return kind, name, foreign(data, generator, generator.choice(samples)[1])
    changed = KINDS[kind](data, generator)
    # Every fourth is changed twice.
    if changed and generator.random() < 0.25:
        changed = KINDS[generator.choice(["bits", "lengths"])](changed, generator)
    return kind, name, changed
