"""Makes the session folder `lines`: a Python program whose lines were profiled, with its source file. Nothing was recorded:
its numbers are round, so that what is made of them can be computed by hand.

    make_lines.py DIR
"""

import json
import pathlib
import sys

from make_plain import MAIN, SECOND, UNIX, File

PROGRAM = "/home/me/work.py"
MILLISECOND = SECOND // 1000
SOURCE = '''"""Adds up numbers of files."""

import numbers_of


def total(path):
    values = numbers_of.read(
        path,
    )
    # The last one is a check sum.
    if not values:
        raise ValueError(path)
    return sum(
        value
        for value in values
    )


def main(paths):
    for path in paths:
        print(total(path))


main(["a", "b", "c", "d"])
'''


def line(
    file: File, function: str, function_line: int, first: int, last: int, hits: int, total: int, own: int
) -> None:
    texts = file.text(PROGRAM), first, last, file.text(function), function_line
    file.record(22, "iIIIIIQqq", MAIN, *texts, hits, total * MILLISECOND, own * MILLISECOND)


def inside() -> File:
    file = File()
    file.process(0, MAIN, 1, "work.py", "main")
    file.slice(0, 2, MAIN, "main", "phase")
    for function, function_line, first, last, hits, total, own in (
        ("<module>", 1, 3, 3, 1, 100, 100),
        ("<module>", 1, 6, 6, 1, 0, 0),
        ("<module>", 1, 19, 19, 1, 0, 0),
        ("<module>", 1, 24, 24, 1, 1000, 0),
        ("main", 19, 20, 20, 5, 0, 0),
        ("main", 19, 21, 21, 4, 1000, 40),
        ("total", 6, 7, 9, 4, 720, 720),
        ("total", 6, 11, 11, 4, 0, 0),
        ("total", 6, 12, 12, 0, 0, 0),
        ("total", 6, 13, 16, 4, 240, 240),
    ):
        line(file, function, function_line, first, last, hits, total, own)
    return file


def main(folder: pathlib.Path) -> None:
    kept = folder / ("sources" + PROGRAM)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(SOURCE)
    inside().save(folder / f"process-{MAIN}.fathom")
    manifest = {
        "schema": "fathom-run/1",
        "fathom": "0.1.0",
        "name": "work",
        "command": ["python", "work.py"],
        "options": {"recording": {"with": ["lines"]}},
        "started_unix_ns": UNIX,
        "ended_unix_ns": UNIX + 2 * SECOND,
        "exit": {"code": 0, "signal": None},
        "processes": [],
        "not_recorded": [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
