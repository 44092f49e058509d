#!/usr/bin/env python3
"""Measures what a function profile costs per call: Fathom's beside cProfile and, where they are installed,
VizTracer, in one process, in pairs.

    tools/measure_functions.py [--python PATH]... [--library build/release/libfathom_python.so]
    tools/measure_functions.py --write docs/python-profiles.md    puts the table there

A round is, for each way to profile, a loop of calls without it and the same loop with it, one right after
the other; the order of ways changes from round to round. The cost per call is the difference of the processor time of
the thread, divided by the calls: of the lowest times of all rounds, which is what counts, and beside it the median and
the middle half of the rounds' own.
VizTracer is measured where the interpreter can import it (tools/setup peers).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
CALLS = 40_000


# What runs in the measured interpreter, 3.8 and later.


def python_call():
    pass


def python_calls(count):
    for _ in range(count):
        python_call()


def c_calls(count, items=()):
    for _ in range(count):
        len(items)


LOOPS = {"python": python_calls, "c": c_calls}


class Fathom:
    def __init__(self, with_c):
        sys.path.insert(0, str(ROOT / "python/fathom_hook"))
        from fathom_recorder import native

        session = os.environ["MEASURED_SESSION"]
        module = native.load(session)
        if isinstance(module, str):
            raise ImportError(module)
        self._way = native.Native(module, with_c, 1 << 28)

    def begin(self):
        self._way.begin()

    def end(self):
        self._way.end()


class FathomHook:
    """The way without the library."""

    def __init__(self):
        sys.path.insert(0, str(ROOT / "python/fathom_hook"))
        from fathom_recorder import functions

        if not hasattr(sys, "monitoring"):
            raise ImportError("cProfile is that way")
        self._way = functions.Monitored()

    def begin(self):
        self._way.begin()

    def end(self):
        self._way.end()


class CProfile:
    def __init__(self, with_c):
        import cProfile

        self._profile = cProfile.Profile(builtins=with_c)

    def begin(self):
        self._profile.enable()

    def end(self):
        self._profile.disable()


class VizTracer:
    def __init__(self, with_c):
        import viztracer

        self._tracer = viztracer.VizTracer(
            ignore_c_function=not with_c, verbose=0, tracer_entries=4 * CALLS
        )
        sys.setprofile(None)  # it listens from the beginning

    def begin(self):
        self._tracer.start()

    def end(self):
        self._tracer.stop()
        self._tracer.clear()


WAYS = {
    "Fathom": lambda: Fathom(False),
    "Fathom, functions of C too": lambda: Fathom(True),
    "Fathom without its library": lambda: FathomHook(),
    "cProfile": lambda: CProfile(False),
    "cProfile, functions of C too": lambda: CProfile(True),
    "VizTracer": lambda: VizTracer(False),
    "VizTracer, functions of C too": lambda: VizTracer(True),
}


def time_of(loop):
    begin = time.thread_time_ns()
    loop(CALLS)
    return time.thread_time_ns() - begin


def measure(rounds):
    made = {}
    for name, make in WAYS.items():
        try:
            made[name] = make()
        except ImportError:
            pass
    costs = {name: {kind: [] for kind in LOOPS} for name in made}
    bare = {kind: [] for kind in LOOPS}
    for number in range(rounds):
        order = list(made)
        order = order[number % len(order) :] + order[: number % len(order)]
        for name in order:
            for kind, loop in LOOPS.items():
                without = time_of(loop)
                made[name].begin()
                with_it = time_of(loop)
                made[name].end()
                costs[name][kind].append((without / CALLS, with_it / CALLS))
                bare[kind].append(without / CALLS)
    return {"version": platform.python_version(), "costs": costs, "bare": bare}


# What runs it and shows it.


def run(python, library, rounds):
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as session:
        os.mkdir(os.path.join(session, "lib"))
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
            "Python %s; without a profile %.0f ns per call of Python, %.0f of C:"
            % (result["version"], bare["python"], bare["c"]),
            "",
            "| ns added | call of Python | call of C |",
            "|---|---:|---:|",
        ]
        for name, costs in result["costs"].items():
            lines.append("| %s | %s | %s |" % (name, measured_part.added(costs["python"]), measured_part.added(costs["c"])))
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
    measured_part.write(pathlib.Path(arguments.write), text)


if __name__ == "__main__":
    main()
