#!/usr/bin/env python3
"""Python's package `nvtx` under libfathom_nvtx.so: its ranges are in the capture file.

Skips where the library was not built (no NVTX headers), was built with sanitizers (which Python lacks), or no Python
with the package is at hand: this one, build/nvtx/bin/python, or what FATHOM_NVTX_PYTHON names. Version 0.2.12 asks the
extension for payloads whether a domain is enabled: where build/nvtx/older or FATHOM_NVTX_OLDER has it, it is tried too.
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
# What a copy of NVTX asks of the extension for payloads (module 2); prints what the library answers for domains.
EXTENSION = """
import ctypes, sys
class Segment(ctypes.Structure):
    _fields_ = [("id", ctypes.c_size_t), ("slots", ctypes.c_size_t), ("functions", ctypes.POINTER(ctypes.c_ssize_t))]
class Extension(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint16) for name in ("version", "size", "module", "compatible")]
    _fields_ += [("count", ctypes.c_size_t), ("segments", ctypes.POINTER(Segment)), ("more", ctypes.c_void_p * 2)]
library = ctypes.CDLL(sys.argv[1])
slots = (ctypes.c_ssize_t * 16)()
segment = Segment(0, int(sys.argv[4]), slots)
module = Extension(3, ctypes.sizeof(Extension), int(sys.argv[2]), int(sys.argv[3], 16), 1, ctypes.pointer(segment))
print(library.InitializeInjectionNvtxExtension(ctypes.byref(module)), [at for at in range(16) if slots[at]])
if slots[7]:
    print(ctypes.CFUNCTYPE(ctypes.c_uint8, ctypes.c_void_p)(slots[7])(None))
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
        self.is_recorded(python, {})

    def test_so_are_those_of_a_version_that_asks_whether_a_domain_is_enabled(self) -> None:
        python = ROOT / "build/nvtx/bin/python"
        older = os.environ.get("FATHOM_NVTX_OLDER") or str(ROOT / "build/nvtx/older")
        if not loadable() or not python.exists() or not pathlib.Path(older, "nvtx").exists():
            self.skipTest(f"needs {LIBRARY.name}, without sanitizers, and nvtx 0.2.12 in {older}")
        self.is_recorded(str(python), {"PYTHONPATH": older})

    def is_recorded(self, python: str, more: dict[str, str]) -> None:
        with tempfile.TemporaryDirectory() as session:
            environment = {**os.environ, **more, "FATHOM_SESSION": session, "NVTX_INJECTION64_PATH": str(LIBRARY)}
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

    def test_of_the_extension_for_payloads_only_that_question_is_answered(self) -> None:
        if not loadable():
            self.skipTest(f"needs {LIBRARY.name}, without sanitizers")

        def answers(*words: str, session: str = "somewhere") -> str:
            command = [sys.executable, "-c", EXTENSION, str(LIBRARY), *words]
            environment = {**os.environ, "FATHOM_SESSION": session}
            return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

        self.assertEqual(answers("2", "104", "16"), "1 [7]\n1\n")
        # Shorter than that, of another layout, another extension; and where nothing is recorded.
        self.assertEqual(answers("2", "104", "7"), "1 []\n")
        self.assertEqual(answers("2", "103", "16"), "1 []\n")
        self.assertEqual(answers("4", "104", "16"), "1 []\n")
        self.assertEqual(answers("2", "104", "16", session=""), "0 []\n")


if __name__ == "__main__":
    unittest.main()
