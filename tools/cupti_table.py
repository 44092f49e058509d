#!/usr/bin/env python3
"""Asks real libraries of CUPTI how long their records are, and what their numbers of calls are called.

    tools/cupti_table.py [--check]

Downloads the packages of NVIDIA's CUPTI on PyPI into build/cupti, loads each in a process of its own and
writes src/capture/cuda/cupti_table.txt, which a test of every build compares with our own layouts. With
--check it writes nothing, and exits with 1 where a library says something else than the table. From 13.2 on
libcupti does not start without a driver: those versions are left out.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "src/capture/cuda/cupti_table.txt"
FOLDER = ROOT / "build/cupti"
PACKAGES = (
    *(
        f"nvidia-cuda-cupti-cu12=={version}"
        for version in (
            "12.0.146",
            "12.1.105",
            "12.2.142",
            "12.3.101",
            "12.4.127",
            "12.5.82",
            "12.6.80",
            "12.8.90",
            "12.9.79",
        )
    ),
    "nvidia-cuda-cupti==13.0.85",
    "nvidia-cuda-cupti==13.1.115",
)
MOST_KINDS = 64
# Domains of callbacks, and the numbers in them that we use.
NAMES = {
    1: (11, 304, 307, 308, 309, 322, 387, 389, 392, 442, 477, 478, 514, 515, 544, 545, 652, 653, 686),
    2: (17, 41, 131, 164, 171, 172, 211, 214, 311, 312, 430, 431, 505, 506),
}
HEADER = """\
# What real libraries of CUPTI say, written by tools/cupti_table.py:
#   record <version> <kind> <bytes from one record of that kind to the next>
#   call <version> <domain: 1 driver, 2 runtime> <number> <name>
"""


def library_of(package: str) -> Path:
    """Of a package, downloaded once."""
    name, version = package.split("==")
    folder = FOLDER / version
    found = sorted(folder.rglob("libcupti.so.*"))
    if not found:
        words = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", str(folder)]
        subprocess.run([*words, package], check=True)
        for wheel in folder.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
            wheel.unlink()
        found = sorted(folder.rglob("libcupti.so.*"))
    if not found:
        raise SystemExit(f"cupti_table: {name} {version} has no libcupti")
    return found[0]


def stride(cupti: ctypes.CDLL, kind: int) -> int:
    """From a record of that kind to the next; 0 where the library has no such kind."""
    size = 4096
    words = (ctypes.c_uint32 * (size // 4))()
    # Wherever the next record is, it is of that kind too.
    for word in range(0, len(words), 2):
        words[word] = kind
    record = ctypes.c_void_p(0)
    at = []
    for _ in range(2):
        if cupti.cuptiActivityGetNextRecord(words, ctypes.c_size_t(size), ctypes.byref(record)):
            return 0
        at.append(record.value or 0)
    return at[1] - at[0]


def ask(path: str) -> list[str]:
    cupti = ctypes.CDLL(path)
    version = ctypes.c_uint32()
    if code := cupti.cuptiGetVersion(ctypes.byref(version)):
        raise SystemExit(f"cupti_table: {path}: cuptiGetVersion says {code}")
    rows = [
        f"record {version.value} {kind} {length}"
        for kind in range(1, MOST_KINDS)
        if (length := stride(cupti, kind))
    ]
    for domain, numbers in NAMES.items():
        for number in numbers:
            name = ctypes.c_char_p()
            if cupti.cuptiGetCallbackName(domain, number, ctypes.byref(name)) == 0 and name.value:
                rows.append(f"call {version.value} {domain} {number} {name.value.decode()}")
    return rows


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--library":
        print(json.dumps(ask(sys.argv[2])))
        return 0
    rows: list[str] = []
    for package in PACKAGES:
        words = [sys.executable, __file__, "--library", str(library_of(package))]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        rows += json.loads(done.stdout.splitlines()[-1])
    # CUDA 12.0 and 12.1 have one version.
    rows = list(dict.fromkeys(rows))
    text = HEADER + "\n".join(rows) + "\n"
    if sys.argv[1:] != ["--check"]:
        TABLE.write_text(text)
        return 0
    known = set(TABLE.read_text().splitlines())
    said = set(text.splitlines())
    for row in sorted(said ^ known):
        print(f"cupti_table: {'only in the table' if row in known else 'not in the table'}: {row}")
    return int(said != known)


if __name__ == "__main__":
    sys.exit(main())
