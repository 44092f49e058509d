#!/usr/bin/env python3
"""Measures the table of docs/sampling.md, row by row: what `fathom sample`, `fathom run` and `fathom dump` find, and what
it costs, beside py-spy and perf in the same run.

    tools/measure_stacks.py [ROW…] [--py-spy FILE] [--pythons A,B] [--torch PYTHON] [--rate N] [--seconds N] [--pairs N]
                            [--write docs/sampling.md]

Each row has its own part of the page, and only those that were asked for are measured and written; without a name all.
A busy machine does not change what these find, only how much:

    impossible  under tests/programs/stacks/changing.py, whose stack changes all the time and which names every call that
                can be; and what was sampled, of what the scheduler gave the program in the same time
    native      of a training step of PyTorch (--torch): stacks that were unwound to the start

These need a machine that does nothing else, as late looks weigh more than others:

    shares      of tests/programs/stacks/shares.py, which knows what each of its functions used
    waits       of tests/programs/stacks/known_waits.py: each thread's time by its own clock, and for how much of the
                blocked time it is known what for
    cost        processor time of tests/programs/stacks/sampled.py, which does the same work sampled and not, in pairs by
                `fathom bench`; another processor must be free
    own         the sampler's own processor time by wait4, 250 looks a second at 1 and 200 threads of
                tests/programs/stacks/many.py, of which one computes and each other one wakes ten times a second
    dumps       of the threads of tests/programs/stacks/waiting.py, by the clock that `fathom dump` itself reads

py-spy 0.4.3:

    python3 -m venv build/peers && build/peers/bin/pip install py-spy==0.4.3

FATHOM names the binary (default build/release/fathom).
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests/programs/stacks"
RECORDER = "fathom attach"
# It knows no Python, but what it costs stands beside.
PERF = "perf, native stacks"
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
    if kind == PERF:
        return ["perf", "record", "-q", "-F", str(options.rate), "--call-graph", "dwarf", "-p", str(pid), "-o", output, "--",
                "sleep", str(seconds)]
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


def on_cpu(pid):
    """ns that its first thread ran, by the scheduler."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def impossible(kind, options, python):
    """Stacks by what is known of them, and how many of them cannot be."""
    process, lines = start(python, PROGRAMS / "changing.py", options.depth)
    counts = {"whole": 0, "shortened": 0, "unread": 0, "impossible": 0}
    try:
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out")
            before = on_cpu(process.pid)
            done = subprocess.run(sampler(kind, options, process.pid, options.seconds, output), capture_output=True,
                                  text=True, check=False)
            used = on_cpu(process.pid) - before
            if done.returncode != 0:
                return None, done.stderr.strip().splitlines()[-1:] or ["failed"]
            for frames, count, state in stacks_of(kind, output):
                counts[state] += count
                counts["impossible"] += count if is_impossible(frames, set(lines)) else 0
            if kind == "fathom":
                counts["weighed"], counts["used"] = json.loads(pathlib.Path(output).read_text())["on_cpu_ns"], used
            errors = re.findall(r"Errors: (\d+)", done.stdout + done.stderr)
            counts["errors"] = errors[-1] if errors else ""
    finally:
        process.kill()
        process.communicate()
    return counts, []


