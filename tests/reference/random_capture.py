"""Capture files of records at random (docs/wire.md): sound blocks whose contents make little sense."""
from __future__ import annotations

import random
import struct
import zlib

from wire_reference import LAYOUTS, MAGIC

TEXTS = ["annotation", "range", "step", "loader.fetch", "phase", "gc", "other", "domain", "[1, 2]", "a\nb", 'q"']
DEVICE_TEXTS = [
    "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "cuda_graph", "cuda_runtime", "overhead.device", "HtoD", "DtoA",
    "Pinned", "Device", "Managed", "Event Sync", "device_properties.0", "device_properties.1",
    '{"id": 0, "name": "GPU", "totalGlobalMem": 8000, "numSms": 7, "warpSize": 32}', '{"id": 1, "numSms": 1.5}',
]  # fmt: skip
FACTS = [("device_properties.0", DEVICE_TEXTS[-2]), ("device_properties.1", DEVICE_TEXTS[-1])]
KINDS = [2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 14, 15, 15, 15, 15, 22, 22, 23, 23, 23, 24, 24, 24]
DEVICE_KINDS = [2, 3, 4, 5, 6, 7, 8, 10, 11, 11, 15, 15, *[16] * 9, 17, 17, 17, 18, 18, 18, 19, 19, 19, 20, 20, 21, 21]


def value(code: str, chance: random.Random, texts: int) -> int | float:
    if code == "d":
        return chance.choice([0.5, float("nan"), 3.0])
    if code in "IQ":
        return chance.randrange(texts + 3)  # the last ones are defined nowhere
    if code == "i":
        return chance.choice([0, *[1, 2, 3] * 6, -1])
    return chance.choice([0, 1, 5, 100, 1000, -1, -7, chance.randrange(10**6), 2**62])


def record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def block(number: int, chance: random.Random, texts: list[str], kinds: list[int]) -> bytes:
    payload = b""
    for text, name in enumerate(texts, 1):
        if chance.random() < 0.95:
            payload += record(1, struct.pack("<I", text) + name.encode())
    for key, fact in FACTS:
        if key in texts and chance.random() < 0.7:
            payload += record(11, struct.pack("<iII", 0, texts.index(key) + 1, texts.index(fact) + 1))
    for _ in range(chance.randrange(40)):
        kind = chance.choice(kinds)
        for each in [16, chance.choice([17, 17, 18, 19])] if kind == 16 else [kind]:
            fields = (value(code, chance, len(texts)) for code in LAYOUTS[each][1:])
            payload += record(each, struct.pack(LAYOUTS[each], *fields))
    summed = struct.pack("<HHQ", 1, 0, number) + payload
    return struct.pack("<4sII", b"FBLK", len(payload), zlib.crc32(summed)) + summed


def random_capture(seed: int, devices: bool = False) -> bytes:
    """With `devices`, most records are of what devices did."""
    chance = random.Random(seed)
    texts, kinds = (DEVICE_TEXTS, DEVICE_KINDS) if devices else (TEXTS, KINDS)
    return MAGIC + b"".join(block(number, chance, texts, kinds) for number in range(chance.randrange(1, 4)))
