#!/usr/bin/env python3
"""Runs fathom on recorded traces and compares what it prints with what it is expected to print.

    tests/golden/run.py                  run every case
    tests/golden/run.py NAME…            run these
    tests/golden/run.py --update NAME…   write what is printed now as expected; read the diff before committing

A case is a folder cases/<name>/ of plain files:

    command   the command line, run from the repository's root: `fathom info tests/data/traces/x.json.gz --json`;
              may begin with settings (COLUMNS=80) and end with `< file`; lines beginning with # are comments
    stdout    what is expected on standard output
    stderr    what is expected on standard error; missing: nothing
    exit      the expected exit code; missing: 0

To add one: make the folder and its command, run with --update, check the result by other means. No C++ is needed.
FATHOM names the binary (default build/release/fathom).
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = pathlib.Path(__file__).resolve().parent / "cases"
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
LONGEST_DIFF = 40


def parse(command: str):
    """Settings, arguments and standard input of a command line."""
    lines = [line for line in command.splitlines() if line.strip() and not line.startswith("#")]
    words = shlex.split(" ".join(lines))
    settings = {}
    while words and "=" in words[0] and not words[0].startswith("-"):
        name, _, value = words.pop(0).partition("=")
        settings[name] = value
    if not words or words.pop(0) != "fathom":
        raise ValueError("a command must begin with 'fathom'")
    stdin = None
    if len(words) >= 2 and words[-2] == "<":
        stdin = words[-1]
        words = words[:-2]
    return settings, words, stdin


def run(case: pathlib.Path) -> dict[str, str]:
    """What the case prints now, by file name; an empty text stands for a file that need not exist."""
    settings, words, stdin = parse((case / "command").read_text())
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", **settings}
    with open(ROOT / stdin if stdin else os.devnull, "rb") as source:
        done = subprocess.run([FATHOM, *words], stdin=source, capture_output=True, cwd=ROOT, env=environment,
                              timeout=120, check=False)
    return {
        "stdout": done.stdout.decode("utf-8", "surrogateescape"),
        "stderr": done.stderr.decode("utf-8", "surrogateescape"),
        "exit": "" if done.returncode == 0 else f"{done.returncode}\n",
    }


def read(path: pathlib.Path) -> str:
    # Bytes, so that the CR LF of CSV survive.
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def write(path: pathlib.Path, text: str):
    if text or path.name == "stdout":
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    elif path.exists():
        path.unlink()


def differences(case: pathlib.Path, printed: dict[str, str]) -> list[str]:
    lines = []
    for name, text in printed.items():
        expected = read(case / name)
        if text != expected:
            diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), f"{case.name}/{name} expected",
                                        f"{case.name}/{name} printed", lineterm="", n=1)
            lines += list(diff) or [f"{case.name}/{name}: differs in line ends only"]
    return lines


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Golden tests of the whole program.")
    parser.add_argument("names", nargs="*", help="cases; all when none is named")
    parser.add_argument("--update", action="store_true", help="write what is printed now as expected")
    options = parser.parse_args(arguments)
    cases = [CASES / name for name in options.names] or sorted(p for p in CASES.iterdir() if p.is_dir())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run, cases))
    changed = 0
    for case, printed in zip(cases, results):
        lines = differences(case, printed)
        if not lines:
            continue
        changed += 1
        print("\n".join(lines[:LONGEST_DIFF]))
        if len(lines) > LONGEST_DIFF:
            print(f"… {len(lines) - LONGEST_DIFF} more lines")
        if options.update:
            for name, text in printed.items():
                write(case / name, text)
    if options.update:
        print(f"{changed} of {len(cases)} cases updated: read the diff before committing")
        return 0
    print(f"{len(cases) - changed} of {len(cases)} cases as expected")
    return 1 if changed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
