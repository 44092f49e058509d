#!/usr/bin/env python3
"""Measures two promises of CONTRIBUTING.md and prints them.

    tools/measure_small.py build [BUILD]    seconds in which BUILD (build/release) takes up a change
                                            of one analysis, one rule and one report: compiled
                                            again, without a compiler cache, and linked
    tools/measure_small.py gaps TRACE       what `gaps --limit 5` takes beyond the accounting that
                                            it is read from, in memory

A source that was changed is as before at the end; the build has the changed one until the next.
"""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHANGED = (
    "src/analysis/structure/steps.cc",
    "src/rules/input/data_loading.cc",
    "src/reports/waits.cc",
)
TRIES = 3


def build(folder: str) -> int:
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    command = ["cmake", "--build", folder, "--target", "fathom"]

    def processor() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def make() -> str:
        begin, used = time.monotonic(), processor()
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        return f"{time.monotonic() - begin:.1f} s, {processor() - used:.1f} s of processor time"

    make()
    for name in CHANGED:
        source = ROOT / name
        before = source.read_bytes()
        try:
            source.write_bytes(before + b"// Changed.\n")
            print(f"{name}: {make()}", flush=True)
        finally:
            source.write_bytes(before)
    return 0


def peak_kb(*words: str) -> int:
    """The least of some runs: threads make it differ."""
    fathom = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
    environment = {**os.environ, "FATHOM_CACHE": "off"}
    peaks = []
    for _ in range(TRIES):
        with subprocess.Popen(
            [fathom, *words], stdout=subprocess.DEVNULL, env=environment
        ) as program:
            _, status, used = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(status)
        if program.returncode != 0:
            raise SystemExit(f"measure_small: {' '.join(words)} ended with {program.returncode}")
        peaks.append(used.ru_maxrss)
    return min(peaks)


def gaps(trace: str) -> int:
    alone = peak_kb("accounting", trace)
    some = peak_kb("gaps", trace, "--limit", "5")
    every = peak_kb("gaps", trace, "--limit", "0")
    more = 100 * (some / alone - 1)
    print(f"accounting {alone} kB; gaps --limit 5 {some} kB ({more:+.1f} %); all gaps {every} kB")
    return 0


def main(words: list[str]) -> int:
    if words[:1] == ["build"] and len(words) <= 2:
        return build(words[1] if len(words) == 2 else "build/release")
    if words[:1] == ["gaps"] and len(words) == 2:
        return gaps(words[1])
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
