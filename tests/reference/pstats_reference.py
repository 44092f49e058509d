"""Reads profiles of cProfile by Python's own marshal: only files of ours, for it believes what they say."""

from __future__ import annotations

import marshal
from fractions import Fraction


def is_pstats(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 0x7F == ord("{") and data[1] & 0x7F in b"()"


def nanoseconds(seconds: float) -> int:
    """Half away from zero, of the product as a double; what rounding left below zero is zero."""
    exact = Fraction(seconds * 1e9)
    return max(0, int(exact + Fraction(1, 2)))


def pstats_lines(data: bytes) -> dict[str, list[str]]:
    lines = []
    for (file, line, name), (_, calls, own, total, _) in marshal.loads(data).items():
        fields = ("-", file, name, line, calls, nanoseconds(total), nanoseconds(own))
        lines.append("|".join(["function", *map(str, fields)]))
    return {"functions": lines}
