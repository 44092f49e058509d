"""Files of records as CUPTI wrote them (FATHOM_CUDA_RAW; src/capture/cuda/raw_records.h has their layout): how many of
each kind they hold."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

MAGIC = b"FATHOMRAW1\n"
# CUpti_ActivityKind, of those that the programs make.
KINDS = {
    1: "MEMCPY",
    2: "MEMSET",
    4: "DRIVER",
    5: "RUNTIME",
    8: "DEVICE",
    9: "CONTEXT",
    10: "CONCURRENT_KERNEL",
    17: "OVERHEAD",
    36: "CUDA_EVENT",
    37: "STREAM",
    38: "SYNCHRONIZATION",
    49: "MEMORY2",
    50: "MEMORY_POOL",
    51: "GRAPH_TRACE",
}


class Broken(ValueError):
    """No such file, or one that is cut off."""


def kinds(data: bytes) -> Counter[str]:
    """Records by kind; those of others are called by their number."""
    if not data.startswith(MAGIC):
        raise Broken("it does not begin as a file of CUPTI's records does")
    at = len(MAGIC)

    def number() -> int:
        nonlocal at
        if at + 4 > len(data):
            raise Broken(f"it ends at byte {len(data)}, amid a record")
        (value,) = struct.unpack_from("<I", data, at)
        at += 4
        return int(value)

    def skip(length: int) -> None:
        nonlocal at
        at += length
        if at > len(data):
            raise Broken(f"it ends at byte {len(data)}, amid a record")

    number()  # of CUPTI's version
    found: Counter[str] = Counter()
    for _ in range(number()):
        length, texts = number(), number()
        begin = at
        kind = number()
        skip(length - (at - begin))
        found[KINDS.get(kind, f"kind {kind}")] += 1
        for _ in range(texts):
            number()  # its place
            skip(number())
    return found


def kinds_of(files: Iterable[Path]) -> Counter[str]:
    """Of all of them together."""
    found: Counter[str] = Counter()
    for file in files:
        found += kinds(file.read_bytes())
    return found
