"""Capture files of records at random (docs/wire.md): sound blocks whose contents make little sense."""
from __future__ import annotations

import random
import struct
import zlib

from wire_reference import LAYOUTS, MAGIC

TEXTS = ["annotation", "range", "step", "loader.fetch", "phase", "gc", "other", "domain", "[1, 2]", "a\nb", 'q"']
KINDS = [2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 14, 15, 15, 15, 15]


def value(code: str, chance: random.Random) -> int | float:
    if code == "d":
        return chance.choice([0.5, float("nan"), 3.0])
    if code in "IQ":
        return chance.randrange(len(TEXTS) + 3)  # the last ones are defined nowhere
    if code == "i":
        return chance.choice([0, 1, 2, 3, -1])
    return chance.choice([0, 1, 5, 100, 1000, -1, -7, chance.randrange(10**6), 2**62])


def record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def block(number: int, chance: random.Random) -> bytes:
    payload = b""
    for text, name in enumerate(TEXTS, 1):
        if chance.random() < 0.95:
            payload += record(1, struct.pack("<I", text) + name.encode())
    for _ in range(chance.randrange(40)):
        kind = chance.choice(KINDS)
        payload += record(kind, struct.pack(LAYOUTS[kind], *(value(code, chance) for code in LAYOUTS[kind][1:])))
    summed = struct.pack("<HHQ", 1, 0, number) + payload
    return struct.pack("<4sII", b"FBLK", len(payload), zlib.crc32(summed)) + summed


def random_capture(seed: int) -> bytes:
    chance = random.Random(seed)
    return MAGIC + b"".join(block(number, chance) for number in range(chance.randrange(1, 4)))
