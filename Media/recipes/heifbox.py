"""The little of HEIF's boxes that heif-enc can't be told."""


def children(data: bytes, start: int, end: int):
    """(type, start of the box, start of its content, end) of each box."""
    while start < end:
        size, kind = int.from_bytes(data[start:start + 4], "big"), data[start + 4:start + 8]
        yield kind, start, start + 8, start + size
        start += size


def find(data: bytes, *path: bytes) -> tuple[int, int, int]:
    start, end, box = 0, len(data), 0
    for name in path:
        box, start, end = next((box, start, end) for kind, box, start, end in children(data, start, end)
                               if kind == name)
        if name == b"meta":
            start += 4
    return box, start, end


def rotated(data: bytes, quarters: int) -> bytes:
    """Adds a rotation by `quarters` of 90 degrees anticlockwise to item 1."""
    return turned(data, b"irot", quarters)


def turned(data: bytes, kind: bytes, value: int) -> bytes:
    """Adds a rotation (`irot`) or a mirroring (`imir`) to item 1, after what it has."""
    _, content, end = find(data, b"meta", b"iprp", b"ipco")
    index = len(list(children(data, content, end))) + 1
    data = insert(data, end, box_of(kind, bytes([value])), b"meta", b"iprp", b"ipco")
    _, content, end = find(data, b"meta", b"iprp", b"ipma")
    version, flags = data[content], data[content + 3]
    assert version == 0 and flags == 0 and int.from_bytes(data[content + 8:content + 10], "big") == 1
    count = data[content + 10]
    data = data[:content + 10] + bytes([count + 1]) + data[content + 11:]
    return insert(data, content + 11 + count, bytes([0x80 | index]), b"meta", b"iprp", b"ipma")


def insert(data: bytes, at: int, more: bytes, *path: bytes) -> bytes:
    """Puts bytes into a box; the boxes around it grow, and the places of the items' data move."""
    changed = bytearray(data)
    for depth in range(len(path)):
        box, _, _ = find(data, *path[: depth + 1])
        changed[box:box + 4] = (int.from_bytes(data[box:box + 4], "big") + len(more)).to_bytes(4, "big")
    _, start, _ = find(data, b"meta", b"iloc")
    version, sizes = data[start], data[start + 4:start + 6]
    assert version in (0, 1) and sizes[0] == 0x44, (version, sizes)
    base_size = sizes[1] >> 4
    place = start + 8
    for _ in range(int.from_bytes(data[start + 6:start + 8], "big")):
        place += 2 + (2 if version == 1 else 0) + 2
        base = int.from_bytes(data[place:place + base_size], "big")
        if base >= at:
            changed[place:place + base_size] = (base + len(more)).to_bytes(base_size, "big")
        place += base_size
        extents = int.from_bytes(data[place:place + 2], "big")
        place += 2
        for _ in range(extents):
            offset = int.from_bytes(data[place:place + 4], "big")
            if not base and offset >= at:
                changed[place:place + 4] = (offset + len(more)).to_bytes(4, "big")
            place += 8
    return bytes(changed[:at]) + more + bytes(changed[at:])


def timeless(data: bytes) -> bytes:
    """Without the times of creation and change, which differ from run to run."""
    changed = bytearray(data)
    for name in (b"mvhd", b"tkhd", b"mdhd"):
        place = data.find(name)
        while place >= 0:
            size = 16 if data[place + 4] == 1 else 8
            changed[place + 8:place + 8 + size] = bytes(size)
            place = data.find(name, place + 4)
    return bytes(changed)


def count_up(data: bytes, at: int) -> bytes:
    return data[:at] + (int.from_bytes(data[at:at + 2], "big") + 1).to_bytes(2, "big") + data[at + 2:]


def tone_mapped(data: bytes) -> bytes:
    """Makes the alpha, item 2, a gain map, as phones have written it since 2024: a third item, `tmap`, tells how it is laid
    over the picture, and is what the gain map belongs to beside the picture itself."""
    alpha = b"urn:mpeg:hevc:2015:auxid:1\0"
    gain_map = b"urn:com:apple:photo:2020:aux:hdrgainmap\0"
    place = data.index(alpha)
    data = insert(data, place, bytes(len(gain_map) - len(alpha)), b"meta", b"iprp", b"ipco")
    box = place - 12
    data = data[:box] + (12 + len(gain_map)).to_bytes(4, "big") + data[box + 4:place] + gain_map + data[place + len(gain_map):]

    _, start, end = find(data, b"meta", b"iinf")
    data = insert(count_up(data, start + 4), end, box_of(b"infe", b"\2\0\0\0\0\3\0\0tmap\0"), b"meta", b"iinf")
    _, start, end = find(data, b"meta", b"iref")
    assert data[start:end] == b"\0\0\0\0" + box_of(b"auxl", b"\0\2\0\1\0\1")
    belongs = box_of(b"auxl", b"\0\2\0\2\0\1\0\3") + box_of(b"dimg", b"\0\3\0\2\0\1\0\2")
    more = len(belongs) - (end - start - 4)
    data = insert(data, end, bytes(more), b"meta", b"iref")
    data = data[:start + 4] + belongs + data[end + more:]
    # Version, flags and nothing more: who draws only the picture doesn't ask.
    metadata = box_of(b"mdat", bytes(62))
    _, start, end = find(data, b"meta", b"iloc")
    # From its base on, in one extent, all of them.
    entry = b"\0\3\0\0" + bytes(4) + b"\0\1" + bytes(4) + (62).to_bytes(4, "big")
    data = count_up(insert(data, end, entry, b"meta", b"iloc"), start + 6)
    place = end + 4
    data = data[:place] + (len(data) + 8).to_bytes(4, "big") + data[place + 4:]
    return data + metadata


def box_of(kind: bytes, content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + kind + content
