"""Recording other programs from Python, started for it or running already; the doctor."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import fathom

BUSY = "print('ready', flush=True)\ndef spins():\n while True: pass\nspins()"


def test_a_program_that_is_run_is_recorded(tmp_path: pathlib.Path) -> None:
    ran = fathom.run([sys.executable, "-c", "raise SystemExit(7)"], output=tmp_path / "run")
    assert (ran.path, ran.exit_code) == (tmp_path / "run", 7)
    (row,) = ran.open().report("processes", columns="all").rows()
    assert (row["role"], row["exit"]) == ("main", "7")


def test_options_of_the_command_are_passed_on(tmp_path: pathlib.Path) -> None:
    code = BUSY.replace("while True: pass", "sum(range(999))")
    ran = fathom.run(
        [sys.executable, "-c", code],
        output=tmp_path / "run",
        options=["--with", "functions", "-q"],
    )
    functions = ran.open().report("functions", columns="all")
    assert "spins" in " ".join(map(str, functions["function"].to_list()))


def test_what_cannot_be_run_says_why(tmp_path: pathlib.Path) -> None:
    with pytest.raises(fathom.FathomError, match="no command"):
        fathom.run([])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    with pytest.raises(fathom.FathomError, match="nothing was recorded"):
        fathom.run(["true"], output=tmp_path / "full")
    assert fathom.run("/no/such/program", output=tmp_path / "none").exit_code == 127


def test_a_running_program_is_sampled(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        got = fathom.attach(program.pid, seconds=1, output=tmp_path / "run")
    finally:
        program.kill()
        program.communicate()
    assert (got.path, got.exit_code) == (tmp_path / "run", None)
    assert "sampled" in capfd.readouterr().err
    hot = got.open().report("hot", columns="all")
    assert "spins" in hot["function"].to_list()


@pytest.mark.parametrize(
    ("pids", "words", "reason"),
    [
        (2**22 + 1, {}, "there is no process"),
        ([], {}, "no process is named"),
        (1, {"seconds": -1}, "--duration"),
        (1, {"timeout": float("nan")}, "--timeout"),
        (1, {"extras": ["lines"]}, "fathom run --with lines"),
    ],
)
def test_what_cannot_be_attached_to_says_why(
    pids: int | list[int], words: dict[str, Any], reason: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(fathom.FathomError, match=reason) as raised:
        fathom.attach(pids, output=tmp_path / "run", **words)
    assert raised.value.code == "invalid_argument"


def test_the_doctor_says_the_same_as_the_program() -> None:
    checks = fathom.doctor()
    told = subprocess.run(
        [os.environ["FATHOM"], "doctor", "--json"], capture_output=True, text=True, check=False
    ).stdout
    theirs = json.loads(told)["checks"]
    assert [(c.section, c.what, c.state) for c in checks] == [
        (c["section"], c["what"], c["state"]) for c in theirs
    ]
