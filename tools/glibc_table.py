"""Reads tools/glibc_2.28.names: which library of glibc 2.28 has which name, in which version."""
from __future__ import annotations

import functools
import pathlib


@functools.cache
def names_of_glibc() -> set[tuple[str, str, str, str]]:
    """(processor, library, version, name)."""
    found = set()
    for line in (pathlib.Path(__file__).resolve().parent / "glibc_2.28.names").read_text().splitlines():
        if line.startswith("  "):
            found |= {(*where, name) for name in line.split()}
        elif not line.startswith("#"):
            where = tuple(line.split())
    return found
