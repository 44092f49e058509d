"""Recording from inside a program that has no torch."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

import fathom


def sweat() -> int:
    return sum(index * index for index in range(20_000))


def steps_of(session: fathom.Session) -> list[int]:
    table = session.report("steps", columns="all")
    return [int(number) for number in table["step"].to_list()]


def names_in(session: fathom.Session) -> set[str]:
    return set(session.report("ops", columns="all")["name"].to_list())


def test_steps_of_the_schedule_are_recorded(tmp_path: pathlib.Path) -> None:
    plan = fathom.schedule(wait=1, warmup=1, active=3)
    with fathom.profile(schedule=plan, output=tmp_path / "run") as p:
        for _ in range(7):
            sweat()
            p.step()
    assert p.output == tmp_path / "run"
    assert steps_of(p.open()) == [2, 3, 4]


def test_annotations_are_ranges_and_decorators_keep_their_function(tmp_path: pathlib.Path) -> None:
    @fathom.annotate("decorated")
    def work(times: int, *, more: int = 0) -> int:
        """Works."""
        return times + more + sweat()

    @fathom.annotate("awaited")
    async def wait() -> str:
        await asyncio.sleep(0)
        return "done"

    with fathom.profile(output=tmp_path / "run") as p:
        with fathom.annotate("outer"), fathom.annotate("inner"):
            assert work(1, more=2) == 3 + sweat()
        assert asyncio.run(wait()) == "done"
        p.step()
    assert (work.__name__, work.__doc__) == ("work", "Works.")
    assert {"decorated", "awaited", "outer", "inner"} <= names_in(p.open())


def test_lines_may_be_asked_for_where_nothing_records() -> None:
    @fathom.lines
    def work() -> int:
        return sweat()

    assert fathom.lines(work) is work
    assert work() == sweat()


def test_one_annotation_may_be_entered_inside_itself(tmp_path: pathlib.Path) -> None:
    again = fathom.annotate("again")

    @again
    def down(depth: int) -> int:
        with fathom.annotate("between"), again:
            return depth if depth == 0 else between(depth - 1)

    @fathom.annotate("between")
    def between(depth: int) -> int:
        return down(depth)

    with fathom.profile(output=tmp_path / "run") as p:
        assert down(3) == 0
    rows = p.open().report("ops", columns="all").rows()
    calls = {row["name"]: row["calls"] for row in rows}
    assert (calls["again"], calls["between"]) == (8, 7)


def test_an_exception_passes_through_and_the_recording_is_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ZeroDivisionError):
        with fathom.profile(output=tmp_path / "run") as p:
            sweat()
            p.step()
            with fathom.annotate("fails"):
                raise ZeroDivisionError
    assert "fails" in names_in(p.open())


def test_what_records_nothing_says_why(tmp_path: pathlib.Path) -> None:
    plan = fathom.schedule(wait=5, warmup=5, active=5)
    with fathom.profile(schedule=plan, output=tmp_path / "run") as p:
        p.step()
    assert p.output is None and not (tmp_path / "run").exists()
    with pytest.raises(fathom.FathomError, match="1 calls of step.*after 15") as caught:
        p.diagnose()
    assert caught.value.code == "not_found"


def test_misuse_is_said(tmp_path: pathlib.Path) -> None:
    p = fathom.profile(output=tmp_path / "run")
    with pytest.raises(fathom.FathomError, match="not recording"):
        p.step()
    with p:
        with pytest.raises(fathom.FathomError, match="recording already"):
            p.start()
        with pytest.raises(fathom.FathomError, match="stop"):
            p.open()
    p.stop()
    with pytest.raises(fathom.FathomError, match="active"):
        fathom.schedule(active=0)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(fathom.FathomError) as caught:
        with fathom.profile(output=tmp_path / "file" / "run"):
            pass
    assert caught.value.code == "io"


def test_start_step_and_stop_are_the_same_without_a_block(tmp_path: pathlib.Path) -> None:
    assert fathom.stop() is None
    fathom.step()  # nothing records: nothing happens
    begun = fathom.start(output=tmp_path / "run")
    for _ in range(2):
        sweat()
        fathom.step()
    assert fathom.stop() is begun
    assert steps_of(begun.open()) == [0, 1]


def test_a_diagnosis_inside_a_recorded_program_has_all_steps_so_far(
    tmp_path: pathlib.Path,
) -> None:
    code = (
        "import fathom\n"
        "with fathom.profile() as p:\n"
        "    for _ in range(3):\n        sum(range(1000)); p.step()\n"
        "print(p.open().report('steps', columns='all')['step'].to_list())\n"
    )
    words = [os.environ["FATHOM"], "run", "-q", "--no-diagnose", "-o", str(tmp_path / "run"), "--"]
    done = subprocess.run(
        [*words, sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[0, 1, 2]\n", done.stderr


def test_the_processor_time_is_of_the_block_alone(tmp_path: pathlib.Path) -> None:
    end = time.process_time() + 0.3
    while time.process_time() < end:
        sweat()
    with fathom.profile(output=tmp_path / "run") as p:
        time.sleep(0.2)
        p.step()
    (row,) = p.open().report("processes", columns="all").rows()
    assert row["user_ns"] + row["system_ns"] < row["wall_ns"]


def test_a_diagnosis_follows(tmp_path: pathlib.Path) -> None:
    with fathom.profile(output=tmp_path / "run") as p:
        for _ in range(3):
            sweat()
            p.step()
    assert p.diagnose().verdict.id


def test_secrets_on_the_command_line_are_not_kept(tmp_path: pathlib.Path) -> None:
    code = f"import fathom\nwith fathom.profile(output={str(tmp_path / 'run')!r}): pass"
    words = [sys.executable, "-c", code, "--password", "hunter2", "--lr", "0.1"]
    subprocess.run(words, check=True)
    text = (tmp_path / "run" / "manifest.json").read_text()
    manifest = json.loads(text)
    assert "hunter2" not in text
    assert manifest["command"][-2:] == ["--lr", "0.1"]
    assert manifest["schema"] == "fathom-run/1"
    assert manifest["ended_unix_ns"] > manifest["started_unix_ns"]


def test_the_default_folder_is_named_after_the_program(tmp_path: pathlib.Path) -> None:
    (tmp_path / "train.py").write_text(
        "import fathom\nfor _ in range(2):\n    with fathom.profile() as p: p.step()\n"
    )
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True)
    folders = sorted((tmp_path / "fathom-runs").iterdir())
    assert len(folders) == 2
    assert all("-train" in folder.name for folder in folders)


def test_importing_it_does_not_import_torch_or_numpy() -> None:
    code = "import fathom, sys; print(sorted({'torch', 'numpy', 'pandas'} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert printed.stdout.strip() == b"[]"


def test_the_module_is_the_program(trace: pathlib.Path) -> None:
    for words in (["--version"], ["overview", str(trace)], ["no-such-command"]):
        ours = subprocess.run([sys.executable, "-m", "fathom", *words], capture_output=True)
        theirs = subprocess.run([os.environ["FATHOM"], *words], capture_output=True)
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)


def test_a_captured_process_tells_the_recorder(tmp_path: pathlib.Path) -> None:
    (tmp_path / "train.py").write_text(
        "import fathom\n"
        "with fathom.profile() as p:\n"
        "    for _ in range(3):\n"
        "        with fathom.annotate('named by the program'):\n"
        "            sum(range(100000))\n"
        "        p.step()\n"
        "print(p.output)\n"
    )
    run = tmp_path / "run"
    run.mkdir()
    environment = {**os.environ, "FATHOM_SESSION": str(run)}
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, env=environment, check=True, capture_output=True
    )
    assert done.stdout.decode().strip() == str(run)
    assert not (tmp_path / "fathom-runs").exists()
    assert list(run.glob("process-*.fathom"))
    assert "named by the program" in names_in(fathom.open(run))