def cost(kind, options, python):
    """What `fathom bench` says of the program's processor time, beside the same without a sampler."""
    words = [python, PROGRAMS / "sampled.py", options.calls, options.stack]
    base = shlex.join(map(str, [*words, "true"]))
    look = sampler(kind, options, "{pid}", 600, os.devnull)
    done = subprocess.run([FATHOM, "bench", "-q", "--json", "--metric", "user", "--runs", str(options.pairs), "--base", base,
                           "--", *map(str, words), *look], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    return result["pairs"], {metric["metric"]: metric for metric in result["metrics"]}


def own_cost(kind, options, python, threads):
    """Share of a processor that the sampler itself uses, its start and end included, 250 looks a second; and how many
    looks a second there were, where that is known."""
    process, _ = start(python, PROGRAMS / "many.py", threads, options.seconds + 2)
    try:
        with tempfile.TemporaryDirectory() as folder:
            asked = argparse.Namespace(**{**vars(options), "rate": 250})
            begin = time.monotonic()
            command = sampler(kind, asked, process.pid, options.seconds, os.path.join(folder, "out"))
            if kind == RECORDER:
                command = [FATHOM, "attach", str(process.pid), "--rate", "250", "--duration", f"{options.seconds}s", "-q",
                           "--no-diagnose", "-o", os.path.join(folder, "run")]
            peer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(peer.pid, 0)
            peer.returncode = os.waitstatus_to_exitcode(status)
            took = time.monotonic() - begin
            rounds = looks(kind, folder) if peer.returncode == 0 else None
    finally:
        process.kill()
        process.communicate()
    return (usage.ru_utime + usage.ru_stime) / took, rounds / options.seconds if rounds else None


def looks(kind, folder):
    """How often a sampler has looked; None where that is not known."""
    if kind == "fathom":
        return json.loads(pathlib.Path(folder, "out").read_text())["rounds"]
    if kind != RECORDER:
        return None
    rows = table("info", os.path.join(folder, "run"))
    return int(next(row["value"] for row in rows if row["name"] == "samples.rounds"))


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


TRAINING = """
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(256, 256), torch.nn.GELU())])
optimizer = torch.optim.Adam(model.parameters())
data = torch.randn(64, 256)
print(flush=True)
while True:
    optimizer.zero_grad()
    model(data).square().mean().backward()
    optimizer.step()
"""


def recording(python, words, rate, folder):
    """What `fathom run` says of the program, and what that printed."""
    run = os.path.join(folder, "run")
    done = subprocess.run([FATHOM, "run", "--no-diagnose", "-q", "--with", f"samples={rate}", "-o", run, "--", python,
                           *map(str, words)], capture_output=True, text=True, check=True)
    return run, done.stdout


def table(report, run):
    return json.loads(subprocess.run([FATHOM, report, "--json", run], capture_output=True, check=True).stdout)["rows"]


def enough(kind, options, python):
    """As `impossible`, again and again until there are as many stacks as asked for: a busy machine gives fewer at a time."""
    sums = {}
    for _ in range(20):
        counts, problem = impossible(kind, options, python)
        if counts is None:
            return None, problem
        for key, count in counts.items():
            # Errors are "" where the sampler reports none.
            sums[key] = (sums.get(key) or 0) + int(count) if count != "" else sums.get(key, "")
        if sum(sums[key] for key in ("whole", "shortened", "unread")) >= options.stacks:
            break
    return sums, []


def impossible_rows(options, kinds):
    yield ("| CPython | sampler | stacks | whole | shortened | unread | impossible | errors that it reports |"
           " sampled, of the scheduler's time |")
    yield "|---|---|---|---|---|---|---|---|---|"
    for python in options.pythons:
        for kind in kinds:
            counts, problem = enough(kind, options, python)
            if counts is None:
                yield f"| {version_of(python)} | {kind} | – | | | | | {problem[0][:80]} | |"
                continue
            everything = counts["whole"] + counts["shortened"] + counts["unread"]
            share = {key: f"{100 * counts[key] / max(everything, 1):.1f} %" for key in ("whole", "shortened", "unread")}
            weighed = f"{100 * counts['weighed'] / counts['used']:.2f} %" if "used" in counts else ""
            yield (f"| {version_of(python)} | {kind} | {everything} | {share['whole']} | {share['shortened']} |"
                   f" {share['unread']} | {counts['impossible']} | {counts['errors']} | {weighed} |")


def shares_rows(options, _):
    yield "| CPython | function | by its own clock | sampled | samples | apart, in errors of so many samples (95 %) |"
    yield "|---|---|---|---|---|---|"
    for python in options.pythons:
        with tempfile.TemporaryDirectory() as folder:
            run, said = recording(python, [PROGRAMS / "shares.py"], 100, folder)
            spent = {line.split()[0]: int(line.split()[1]) for line in said.splitlines()}
            rows = {row["function"]: row for row in table("hot", run) if row["function"] in spent}
        sampled, samples = (sum(row[key] for row in rows.values()) for key in ("self_ns", "samples"))
        for name, used in spent.items():
            true = used / sum(spent.values())
            found = rows[name]["self_ns"] / sampled if name in rows else 0.0  # never met
            apart = abs(found - true) / (1.96 * (true * (1 - true) / samples) ** 0.5)
            yield (f"| {version_of(python)} | {name} | {100 * true:.1f} % | {100 * found:.1f} % | {samples} |"
                   f" {apart:.2f} |")


def native_rows(options, _):
    yield "| CPython | PyTorch | stacks | unwound to the start | with Python's functions | of another moment | lost |"
    yield "|---|---|---|---|---|---|---|"
    if not options.torch:
        yield "| | no interpreter with PyTorch was named (--torch) | | | | | |"
        return
    process, _ = start(options.torch, "-c", TRAINING)
    try:
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out")
            subprocess.run([FATHOM, "sample", str(process.pid), "--native", "--rate", "199", "--duration",
                            f"{options.seconds}s", "--json", "-q", "-o", output], check=True)
            native = json.loads(pathlib.Path(output).read_text())["native"]
    finally:
        process.kill()
        process.communicate()
    torch = subprocess.run([options.torch, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True,
                           check=True).stdout.strip()
    whole, joined, unmatched = (100 * count / max(native["samples"], 1) for count in
                                (native["samples"] - native["cut"], native["joined"], native["unmatched"]))
    yield (f"| {version_of(options.torch)} | {torch} | {native['samples']} | {whole:.2f} % | {joined:.1f} % |"
           f" {unmatched:.1f} % | {native['lost']} |")


def waits_rows(options, _):
    yield ("| CPython | threads | on a processor + queue + blocked, of the time by their own clocks | furthest from it |"
           " blocked | for something known |")
    yield "|---|---|---|---|---|---|"
    for python in options.pythons:
        with tempfile.TemporaryDirectory() as folder:
            run, said = recording(python, [PROGRAMS / "known_waits.py", options.seconds], 250, folder)
            lives = {int(line.split()[0]): int(line.split()[2]) for line in said.splitlines()}
            walls = {row["tid"]: row for row in table("threads", run)}
            rows = [walls[number] for number in lives]
        parts = [row["wall_ns"] / lives[row["tid"]] for row in rows]
        whole = sum(row["wall_ns"] for row in rows) / sum(lives.values())
        blocked = sum(row["blocked_ns"] for row in rows)
        known = 1 - sum(row["other_ns"] for row in rows) / blocked
        furthest = max(parts, key=lambda part: abs(part - 1))
        yield (f"| {version_of(python)} | {len(rows)} | {100 * whole:.2f} % | {100 * furthest:.2f} % |"
               f" {blocked / 1e9:.1f} s | {100 * known:.2f} % |")


def change(metric):
    if not metric["ratio_interval"]:
        return "too few pairs"
    low, high = (100 * (bound - 1) for bound in metric["ratio_interval"])
    return f"{100 * (metric['ratio'] - 1):+.2f} % ({low:+.2f} to {high:+.2f})"


def cost_rows(options, kinds):
    yield "| CPython | sampler | pairs | processor time in the program's own code | wall time |"
    yield "|---|---|---|---|---|"
    for python in options.pythons:
        for kind in kinds:
            pairs, metrics = cost(kind, options, python)
            yield f"| {version_of(python)} | {kind} | {pairs} | {change(metrics['user'])} | {change(metrics['wall'])} |"


def own_rows(options, kinds):
    yield "| CPython | sampler | threads | the sampler's own, of a core | looks a second |"
    yield "|---|---|---|---|---|"
    for python in options.pythons:
        for kind in (RECORDER, *kinds):
            for threads in (1, 200):
                found = [own_cost(kind, options, python, threads) for _ in range(options.runs)]
                share = statistics.median(share for share, _ in found)
                rates = [rate for _, rate in found if rate]
                rate = f"{statistics.median(rates):.0f}" if rates else ""
                yield f"| {version_of(python)} | {kind} | {threads} | {100 * share:.2f} % | {rate} |"


def dumps_rows(options, _):
    yield "| CPython | dumps | median | 19 of 20 within | longest |"
    yield "|---|---|---|---|---|"
    for python in options.pythons:
        took = dumps(options, python)
        late = took[min(len(took) - 1, len(took) * 19 // 20)]
        yield (f"| {version_of(python)} | {len(took)} | {statistics.median(took):.1f} ms | {late:.1f} ms |"
               f" {took[-1]:.1f} ms |")


ROWS = {"impossible": impossible_rows, "shares": shares_rows, "native": native_rows, "waits": waits_rows,
        "cost": cost_rows, "own": own_rows, "dumps": dumps_rows}


def marks_of(row):
    return (f"<!-- measured {row}: begin -->", f"<!-- measured {row}: end -->")


def heading(row, options):
    said = f"{options.seconds:g} s; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start."
    if row == "cost":
        said = f"{options.rate} a second; {said.partition('; ')[2]}"
    if row == "impossible":
        said = f"{options.rate} a second for " + said
    if row == "own":
        said += f" Medians of {options.runs} runs."
    if row in ("impossible", "cost", "own"):
        said += f" py-spy {options.py_spy_version or 'was not there'}."
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--py-spy", default=str(ROOT / "build/peers/bin/py-spy"))
    parser.add_argument("--pythons", default=sys.executable, help="interpreters, separated by commas")
    parser.add_argument("--torch", help="an interpreter with PyTorch")
    parser.add_argument("--stacks", type=int, default=30_000, help="of which it is asked whether they can be, at least")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--depth", type=int, default=8, help="of the stack that changes")
    parser.add_argument("--stack", type=int, default=100, help="depth of the stack whose cost is measured")
    parser.add_argument("--pairs", type=int, default=20, help="of the row cost")
    parser.add_argument("--calls", type=int, default=20_000_000, help="of which the row cost measures the time")
    parser.add_argument("--runs", type=int, default=3, help="of the row own")
    parser.add_argument("--dumps", type=int, default=200)
    parser.add_argument("--write", help="a page with the marks of each row, between which the result goes")
    options = parser.parse_args()
    wanted = options.rows or list(ROWS)
    page = pathlib.Path(options.write) if options.write else None
    if page:
        for row in wanted:
            measured_part.parts(page, marks_of(row))
    options.pythons = options.pythons.split(",")
    kinds = ["fathom"]
    options.py_spy_version = ""
    if os.path.exists(options.py_spy):
        kinds += ["py-spy, not pausing", "py-spy"]
        options.py_spy_version = subprocess.run([options.py_spy, "--version"], capture_output=True, text=True,
                                                check=True).stdout.split()[-1]
    beside = [*kinds, PERF] if shutil.which("perf") else kinds
    for row in wanted:
        lines = [heading(row, options), ""]
        print("\n".join(lines), flush=True)
        for line in ROWS[row](options, beside if row in ("cost", "own") else kinds):
            print(line, flush=True)
            lines.append(line)
        if page:
            measured_part.write(page, "\n".join(lines), marks_of(row))


if __name__ == "__main__":
    main()
