#!/usr/bin/env python3
"""Writes Sources/Codec/CJPEG/picture.h: a JPEG that needs all of a decoder of Huffman codes, in a few hundred bytes.

Codes of 2 to 16 bits, runs over 16 zeros, values of 1 to 10 bits, blocks with and without an end, bytes of 255, halved
colours with tables of their own, and restarts.
"""

import random

chance = random.Random(13)
SYMBOLS = [0x01, 0x00, 0x11, 0x02, 0x21, 0x03, 0x31, 0x51, 0x12, 0x05, 0xF0, 0xF1, 0x62, 0x0A, 0x93]


def codes(symbols):
    """Two codes of 3 bits, then one of each length, as a DHT segment has them and by symbol."""
    lengths = [3, 3] + list(range(2 if len(symbols) < 12 else 4, 17))
    lengths = sorted(lengths[: len(symbols)])
    made, code, before = {}, 0, 0
    for symbol, length in zip(symbols, lengths):
        code <<= length - before
        made[symbol] = (code, length)
        code, before = code + 1, length
    return bytes(lengths.count(n) for n in range(1, 17)) + bytes(symbols), made


class Bits:
    def __init__(self):
        self.text = ""

    def add(self, value, count):
        if count:
            self.text += format(value & ((1 << count) - 1), f"0{count}b")

    def value(self, number, size):
        self.add(number if number > 0 else number - 1, size)

    def bytes(self):
        text = self.text + "1" * (-len(self.text) % 8)
        return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8)).replace(b"\xff", b"\xff\x00")


def number(size):
    return chance.choice([-1, 1]) * chance.randrange(1 << (size - 1), 1 << size) if size else 0


def block(bits, dc, ac):
    size = chance.choice(list(dc))
    bits.add(*dc[size])
    bits.value(number(size), size)
    at = 1
    while at < 64:
        fitting = [s for s in ac if (s and at + (s >> 4) < 64) or (not s and at > 3)]
        # Large values are few, so that samples aren't all 0 or 255.
        symbol = chance.choice([s for s in fitting if s & 15 < 5 or chance.random() < 0.1])
        bits.add(*ac[symbol])
        if not symbol:
            return
        bits.value(number(symbol & 15), symbol & 15)
        at += (symbol >> 4) + 1


def segment(marker, body):
    return bytes([255, marker]) + (len(body) + 2).to_bytes(2, "big") + body


dc = [codes([1, 2, 0, 3, 4, 5]), codes([0, 3, 1, 2])]
ac = [codes(SYMBOLS), codes(SYMBOLS[::-1])]
data = b""
for mcu in range(4):
    bits = Bits()
    for component in [0, 0, 0, 0, 1, 1]:
        block(bits, dc[component][1], ac[component][1])
    data += bits.bytes() + (bytes([255, 0xD0 + mcu]) if mcu < 3 else b"")
picture = b"\xff\xd8" + segment(0xDB, bytes([0]) + bytes([2] * 64))
# 25 by 29 pixels: two rows of two MCUs.
picture += segment(0xC0, bytes([8, 0, 29, 0, 25, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]))
for index in range(2):
    picture += segment(0xC4, bytes([index]) + dc[index][0]) + segment(0xC4, bytes([16 + index]) + ac[index][0])
picture += segment(0xDD, bytes([0, 1])) + segment(0xDA, bytes([3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])) + data + b"\xff\xd9"

print("// Written by Tests/Fuzz/huffman/picture.py, which says what is in it.")
print("static const unsigned char picture[] = {")
line = "   "
for byte in picture:
    if len(line) + len(f" {byte},") > 120:
        print(line)
        line = "   "
    line += f" {byte},"
print(line)
print("};")
