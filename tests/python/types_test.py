"""Types: the stub is what the module says, and a typed program passes mypy --strict."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["FATHOM_BUILD_DIR"])


def run(*words: str | pathlib.Path, cwd: pathlib.Path | None = None) -> str:
    environment = {**os.environ, "MYPYPATH": str(BUILD / "python")}
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment, cwd=cwd
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_stub_is_the_one_that_the_module_makes(source: pathlib.Path) -> None:
    """After a change: cp <build>/python/_core.pyi python/fathom/."""
    made = (BUILD / "python" / "_core.pyi").read_text()
    assert (source / "python" / "fathom" / "_core.pyi").read_text() == made


def test_a_typed_program_passes_mypy_strict(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = source / "tests" / "python" / "typed_program.py"
    run("-m", "mypy", "--strict", "--cache-dir", tmp_path, program)


def test_the_package_passes_mypy_strict(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    settings = source / "pyproject.toml"
    run("-m", "mypy", "--config-file", settings, "--cache-dir", tmp_path, "-p", "fathom")


def test_the_typed_program_runs(source: pathlib.Path, trace: str, tmp_path: pathlib.Path) -> None:
    program = source / "tests" / "python" / "typed_program.py"
    assert "aten::" in run(program, str(trace), tmp_path / "run")


def test_ruff_finds_nothing(source: pathlib.Path) -> None:
    run("-m", "ruff", "check", "--no-cache", "python/fathom", "tests/python", cwd=source)
