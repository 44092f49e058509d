"""What lines cause on the device, beside the same lines with a wait after each; and who is charged with the waiting."""

from __future__ import annotations

from typing import Any

import check
from common import HERE, Context, copy_session, last_json
from outcome import Report

PROGRAM = "line_work.py"
SAME_TIME = 0.02
# The host's sum takes seconds, and so outlasts what the device has to do.
LONG = 40_000_000
# Of the device's time, what a line may wait that has nothing to wait for.
HARDLY = 0.05


def run(context: Context, report: Report) -> None:
    if not context.gpu:
        report.not_possible("lines of a program on the device", "no GPU")
        return
    if not context.python:
        report.not_possible("PyTorch", "no Python with torch")
        return
    for name, rounds, count in (("waits", 10, 0), ("computes", 3, LONG)):
        session = context.work / name
        program = (context.python, HERE / PROGRAM, "--rounds", rounds, "--count", count)
        options = ("-q", "--no-diagnose", "--no-overhead", "--telemetry", "0", "--with", "lines")
        window = ("--range", "rounds", "--steps", "wait=0,warmup=0,active=1")
        words = (context.fathom, "run", *options, *window, "-o", session, "--", *program)
        expected = last_json(context.run(*words, seconds=120))
        copy_session(session, context.keep / name)
        rows = context.rows("lines", session, "--limit", "0", "--columns", "all")
        hold(report, name, expected, rows, waits=count == 0)


def hold(report: Report, name: str, expected: dict[str, Any], rows: check.Rows, waits: bool) -> None:
    """`waits`: nothing happens on the host meanwhile, so that the last line waits for all of the device's work."""
    found = {}
    for line, number in expected["lines"].items():
        of_line = [row for row in rows if str(row["location"]).endswith(f"{PROGRAM}:{number}")]
        if len(of_line) != 1:
            report.failed(f"{name}: the line {line}", f"{len(of_line)} rows", "one row")
            return
        found[line] = of_line[0]
        # And once before.
        report.compare(f"{name}: hits of {line}", expected["rounds"] + 1, of_line[0]["hits"])

    def of(line: str, column: str) -> int:
        return int(found[line][column] or 0)

    whole = sum(expected["spent_ns"].values())
    for line, spent in expected["spent_ns"].items():
        device = of(line, "device_ns")
        right = abs(device - spent) <= SAME_TIME * spent
        report.compare(f"{name}: device time of {line}", f"{spent} ns with waits, within 2 %", device, right)
        idle = of(line, "blocked_ns")
        report.compare(f"{name}: {line} waits for nothing", "hardly", idle, idle <= HARDLY * whole)
    host = of("host", "device_ns")
    report.compare(f"{name}: the host's line launches nothing", 0, host)
    blocked = of("wait", "blocked_ns")
    if waits:
        report.compare(f"{name}: the line that waits has the waiting", "most", blocked, blocked >= (1 - HARDLY) * whole)
        for line, spent in expected["spent_ns"].items():
            awaited = of(line, "awaited_ns")
            right = abs(awaited - spent) <= HARDLY * whole
            report.compare(f"{name}: what was awaited of {line}", f"{spent} ns, within 5 % of all", awaited, right)
    else:
        report.compare(f"{name}: nothing is left to wait for", "hardly", blocked, blocked <= HARDLY * whole)
        computed = of("host", "host_ns")
        report.compare(f"{name}: the host's line has the time", f"more than {whole} ns", computed, computed > whole)
