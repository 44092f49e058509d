#!/usr/bin/env python3
"""Seeds for the fuzzer of pstats, in each version of marshal.   tests/fuzz/make_pstats_corpus.py"""

from __future__ import annotations

import marshal
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus/pstats"


def python2() -> bytes:
    """As Python 2 has it: interned texts with numbers, and long integers."""

    def text(value: bytes) -> bytes:
        return b"t" + struct.pack("<I", len(value)) + value

    def integer(value: int) -> bytes:
        return b"i" + struct.pack("<i", value)

    first = b"(" + struct.pack("<I", 3) + text(b"a.py") + integer(1) + text(b"f")
    second = b"(" + struct.pack("<I", 3) + b"R" + struct.pack("<I", 0) + integer(2) + text(b"g")
    times = b"f\x030.5" + b"g" + struct.pack("<d", 1.5)
    long = b"l" + struct.pack("<iHH", 2, 1, 1)
    callers = b"{" + first + b"(" + struct.pack("<I", 4) + integer(1) * 2 + times + b"0"
    row = b"(" + struct.pack("<I", 5) + integer(1) + long + times
    return b"{" + first + row + b"{0" + second + row + callers + b"0"


def main() -> None:
    CORPUS.mkdir(parents=True, exist_ok=True)
    main_ = ("train.py", 1, "<module>")
    step = ("train.py", 12, "step")
    length = ("~", 0, "<built-in method builtins.len>")
    stats = {
        main_: (1, 1, 0.25, 2.0, {}),
        step: (10, 15, 1.5, 1.75, {main_: (10, 10, 1.0, 1.75), step: (5, 5, 0.5, 0.5)}),
        length: (100, 100, 0.25, 0.25, {step: (100, 100, 0.25, 0.25)}),
    }
    for version in range(5):
        (CORPUS / f"version_{version}").write_bytes(marshal.dumps(stats, version))
    (CORPUS / "python2").write_bytes(python2())
    odd = {(None, True, ...): (frozenset([1]), [2**100], -(2**40), 1j, b"x"), "text": 1.5}
    for version in (1, 4):
        (CORPUS / f"odd_{version}").write_bytes(marshal.dumps(odd, version))


main()
