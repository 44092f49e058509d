#!/usr/bin/env python3
"""Measures what a profile of lines costs per line: Fathom's beside line_profiler, in one process, in pairs.

    tools/measure_lines.py [--python PATH]... [--library build/release/libfathom_python.so]
    tools/measure_lines.py --write docs/python-profiles.md    puts the table there

A round is, for each way, a loop of short lines without it and the same loop with it, one right after the other. The
cost per line is the difference of the thread's processor time, divided by the lines: of the lowest times of all rounds,
which is what counts, and beside it the median and the middle half of the rounds' own. The same loop stands in a file of the program and in one that counts as a
library. line_profiler is measured where the interpreter can import it (tools/setup peers).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
MARKS = ("<!-- measured lines: begin -->", "<!-- measured lines: end -->")
COUNT, BODY = 4_000, 10
SOURCE = (
    "def lines(count):\n    for _ in range(count):\n"
    + "        value = 1\n" * BODY
    + "\ndef calls(count):\n    for _ in range(count):\n        call()\n\ndef call():\n    return 1\n"
)
# Of an iteration, as the profiles count.
LINES = {"lines": BODY + 1, "calls": 3}


# What runs in the measured interpreter, 3.8 and later.


def functions_of(path):
    space = {}
    exec(compile(SOURCE, path, "exec"), space)
    return space


class Fathom:
    _way = None  # of the process

    def __init__(self, functions):
        if Fathom._way is not None:
            return
        sys.path.insert(0, str(ROOT / "python/fathom_hook"))
        from fathom_recorder import lines, native

        session = os.environ["MEASURED_SESSION"]
        module = native.load(session)
        if isinstance(module, str):
            raise ImportError(module)
        Fathom._way = lines.Lines(module, session, (), "off")

    def begin(self):
        self._way.begin(1 << 28)

    def end(self):
        self._way.stop()


class Timeline(Fathom):
    """As while torch.profiler records; what it kept is thrown away."""

    def begin(self):
        super().begin()
        self._way.window_begins()

    def end(self):
        self._way.window_ends(False)
        super().end()


def noted():
    """What the recorder failed at: it raises nothing, and a cost of what it did not do is none."""
    failures = sys.modules.get("fathom_recorder.failures")
    return failures.notes() if failures else []


class LineProfiler:
    def __init__(self, functions):
        import line_profiler

        self._profiler = line_profiler.LineProfiler()
        for name in ("lines", "calls", "call"):
            self._profiler.add_function(functions[name])

    def begin(self):
        self._profiler.enable()

    def end(self):
        self._profiler.disable()


def time_of(loop):
    begin = time.thread_time_ns()
    loop(COUNT)
    return time.thread_time_ns() - begin


def measure(rounds):
    library = os.path.join(os.path.dirname(os.__file__), "measured.py")
    program = os.path.join(os.environ["MEASURED_SESSION"] + "-program", "measured.py")
    os.makedirs(os.path.dirname(program))
    pathlib.Path(program).write_text(SOURCE)
    own, others = functions_of(program), functions_of(library)
    loops = {"line": (own["lines"], "lines"), "call": (own["calls"], "calls")}
    loops["line of a library"] = (others["lines"], "lines")
    made = {}
    for way in (Fathom, Timeline, LineProfiler):
        try:
            made[way.__name__] = way(own)
        except ImportError:
            pass
    costs = {name: {kind: [] for kind in loops} for name in made}
    bare = {kind: [] for kind in loops}
    for number in range(rounds):
        order = list(made) if number % 2 == 0 else list(made)[::-1]
        for name in order:
            for kind, (loop, lines) in loops.items():
                # Calls are of two lines and a call, so that the cost is of all three.
                count = COUNT * (LINES[lines] if kind != "call" else 1)
                without = time_of(loop)
                made[name].begin()
                with_it = time_of(loop)
                made[name].end()
                if noted():
                    raise SystemExit("%s: the recorder has a note: %s" % (name, json.dumps(noted())))
                costs[name][kind].append((without / count, with_it / count))
                bare[kind].append(without / count)
    return {"version": platform.python_version(), "costs": costs, "bare": bare}


# What runs it and shows it.


def run(python, library, rounds):
    import shutil

    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "session")
        os.makedirs(os.path.join(session, "lib"))
        shutil.copy(library, os.path.join(session, "lib"))
        words = [python, os.path.abspath(__file__), "--inside", "--rounds", str(rounds)]
        environment = {**os.environ, "MEASURED_SESSION": session}
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True, env=environment)
    return json.loads(done.stdout)


def text_of(results):
    lines = []
    for result in results:
        bare = {kind: min(values) for kind, values in result["bare"].items()}
        lines += [
            "Python %s; without a profile %.0f ns per line, %.0f per call and its three lines:"
            % (result["version"], bare["line"], bare["call"]),
            "",
            "| ns added | line | call and its three lines | line of a library |",
            "|---|---:|---:|---:|",
        ]
        for name, costs in result["costs"].items():
            cells = [measured_part.added(costs[kind]) for kind in ("line", "call", "line of a library")]
            name = {"LineProfiler": "line_profiler", "Timeline": "Fathom, with the timeline"}.get(name, name)
            lines.append("| %s | %s |" % (name, " | ".join(cells)))
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", action="append", default=[], metavar="PATH")
    parser.add_argument("--library", default=str(ROOT / "build/release/libfathom_python.so"))
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--write", metavar="PAGE")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        measured_part.find_peers(ROOT)
        print(json.dumps(measure(arguments.rounds)))
        return
    load = os.getloadavg()[0]
    pythons = arguments.python or [sys.executable]
    results = [run(python, arguments.library, arguments.rounds) for python in pythons]
    shown = measured_part.HOW_SHOWN % (arguments.rounds, load, os.getloadavg()[0])
    text = shown + "\n\n" + text_of(results)
    if not arguments.write:
        print(text)
        return
    measured_part.write(pathlib.Path(arguments.write), text, MARKS)


if __name__ == "__main__":
    main()
