#!/usr/bin/env python3
"""Asks real libraries of CUPTI how long their records are, and what their numbers of calls are called; and their
headers how long the structures are that its functions take.

    tools/cupti_table.py [--check [VERSION...]]

Downloads the packages of NVIDIA's CUPTI on PyPI into build/cupti, loads each in a process of its own and
writes src/capture/cuda/cupti_table.txt, which a test of every build compares with our own layouts. With
--check it writes nothing, and exits with 1 where a library says something else than the table; with versions, as
12.8.90, it asks those libraries alone. From 13.2 on
libcupti does not start without a driver: FATHOM_REAL_DRIVER names a folder with the libcuda.so.1 of one, of any
version and without a GPU. Without that variable what those libraries say stays as it is, and their headers are
asked alone, for records too. The library of CUDA 11.8 is asked only how the recorder knows it. Needs g++, and
the headers of `tools/setup cuda`.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
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
# They do not start without a driver.
DRIVER = os.environ.get("FATHOM_REAL_DRIVER", "")
FIRST_WITH_DRIVER = 130200
HEADERS = tuple(
    f"nvidia-cuda-cupti=={version}"
    for version in ("13.2.23", "13.2.75", "13.2.86", "13.3.75", "13.4.92", "13.5.25")
)
OLD_SYMBOLS = "libcupti.so.11.8"
REFUSED = "nvidia-cuda-cupti-cu11==11.8.87"
FIRST_SIZED = "nvidia-cuda-cupti-cu12==12.6.80"
# Headers of functions that take structures with their own size in them.
SIZED = ("cupti_target.h", "cupti_profiler_target.h", "cupti_profiler_host.h", "cupti_pmsampling.h", "cupti_range_profiler.h")
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
#   refused <version> <library, whose symbols are those of CUDA 11.8: the recorder refuses it>
# and what their headers say of those that start with a driver only, and of structures:
#   header <version> <kind> <bytes of its record, whole words of eight>
#   size <first version> <structure> <bytes that its functions take; 0: none any more>
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


def headers_of(package: str) -> Path:
    return next((library_of(package).parent.parent / "include").glob("cupti.h")).parent


def compiled(package: str, names: list[str]) -> list[tuple[str, int]]:
    """The version of a package's headers, and what these names are to a compiler."""
    include = headers_of(package)
    major = "13" if include.parent.name == "cu13" else "12"
    runtime = [
        file.parent for file in ROOT.glob(f"build/cuda{major}/lib/python3*/site-packages/nvidia/*/include/cuda.h")
    ]
    if not runtime:
        raise SystemExit(f"cupti_table: no headers of CUDA {major}: tools/setup cuda")
    lines = [f"#include <{name}>" for name in ("cstdio", "cupti.h", *SIZED)] + ["int main() {"]
    lines += [
        f'  std::printf("%s %zu\\n", "{name}", static_cast<std::size_t>({name}));'
        for name in ("CUPTI_API_VERSION", *names)
    ]
    source = FOLDER / "sizes.cc"
    source.write_text("\n".join([*lines, "}", ""]))
    program = FOLDER / "sizes"
    stand_in = ROOT / "src/capture/cuda/without_nvcc"
    words = ["g++", f"-I{include}", "-isystem", str(runtime[0]), "-idirafter", str(stand_in)]
    subprocess.run([*words, "-o", str(program), str(source)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    pairs = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    return [(name, int(value)) for name, value in pairs]


def sizes(package: str) -> tuple[int, dict[str, int]]:
    """The version, and by structure the size that its functions take."""
    found: list[str] = []
    for name in SIZED:
        text = (headers_of(package) / name).read_text(errors="replace")
        found += re.findall(r"#define\s+(CUpti_\w+_STRUCT_SIZE)\b", text)
    (_, version), *rest = compiled(package, found)
    return version, {name.removesuffix("_STRUCT_SIZE"): value for name, value in rest}


def records_of_headers(package: str) -> list[str]:
    """As long as the structure that the comment of a kind names."""
    text = (headers_of(package) / "cupti_activity.h").read_text(errors="replace")
    have = set(re.findall(r"^}\s*(CUpti_Activity\w+);", text, re.MULTILINE))
    kinds: dict[int, str] = {}
    kind = r"/\*\*((?:(?!\*/).)*)\*/\s*CUPTI_ACTIVITY_KIND_\w+\s*=\s*(\d+)"
    for comment, number in re.findall(kind, text, re.DOTALL):
        for name in re.findall(r"CUpti_Activity\w+", comment):
            if name in have:
                kinds.setdefault(int(number), name)
    names = [f"sizeof({name})" for name in kinds.values()]
    (_, version), *rest = compiled(package, names)
    return [
        f"header {version} {kind} {(value + 7) // 8 * 8}" for kind, (_, value) in zip(kinds, rest, strict=True)
    ]


def changes_of_sizes(packages: tuple[str, ...]) -> list[str]:
    rows = []
    last: dict[str, int] = {}
    for package in packages:
        version, now = sizes(package)
        for name in {**last, **now}:
            if last.get(name) != now.get(name):
                rows.append(f"size {version} {name} {now.get(name, 0)}")
        last = now
    return rows


def old_symbol(cupti: ctypes.CDLL) -> bool:
    """What the recorder knows CUDA 11.8 by, whose library says the version of 12.0."""
    find = ctypes.CDLL(None).dlvsym
    find.restype = ctypes.c_void_p
    find.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    return find(cupti._handle, b"cuptiGetVersion", OLD_SYMBOLS.encode()) is not None


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
    if old_symbol(cupti):
        return [f"refused {version.value} {Path(path).name}"]
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


def asked(package: str) -> list[str]:
    words = [sys.executable, __file__, "--library", str(library_of(package))]
    environment = {**os.environ, **({"LD_LIBRARY_PATH": DRIVER} if DRIVER else {})}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def is_kept(row: str) -> bool:
    """What only a library says that needs a driver."""
    what, version, *_ = row.split()
    return what in ("record", "call") and int(version) >= FIRST_WITH_DRIVER


def check_versions(versions: list[str]) -> int:
    """What the libraries of these versions alone say."""
    chosen = [package for package in PACKAGES if package.split("==")[1] in versions]
    if len(chosen) != len(versions):
        raise SystemExit("cupti_table: the versions are " + ", ".join(package.split("==")[1] for package in PACKAGES))
    known = set(TABLE.read_text().splitlines())
    others = [row for package in chosen for row in asked(package) if row not in known]
    for row in others:
        print(f"cupti_table: not in the table: {row}")
    return int(bool(others))


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--library":
        print(json.dumps(ask(sys.argv[2])))
        return 0
    if len(sys.argv) > 2 and sys.argv[1] == "--check":
        return check_versions(sys.argv[2:])
    rows: list[str] = []
    for package in (REFUSED, *PACKAGES, *(HEADERS if DRIVER else ())):
        rows += asked(package)
    if not DRIVER:
        lines = TABLE.read_text().splitlines()
        rows += [line for line in lines if not line.startswith("#") and is_kept(line)]
    for package in HEADERS:
        rows += records_of_headers(package)
    # Older headers know no sampling of counters.
    rows += changes_of_sizes((*PACKAGES[PACKAGES.index(FIRST_SIZED) :], *HEADERS))
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
