"""Small pictures, each of bytes of its own."""
import random
import struct
import zlib


def png(name, side=64, level=6):
    """Noise that follows from its name."""
    chance = random.Random(name)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + chance.randbytes(side * 3) for _ in range(side))
    return b"".join((
        b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        chunk(b"IDAT", zlib.compress(rows, level)), chunk(b"IEND", b"")))
