#!/usr/bin/env python3
"""What docs/ci.md says to try, run in a fresh folder as a reader would, and what it printed.

    tools/ci_page.py [--write docs/ci.md]

The folder has nothing but ci/check_change, `fathom` is in PATH, and python3 can import it. FATHOM names the binary (default
build/release/fathom), with the Python package beside it.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import measured_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/ci.md"
FATHOM = pathlib.Path(os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))).absolute()
PACKAGE = pathlib.Path(os.environ.get("FATHOM_PACKAGE", str(FATHOM.parent / "python")))


def marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


@dataclasses.dataclass
class Tried:
    """What one run of it left behind."""

    code: int
    printed: str
    complained: str
    summary: str
    junit: str


def script_of(page: pathlib.Path) -> str:
    """What the page says to type."""
    begin, end = marks("try")
    found = re.search(re.escape(begin) + r"\s*```sh\n(.*?)```\s*" + re.escape(end), page.read_text(), re.DOTALL)
    if not found:
        sys.exit(f"{page}: there is nothing to try in it")
    return found[1]


def run(page: pathlib.Path = PAGE, **settings: str) -> Tried:
    with tempfile.TemporaryDirectory(prefix="fathom-ci-page-") as name:
        folder, tools = pathlib.Path(name) / "try", pathlib.Path(name) / "bin"
        for each in (folder / "ci", tools):
            each.mkdir(parents=True)
        shutil.copy(ROOT / "examples/ci/check_change", folder / "ci")
        (tools / "fathom").symlink_to(FATHOM)
        (tools / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (tools / "python3").chmod(0o755)
        known = {key: value for key, value in os.environ.items() if key not in ("FATHOM", "PAIRS", "BUDGETS", "SEED")}
        done = subprocess.run(["bash", "-e", "-c", script_of(page)], cwd=folder, capture_output=True, text=True, check=False, env={
            **known, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(PACKAGE), "GITHUB_STEP_SUMMARY": "summary.md", **settings})

        def left(file: str) -> str:
            return (folder / file).read_text() if (folder / file).exists() else ""

        return Tried(done.returncode, done.stdout, done.stderr, left("summary.md"), left("recorded/junit.xml"))


def parts(tried: Tried) -> dict[str, str]:
    """What stands in the page, by the name of its marks."""
    return {"tried": f"```\n{tried.printed.rstrip()}\n```", "summary": f"```markdown\n{tried.summary.rstrip()}\n```",
            "junit": f"```xml\n{tried.junit.rstrip()}\n```"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    tried = run(args.write or PAGE)
    print(tried.printed, tried.complained, sep="\n")
    if tried.code != 1:
        sys.exit(f"the exit code is {tried.code}, and not that of a budget that is exceeded")
    for name, text in parts(tried).items():
        if args.write is not None:
            measured_part.write(args.write, text, marks(name))
        else:
            print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
