#!/usr/bin/env python3
"""Holds the table of who may include whom, and checks it against every #include and import.

    tools/check_layers.py              check this repository; prints file:line of each breach
    tools/check_layers.py --root DIR   check another tree
    tools/check_layers.py --self-test  show that a bad include is found
    tools/check_layers.py --table      print the table

The table is the architecture (docs/design.md, section 2). A room may always include itself.
"""
import argparse
import pathlib
import re
import sys
import tempfile

# room of src/ -> rooms it may include.
ROOMS = {
    "base": "",
    "stats": "base",
    "wire": "base",
    "capture": "base wire",
    "monitor": "base wire",
    "sample": "base capture",
    "store": "base",
    "formats": "base wire store",
    "export": "base store formats",
    "analysis": "base stats store",
    "replay": "base stats store analysis",
    "reports": "base stats store analysis replay",
    "rules": "base stats store analysis replay",
    "measure": "base stats capture monitor engine record",
    "engine": "base stats wire store formats export analysis replay reports rules",
    "compare": "base stats store analysis replay engine",
    "record": "base wire capture monitor sample engine",
    "render": "base engine compare",
    "server": "base store analysis replay engine compare render",
    "cli": "base engine compare render server capture record measure sample",
    "python": "base stats engine render server capture record measure",
}

# Folders of a room -> those of the same room that they may include; "." is the room's own folder. A room that
# is not here has none. Tests may include all of their room.
FOLDERS = {
    "analysis": {
        "util": "",
        "kernels": "util",
        "structure": "util kernels",
        ".": "structure",
        "accounting": "structure .",
        "operators": "util structure lines .",
        "roofline": "util kernels structure .",
        "health": "kernels structure lines .",
        "machine": "util structure",
        "samples": "util",
        "devices": "kernels structure roofline .",
        "timeline": "util kernels structure accounting .",
        "lines": "structure accounting .",
    },
    "capture": {
        "system": "",
        "inside": "",
        "cuda": "inside",
        "nvtx": "inside",
        "memory": "inside",
        "python": "",
        "doctor": "system",
        "launcher": "system doctor",
        "attach": "system",
    },
    "engine": {
        "query": "",
        "inputs": "query",
        ".": "inputs query",
        "diagnosis": "inputs query .",
        "whatif": "query diagnosis .",
        "ranks": "inputs diagnosis .",
    },
    "formats": {"common": "", "chrome": "common", "fathom_wire": "common", "pstats": "common", "stacks": "common", ".": "common chrome fathom_wire pstats stacks"},
    "render": {"page": ".", ".": "page"},
    "sample": {"native": ".", ".": "native"},
    "server": {
        "http": "",
        ".": "http",
        "routes": ". http",
        "page_file": ". http",
    },
    "rules": {
        ".": "",
        "common": ".",
        **dict.fromkeys(
            "communication host input kernels machine memory program recording transfers".split(), ". common"),
    },
}
# Files that put the folders of their room together, and so may include all of them, with the reason.
COMPOSITION = {
    "src/analysis/context.cc": "computes each analysis when it is first asked for",
}

# A type that several rooms speak about lives in the lowest of them; those who receive it from above
# may name its header. room -> {header: why}. Empty is best.
EXCEPTIONS: dict[str, dict[str, str]] = {}

# What the public headers may include besides each other: the standard library, nothing else.
# Library header prefix -> rooms that may use it. Each library is wrapped by few files of ours.
LIBRARIES = {
    "simdjson": "base formats engine compare",
    "isa-l": "base",
    "igzip_lib": "",
    "zstd": "base",
    "zlib": "",
    "boost/": "server",
    "nanobind/": "python",
}
# Only tests and benchmarks.
TEST_LIBRARIES = ("gtest/", "gmock/", "benchmark/")

