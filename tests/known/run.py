#!/usr/bin/env python3
"""Runs programs whose bottleneck is known from how they are written, and judges what Fathom says.

tests/known/run.py [--times N] [--keep FOLDER] [NAME...]     three runs of each, or of those named

Prints right or wrong for each run, and why, then the programs that were right in all of them and gave the same answer
each time: the same verdicts and first findings. It needs a Python with PyTorch (FATHOM_TORCH_PYTHON);
a program whose packages that Python lacks is left out with a message. C++ programs are compiled
against the SDK of the build that `FATHOM` is of. README.md has the meaning of known.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]
HERE = pathlib.Path(__file__).parent
FATHOM = pathlib.Path(os.environ.get("FATHOM", ROOT / "build/release/fathom")).absolute()
PYTHON = os.environ.get("FATHOM_TORCH_PYTHON") or str(ROOT / "build/torch/bin/python")
# Findings about the recording or the machine, which change nothing in the program.
BESIDE = {"neighbour", "profiling-mistakes", "profiler-overhead", "step-outliers", "throttling"}
LONGEST_S = 300


def lacks(modules: list[str]) -> str:
    """The first of them that cannot be imported."""
    code = (
        "import importlib.util as u, sys; print(*(m for m in sys.argv[1:] if not u.find_spec(m)))"
    )
    done = subprocess.run([PYTHON, "-c", code, *modules], capture_output=True, text=True)
    return "Python" if done.returncode else done.stdout.split()[0] if done.stdout.split() else ""


def command_of(name: str, known: dict[str, Any], folder: pathlib.Path) -> list[str]:
    if "command" in known:
        words = {"python": PYTHON, "fathom": str(FATHOM), "programs": str(HERE / "programs")}
        words["folder"] = str(folder)
        return [word.format(**words) for word in known["command"]]
    source = HERE / "programs" / f"{known.get('source', name)}.cc"
    if not source.exists():
        return [PYTHON, str(HERE / "programs" / f"{name}.py")]
    program = folder / name
    build = FATHOM.parent
    include = ["-I", str(ROOT / "include")]
    words = ["c++", "-std=c++17", "-O1", *include, str(source), "-o", str(program)]
    subprocess.run([*words, str(build / "libfathom.a"), "-lpthread"], check=True)
    return [str(program), *known.get("arguments", [])]


def fathom(*words: str) -> str:
    done = subprocess.run([str(FATHOM), *words], capture_output=True, text=True, timeout=LONGEST_S)
    if done.returncode:
        raise RuntimeError(f"fathom {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


@dataclasses.dataclass
class Answer:
    """What was said of one run: what is wrong with it, and what other runs should say, too."""

    faults: list[str]
    # Verdict and first finding of each program in it, in any order.
    gist: list[tuple[str, str]] = dataclasses.field(default_factory=list)


def gist_of(diagnosis: dict[str, Any]) -> tuple[str, str]:
    rules = [f["rule"] for f in diagnosis["findings"] if f["rule"] not in BESIDE]
    return diagnosis["verdict"]["id"], rules[0] if rules else "none"


def faults(known: dict[str, Any], diagnoses: list[dict[str, Any]], text: str) -> list[str]:
    """What is not as it has to be, of each program of the run."""
    found = []
    for diagnosis in diagnoses:
        verdict, first = gist_of(diagnosis)
        if verdict not in known["verdict"]:
            found.append(f"verdict {verdict}, not {' or '.join(known['verdict'])}")
        if "first" in known and first not in known["first"]:
            found.append(f"first finding {first}, not {' or '.join(known['first'])}")
    for said in known.get("says", []):
        if not re.search(said, text):
            found.append(f"nowhere: {said}")
    for wrong in known.get("never", []):
        if re.search(wrong, text):
            found.append(f"says: {wrong}")
    return found


def run_once(name: str, known: dict[str, Any], folder: pathlib.Path) -> Answer:
    command = command_of(name, known, folder)
    session = folder / "session"
    done = subprocess.run(
        [str(FATHOM), "run", "--quiet", "-o", str(session), "--", *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        env={k: v for k, v in os.environ.items() if k != "FATHOM_SESSION"},
    )
    if done.returncode:
        return Answer([f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"])
    found = []
    if re.search(r"Can't|Traceback|WARNING", done.stderr):
        found.append(f"on standard error: {done.stderr.strip()[:300]}")
    diagnosis = json.loads(fathom("diagnose", "--json", str(session)))
    # The first screen leaves out what it has no room for, and the whole what comes next.
    screens = fathom("diagnose", str(session)) + fathom("diagnose", "--all", str(session))
    text = " ".join(screens.split())
    diagnoses = diagnosis if isinstance(diagnosis, list) else [diagnosis]
    return Answer(found + faults(known, diagnoses, text), sorted(map(gist_of, diagnoses)))


def different(answers: list[Answer]) -> str:
    """Answers that not all runs of a program gave; empty where they agree."""
    gists = sorted({", ".join(f"{verdict} with {first}" for verdict, first in answer.gist) for answer in answers})
    return " / ".join(gists) if len(gists) > 1 else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--keep", type=pathlib.Path, help="leave the session folders here")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    table = json.loads((HERE / "known.json").read_text())
    unknown = set(given.names) - set(table)
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}")
    right = wrong = programs = sure = 0
    for name in given.names or table:
        missing = lacks(table[name].get("needs", []))
        if missing:
            print(f"left out  {name}: {missing} is not installed", flush=True)
            continue
        answers = []
        for number in range(given.times):
            with tempfile.TemporaryDirectory(prefix="fathom-known-") as own:
                folder = given.keep / f"{name}-{number + 1}" if given.keep else pathlib.Path(own)
                folder.mkdir(parents=True, exist_ok=True)
                answers.append(run_once(name, table[name], folder))
            found = answers[-1].faults
            right, wrong = right + (not found), wrong + bool(found)
            print(
                f"{'wrong' if found else 'right':8}  {name}  {'; '.join(found)}".rstrip(),
                flush=True,
            )
        differs = different(answers)
        if differs:
            print(f"differs   {name}  {differs}", flush=True)
        programs += 1
        sure += not differs and not any(answer.faults for answer in answers)
    print(f"{right} runs right, {wrong} wrong; {sure} of {programs} programs right and the same in every run")
    return 0 if sure == programs else 1


if __name__ == "__main__":
    sys.exit(main())
