#!/usr/bin/env python3
"""Compares `fathom sample` with py-spy in the same run: impossible stacks, what sampling costs the program and itself;
and how long `fathom dump` takes.

    tools/measure_stacks.py [--py-spy FILE] [--pythons A,B] [--rate N] [--seconds N] [--pairs N] [--write docs/sampling.md]

Impossible stacks: under tests/programs/stacks/changing.py, whose stack changes all the time and which names every call
that can be. Cost: calls of tests/programs/stacks/work.py in the same time, and processor time of a call, each kind of
sampling taking turns in random order with none; the sampler's own processor time by wait4. Dumps: of the six threads of
tests/programs/stacks/waiting.py, by the clock that `fathom dump` itself reads. py-spy 0.4.3:

    python3 -m venv build/peers && build/peers/bin/pip install py-spy==0.4.3

FATHOM names the binary (default build/release/fathom).
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests/programs/stacks"
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))


def start(python, *arguments):
    """The program and what it printed up to an empty line."""
    process = subprocess.Popen([python, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    lines = []
    for line in process.stdout:
        if not line.strip():
            break
        lines.append(line.strip())
    return process, lines


def sampler(kind, options, pid, seconds, output):
    """The command of one kind of sampler."""
    if kind == "fathom":
        return [FATHOM, "sample", str(pid), "--rate", str(options.rate), "--duration", f"{seconds}s", "--json",
                "-q", "-o", output]
    extra = ["--nonblocking"] if kind == "py-spy, not pausing" else []
    return [options.py_spy, "record", "-p", str(pid), "-r", str(options.rate), "-d", str(max(1, round(seconds))),
            "-f", "raw", "-o", output, *extra]


def stacks_of(kind, output):
    """(frames from the outermost on as (function, line), how often, what is known) of each stack."""
    text = pathlib.Path(output).read_text() if os.path.exists(output) else ""
    if kind == "fathom":
        for stack in json.loads(text)["stacks"]:
            frames = [(frame["function"].split(".")[-1], frame["line"], frame["file"]) for frame in stack["frames"]]
            yield frames, stack["samples"], stack["stack"]
        return
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = []
        for frame in stack.split(";"):
            found = re.fullmatch(r"(.*) \((.*):(\d+)\)", frame)
            frames.append((found[1], int(found[3]), found[2]) if found else (frame, 0, ""))
        yield frames, int(count), "whole"


def is_impossible(frames, edges):
    for (caller, line, file), (callee, _, _) in zip(frames, frames[1:]):
        if file == "<changing>" and f"{caller} {line} {callee}" not in edges:
            return True
    return bool(frames) and frames[0][0] != "<module>"


def impossible(kind, options, python):
    """Stacks by what is known of them, and how many of them cannot be."""
    process, lines = start(python, PROGRAMS / "changing.py", options.depth)
    counts = {"whole": 0, "shortened": 0, "unread": 0, "impossible": 0}
    try:
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out")
            done = subprocess.run(sampler(kind, options, process.pid, options.seconds, output), capture_output=True,
                                  text=True, check=False)
            if done.returncode != 0:
                return None, done.stderr.strip().splitlines()[-1:] or ["failed"]
            for frames, count, state in stacks_of(kind, output):
                counts[state] += count
                counts["impossible"] += count if is_impossible(frames, set(lines)) else 0
            errors = re.findall(r"Errors: (\d+)", done.stdout + done.stderr)
            counts["errors"] = errors[-1] if errors else ""
    finally:
        process.kill()
        process.communicate()
    return counts, []


def cost(kind, options, python):
    """(calls, ns of processor time a call, share of a processor that the sampler itself used)."""
    process, _ = start(python, PROGRAMS / "work.py", options.stack, options.seconds)
    used = 0.0
    with tempfile.TemporaryDirectory() as folder:
        if kind != "none":
            command = sampler(kind, options, process.pid, options.seconds, os.path.join(folder, "out"))
            peer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        calls, spent = map(int, process.stdout.readline().split())
        process.wait()
        if kind != "none":
            _, _, usage = os.wait4(peer.pid, 0)
            peer.returncode = 0
            used = (usage.ru_utime + usage.ru_stime) / options.seconds
    return calls, spent / calls, used


def measure_cost(options, python, kinds):
    runs = {kind: [] for kind in ("none", *kinds)}
    for _ in range(options.pairs):
        for kind in random.sample(list(runs), len(runs)):
            runs[kind].append(cost(kind, options, python))
    bare = runs.pop("none")
    for kind, values in runs.items():
        calls = statistics.median(value[0] / base[0] for value, base in zip(values, bare))
        spent = statistics.median(value[1] / base[1] for value, base in zip(values, bare))
        yield kind, 100 * (calls - 1), 100 * (spent - 1), 100 * statistics.median(value[2] for value in values)


def dumps(options, python):
    """ms of each dump."""
    process, _ = start(python, PROGRAMS / "waiting.py")
    try:
        return sorted(json.loads(subprocess.run([FATHOM, "dump", str(process.pid), "--json"], capture_output=True,
                                                check=True).stdout)["milliseconds"] for _ in range(options.dumps))
    finally:
        process.kill()
        process.communicate()


def version_of(python):
    return subprocess.run([python, "-c", "import platform; print(platform.python_version())"], capture_output=True,
                          text=True, check=True).stdout.strip()


def report(options, kinds):
    load = os.getloadavg()[0]
    yield (f"{options.rate} a second for {options.seconds} s; {os.cpu_count()} cores, load {load:.1f} at the start."
           f" py-spy {options.py_spy_version or 'was not there'}.")
    yield ""
    yield "| CPython | sampler | stacks | whole | shortened | unread | impossible | errors that it reports |"
    yield "|---|---|---|---|---|---|---|---|"
    for python in options.pythons:
        for kind in kinds:
            counts, problem = impossible(kind, options, python)
            if counts is None:
                yield f"| {version_of(python)} | {kind} | – | | | | | {problem[0][:80]} |"
                continue
            everything = counts["whole"] + counts["shortened"] + counts["unread"]
            share = {key: f"{100 * counts[key] / max(everything, 1):.1f} %" for key in ("whole", "shortened", "unread")}
            yield (f"| {version_of(python)} | {kind} | {everything} | {share['whole']} | {share['shortened']} |"
                   f" {share['unread']} | {counts['impossible']} | {counts['errors']} |")
    yield ""
    yield "| CPython | sampler | calls in the same time | processor time of a call | the sampler's own, of a core |"
    yield "|---|---|---|---|---|"
    for python in options.pythons:
        for kind, calls, spent, own in measure_cost(options, python, kinds):
            yield f"| {version_of(python)} | {kind} | {calls:+.1f} % | {spent:+.1f} % | {own:.1f} % |"
    yield ""
    yield "| CPython | dumps | median | 19 of 20 within | longest |"
    yield "|---|---|---|---|---|"
    for python in options.pythons:
        took = dumps(options, python)
        late = took[min(len(took) - 1, len(took) * 19 // 20)]
        yield (f"| {version_of(python)} | {len(took)} | {statistics.median(took):.1f} ms | {late:.1f} ms |"
               f" {took[-1]:.1f} ms |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--py-spy", default=str(ROOT / "build/peers/bin/py-spy"))
    parser.add_argument("--pythons", default=sys.executable, help="interpreters, separated by commas")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--depth", type=int, default=8, help="of the stack that changes")
    parser.add_argument("--stack", type=int, default=100, help="depth of the stack whose cost is measured")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--dumps", type=int, default=200)
    parser.add_argument("--write", help="a page with the marks between which the result goes")
    options = parser.parse_args()
    if options.write:
        measured_part.parts(pathlib.Path(options.write))
    options.pythons = options.pythons.split(",")
    kinds = ["fathom"]
    options.py_spy_version = ""
    if os.path.exists(options.py_spy):
        kinds += ["py-spy, not pausing", "py-spy"]
        options.py_spy_version = subprocess.run([options.py_spy, "--version"], capture_output=True, text=True,
                                                check=True).stdout.split()[-1]
    lines = []
    for line in report(options, kinds):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        measured_part.write(pathlib.Path(options.write), "\n".join(lines))


if __name__ == "__main__":
    main()