# room of ui/src -> rooms it may import.
UI_ROOMS = {
    "base": "",
    "api": "base",
    "components": "base api",
    "views": "base api components",
    "app": "base api components views",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
UI_IMPORT = re.compile(r"""^\s*(?:import|export)\b.*?\bfrom\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]""")
PY_IMPORT = re.compile(r"^\s*(?:from|import)\s+([\w.]+)")


def lines_of(path: pathlib.Path):
    with open(path, encoding="utf-8", errors="replace") as file:
        yield from enumerate(file, 1)


def is_test(path: pathlib.Path) -> bool:
    return path.stem.endswith(("_test", "_bench", "_fuzz"))


def check_room(root: pathlib.Path, path: pathlib.Path, room: str):
    """A file of src/<room>/: its own room, those of the table, the public headers, its libraries."""
    allowed = set(ROOMS[room].split()) | {room}
    exceptions = EXCEPTIONS.get(room, {})
    for number, line in lines_of(path):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        if quote == "<":
            yield from ((number, message) for message in library_breach(header, path, room))
            continue
        target = header.split("/")[0]
        if ".." in header.split("/"):
            yield number, f'"{header}": name the header from src/, as in "store/trace.h"'
        elif target == "tests":
            if not is_test(path):
                yield number, f'"{header}": only tests include tests/'
        elif target not in ROOMS:
            yield number, f'"{header}" is in no room of src/'
        elif target not in allowed and header not in exceptions:
            names = ", ".join(sorted(allowed - {room})) or "no other room"
            yield number, f'{room} must not know {target} ("{header}"); it may know {names}'
        elif not (root / "src" / header).exists():
            yield number, f'"{header}" does not exist'


def check_folder(root: pathlib.Path, path: pathlib.Path, room: str):
    """A file of src/<room>/<folder>/: the folders of its room that the table names."""
    relative = path.relative_to(root / "src" / room)
    folder = relative.parts[0] if len(relative.parts) > 1 else "."
    folders = FOLDERS.get(room, {".": ""})
    if is_test(path) or f"src/{room}/{relative}" in COMPOSITION:
        return
    if folder not in folders:
        yield 1, f"src/{room}/{folder} is no folder of {room}; the table is in tools/check_layers.py"
        return
    allowed = set(folders[folder].split()) | {folder}
    for number, line in lines_of(path):
        match = INCLUDE.match(line)
        if not match or not match.group(2).startswith(f"{room}/"):
            continue
        parts = match.group(2).split("/")
        target = parts[1] if len(parts) > 2 else "."
        if target not in allowed:
            names = ", ".join(sorted(allowed - {folder})) or "no other folder"
            yield number, f'{room}/{folder} must not know {room}/{target} ("{match.group(2)}"); it may know {names}'


def library_breach(header: str, path: pathlib.Path, room: str):
    if header.startswith(TEST_LIBRARIES) and not is_test(path):
        yield f"<{header}>: only tests and benchmarks"
    for prefix, rooms in LIBRARIES.items():
        if header.startswith(prefix) and room not in rooms.split() and not is_test(path):
            where = rooms.replace(" ", ", ") or "no room"
            yield f"<{header}> may be used by {where}; ask that room instead"


def check_public(path: pathlib.Path):
    """A header of include/fathom/: C and C++ standard headers and its siblings, so that users need nothing."""
    for number, line in lines_of(path):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        own = header.startswith("fathom/")
        standard = "/" not in header and (not header.endswith(".h") or header in PLATFORM_HEADERS)
        if not (own or (quote == "<" and standard)):
            yield number, f"{header}: a public header includes only <fathom/...> and the standard library"


PLATFORM_HEADERS = {
    "assert.h", "dlfcn.h", "errno.h", "inttypes.h", "stdarg.h", "stddef.h", "stdint.h", "stdio.h",
    "stdlib.h", "string.h", "time.h", "unistd.h",
}


def check_ui(root: pathlib.Path, path: pathlib.Path):
    top = root / "ui" / "src"
    room = path.relative_to(top).parts[0]
    if room not in UI_ROOMS:
        return
    allowed = set(UI_ROOMS[room].split()) | {room}
    for number, line in lines_of(path):
        match = UI_IMPORT.match(line)
        target = match and (match.group(1) or match.group(2))
        if not target or not target.startswith("."):
            continue
        resolved = (path.parent / target).resolve()
        if not resolved.is_relative_to(top.resolve()):
            yield number, f"'{target}' leaves ui/src"
            continue
        other = resolved.relative_to(top.resolve()).parts[0]
        if other in UI_ROOMS and other not in allowed:
            yield number, f"{room} must not know {other} ('{target}')"


def check_python(path: pathlib.Path):
    """The package holds no numbers: it talks to the native module, never to a framework at import time."""
    for number, line in lines_of(path):
        match = PY_IMPORT.match(line)
        if match and not line[0].isspace() and match.group(1).split(".")[0] in ("torch", "tests", "tools"):
            yield number, f"{match.group(1)}: import it where it is used, if at all; not when fathom is imported"


def breaches(root: pathlib.Path):
    for path in sorted(root.glob("src/*/**/*")):
        if path.suffix not in (".cc", ".h"):
            continue
        room = path.relative_to(root / "src").parts[0]
        if room in ROOMS:
            yield from ((path, *breach) for breach in check_room(root, path, room))
            yield from ((path, *breach) for breach in check_folder(root, path, room))
        else:
            yield path, 1, f"src/{room} is no room; the table is in tools/check_layers.py"
    for path in sorted(root.glob("include/**/*.h")):
        yield from ((path, *breach) for breach in check_public(path))
    for path in sorted(p for p in root.glob("ui/src/*/**/*") if p.suffix in (".ts", ".tsx")):
        yield from ((path, *breach) for breach in check_ui(root, path))
    for path in sorted(root.glob("python/fathom/**/*.py")):
        yield from ((path, *breach) for breach in check_python(path))


def check(root: pathlib.Path) -> int:
    count = 0
    for path, number, message in breaches(root):
        print(f"{path.relative_to(root)}:{number}: {message}")
        count += 1
    if count:
        print(f"layers: {count} breach{'es' if count > 1 else ''}", file=sys.stderr)
    return 1 if count else 0


def self_test() -> int:
    """Each of these lines must be found, and nothing else."""
    files = {
        "src/base/result.h": "#pragma once\n#include <string>\n",
        "src/store/trace.h": '#pragma once\n#include "base/result.h"\n',
        "src/store/trace_test.cc": '#include "store/trace.h"\n#include <gtest/gtest.h>\n',
        "src/formats/json.cc": '#include "store/trace.h"\n#include <simdjson.h>\n',
        "src/base/bad.cc": '#include "store/trace.h"\n',
        "src/store/bad.cc": "#include <vector>\n#include <isa-l/igzip_lib.h>\n",
        "src/store/worse.cc": '#include "../base/result.h"\n#include <gtest/gtest.h>\n',
        "src/reports/bad.cc": '#include "rules/rule.h"\n',
        "src/rules/rule.h": '#include "store/missing.h"\n',
        "src/attic/bad.cc": "\n",
        "src/record/run.h": "#pragma once\n",
        "src/cli/run.cc": '#include "record/run.h"\n',
        "src/server/bad.cc": '#include "record/run.h"\n',
        "src/analysis/context.h": "#pragma once\n",
        "src/analysis/context.cc": '#include "analysis/health/health.h"\n',
        "src/analysis/health/health.h": '#include "analysis/context.h"\n',
        "src/analysis/util/bad.h": '#pragma once\n#include "analysis/context.h"\n',
        "src/analysis/attic/bad.h": "#pragma once\n",
        "src/base/attic/bad.h": "#pragma once\n",
        "src/engine/query/bad.cc": '#include "engine/session.h"\n',
        "src/engine/query/query_test.cc": '#include "engine/session.h"\n',
        "src/engine/session.h": "#pragma once\n",
        "include/fathom/profile.h": '#include <cstdint>\n#include <fmt/format.h>\n#include "store/trace.h"\n',
        "ui/src/api/client.ts": "import { x } from '../base/time';\nimport { y } from '../views/all';\n",
        "python/fathom/__init__.py": "import torch\n",
    }
    expected = {
        ("src/base/bad.cc", 1), ("src/store/bad.cc", 2), ("src/store/worse.cc", 1),
        ("src/store/worse.cc", 2), ("src/reports/bad.cc", 1), ("src/rules/rule.h", 1),
        ("src/attic/bad.cc", 1), ("src/server/bad.cc", 1),
        ("src/analysis/util/bad.h", 2), ("src/analysis/attic/bad.h", 1),
        ("src/base/attic/bad.h", 1),
        ("src/engine/query/bad.cc", 1), ("include/fathom/profile.h", 2), ("include/fathom/profile.h", 3),
        ("ui/src/api/client.ts", 2), ("python/fathom/__init__.py", 1),
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        found = {(str(path.relative_to(root)), number) for path, number, _ in breaches(root)}
    for name, number in sorted(expected - found):
        print(f"self-test: not found: {name}:{number}")
    for name, number in sorted(found - expected):
        print(f"self-test: wrongly reported: {name}:{number}")
    return 0 if found == expected else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if args.table:
        for room, others in ROOMS.items():
            print(f"src/{room:10} -> {others or 'std only'}")
            for folder, siblings in FOLDERS.get(room, {}).items():
                print(f"  {room}/{folder:13} -> {siblings or 'no other folder'}")
        return 0
    return check(args.root)


if __name__ == "__main__":
    sys.exit(main())
