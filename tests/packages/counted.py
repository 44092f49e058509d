"""A program whose function calls are known, and what a recording of it by the native recorder holds."""
from __future__ import annotations

import csv
import json
import pathlib

CALLS = 1000
PROGRAM = f"""
def counted():
    pass
for _ in range({CALLS}):
    counted()
"""


def recorded_by(session: pathlib.Path) -> dict[str, str]:
    """How the main process of a session recorded functions: {"by": "native"}, or by what else and why."""
    processes = [json.loads(path.read_text()) for path in session.glob("process-*.json")]
    return next(process["functions"] for process in processes if process["role"] == "main")


def calls_in(table: str) -> int:
    """Calls of the function that the program calls, by `fathom functions --csv`."""
    (row,) = [row for row in csv.DictReader(table.splitlines()) if row["function"] == "counted"]
    return int(row["calls"])
