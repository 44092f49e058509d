#!/usr/bin/env python3
"""Python's package `nvtx` under libfathom_nvtx.so: its ranges are in the capture file.

Skips where the library was not built (no NVTX headers), was built with sanitizers (which Python lacks), or no Python
with the package is at hand: this one, build/nvtx/bin/python, or what FATHOM_NVTX_PYTHON names.
"""

from __future__ import annotations

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
LIBRARY = pathlib.Path(os.environ.get("FATHOM", ROOT / "build/release/fathom")).parent / "libfathom_nvtx.so"
PYTHONS = (
    os.environ.get("FATHOM_NVTX_PYTHON", ""),
    sys.executable,
    str(ROOT / "build/nvtx/bin/python"),
)
PROGRAM = """
import os, threading, nvtx

@nvtx.annotate("decorated", color="blue")
def work():
    with nvtx.annotate("inner", domain="library", category="io", payload=3):
        pass

work()
nvtx.mark("a mark")
started = nvtx.start_range("started")
thread = threading.Thread(target=lambda: nvtx.end_range(started))
thread.start()
thread.join()
nvtx.push_range("pushed \\u00e9")
nvtx.pop_range()
os._exit(0)
"""
STRING, SLICE, INSTANT, ARGUMENT = 1, 5, 8, 15


def records(path: pathlib.Path) -> list[tuple[str, str, dict[str, str]]]:
    """Slices and instants of a capture file (docs/wire.md): category, name, arguments."""
    data = path.read_bytes()
    found: list[tuple[str, str, dict[str, str]]] = []
    at = 8
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 4)[0]
        at, end = at + 24, at + 24 + size
        texts = {0: ""}
        while at < end:
            kind, length = struct.unpack_from("<HH", data, at)
            body = data[at + 4 : at + 4 + length]
            at += 4 + length
            if kind == STRING:
                texts[struct.unpack_from("<I", body)[0]] = body[4:].decode()
            elif kind == SLICE:
                name, category = struct.unpack_from("<II", body, 28)
                found.append((texts[category], texts[name], {}))
            elif kind == INSTANT:
                name = struct.unpack_from("<I", body, 20)[0]
                found.append(("instant", texts[name], {}))
            elif kind == ARGUMENT:
                key, value = struct.unpack("<II", body)
                found[-1][2][texts[key]] = texts[value]
    return found


def loadable() -> bool:
    """Whether a program without sanitizers can load the library."""
    return LIBRARY.exists() and b"__asan_init" not in LIBRARY.read_bytes()


def python_with_nvtx() -> str | None:
    for python in PYTHONS:
        if python and subprocess.run([python, "-c", "import nvtx"], capture_output=True, check=False).returncode == 0:
            return python
    return None


class PythonsNvtx(unittest.TestCase):
    def test_its_ranges_are_recorded_with_their_attributes_although_it_leaves_by_os_exit(self) -> None:
        python = python_with_nvtx() if loadable() else None
        if python is None:
            self.skipTest(f"needs {LIBRARY.name}, without sanitizers, and a Python with the package nvtx")
        with tempfile.TemporaryDirectory() as session:
            environment = {**os.environ, "FATHOM_SESSION": session, "NVTX_INJECTION64_PATH": str(LIBRARY)}
            subprocess.run([python, "-c", PROGRAM], env=environment, check=True)
            files = list(pathlib.Path(session).glob("nvtx-*.fathom"))
            self.assertEqual(len(files), 1)
            found = {(category, name): arguments for category, name, arguments in records(files[0])}
        self.assertIn("color", found["annotation", "decorated"])
        inner = found["annotation", "inner"]
        self.assertEqual(inner.get("domain"), "library")
        self.assertEqual(inner.get("category"), "io")
        self.assertEqual(inner.get("payload"), "3")
        self.assertIn(("instant", "a mark"), found)
        self.assertIn(("range", "started"), found)
        self.assertIn(("annotation", "pushed \u00e9"), found)


if __name__ == "__main__":
    unittest.main()
