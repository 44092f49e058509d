"""Opening, asking from threads, and failing."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import threading
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

import pytest

import fathom


def test_a_session_says_what_it_is(session: fathom.Session, trace: pathlib.Path) -> None:
    assert session.input == str(trace)
    assert session.format == "chrome-json"
    assert session.span_ns > 0


def test_two_threads_get_the_same_reports(trace: pathlib.Path) -> None:
    ids = [report.id for report in fathom.reports()] * 2
    alone = fathom.open(trace)
    expected = [alone.report(report).rows() for report in ids]
    shared = fathom.open(trace)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda report: shared.report(report).rows(), ids)) == expected


def test_other_threads_run_while_a_file_is_read(trace: pathlib.Path) -> None:
    opened = threading.Event()
    longest = 0.0

    def watch() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not opened.is_set():
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    fathom.open(trace)
    took = time.perf_counter() - begin
    opened.set()
    watcher.join()
    assert longest < took


def test_the_page_is_that_of_the_command_line(trace: pathlib.Path, tmp_path: pathlib.Path) -> None:
    session = fathom.open(trace, threads=1)  # several find names in an order of their own
    page = session.view()
    page.save(tmp_path / "python.html")
    command = [os.environ["FATHOM"], "view", "--threads", "1", "--html"]
    command += [tmp_path / "command.html", trace]
    subprocess.run(command, check=True, capture_output=True)
    written = [(tmp_path / f"{by}.html").read_bytes() for by in ("python", "command")]
    assert written[0] == written[1]
    assert page._repr_html_().startswith("<iframe srcdoc=")
    with pytest.raises(fathom.FathomError, match="--size"):
        session.view(most_bytes=1000)
    with pytest.raises(fathom.FathomError, match="No such file or directory"):
        page.save(tmp_path / "nowhere" / "page.html")


def test_a_notebook_shows_sessions_and_tables(session: fathom.Session) -> None:
    assert session._repr_html_() == session.report("overview").to_html(limit=0)
    table = session.report("ops")
    shown = ET.fromstring(f"<div>{table._repr_html_()}</div>")
    rows = ["".join(row[0].itertext()) for row in shown.iterfind("table/tbody/tr")]
    assert rows == table["name"].to_list()[:30]
    assert len(table) > 30
    assert table.to_html(0).count("<tr>") == len(table) + 1
    assert f"The first 30 of {len(table)} rows." in "".join(shown.itertext())
    value = next(row for row in session.report("overview") if row["metric"] == "median")
    assert f">{value['value'] / 1e6:.1f} ms<" in session._repr_html_()


@pytest.mark.parametrize(
    ("code", "words", "ask"),
    [
        ("not_found", "no such file", lambda s, f: fathom.open("nothing.json")),
        ("not_found", "no such file", lambda s, f: fathom.open_all(["nothing.json"])),
        ("corrupt", "not a trace", lambda s, f: fathom.open(f / "pyproject.toml")),
        ("invalid_argument", "did you mean 'ops'", lambda s, f: s.report("opps")),
        ("invalid_argument", "sort: there is no column", lambda s, f: s.report("ops", sort="x")),
        ("invalid_argument", "group_by: 'x'", lambda s, f: s.report("ops", group_by="x")),
        ("invalid_argument", "filter", lambda s, f: s.report("ops", filter="name")),
        ("invalid_argument", "device 7", lambda s, f: s.report("ops", device=7)),
        ("invalid_argument", "steps", lambda s, f: s.report("ops", steps="x")),
        ("invalid_argument", "steps", lambda s, f: s.report("ops", steps=range(1, 9, 2))),
        ("invalid_argument", "limit: -1", lambda s, f: s.report("ops", limit=-1)),
        ("invalid_argument", "window", lambda s, f: s.report("ops", window="5")),
        ("invalid_argument", "whole trace", lambda s, f: s.report("health", steps=6)),
        ("invalid_argument", "", lambda s, f: s.diagnose(focus="no such thing")),
        ("io", "", lambda s, f: s.diagnose().to_html(f / "no" / "such" / "folder.html")),
    ],
)
def test_each_failure_is_a_fathom_error_with_its_code(
    code: str, words: str, ask: object, session: fathom.Session, source: pathlib.Path
) -> None:
    with pytest.raises(fathom.FathomError) as caught:
        ask(session, source)  # type: ignore[operator]
    assert caught.value.code == code
    assert words in str(caught.value)


def test_an_error_survives_pickling_and_copying() -> None:
    error = fathom.FathomError("what", "corrupt")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(other), other.code) == ("what", "corrupt")


def test_a_folder_of_ranks_is_one_session_of_all(
    trace: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for rank in (0, 2, 10):
        shutil.copy(trace, tmp_path / f"rank{rank}.json.gz")
    (tmp_path / "notes.txt").write_text("not a trace")
    inputs = [pathlib.Path(each.input).name for each in fathom.open_all(tmp_path)]
    assert inputs == ["rank0.json.gz", "rank2.json.gz", "rank10.json.gz"]
    session = fathom.open(tmp_path)
    assert session.input == str(tmp_path)
    assert [pathlib.Path(each.input).name for each in session.recordings] == inputs
    # Three times the same rank, if any: not the ranks of one program.
    with pytest.raises(fathom.FathomError, match="session.recordings"):
        session.diagnose()


RANKS = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"]) / "tests/data/runs/two_ranks"


def test_tables_of_several_ranks_have_the_rows_of_each() -> None:
    session = fathom.open(RANKS)
    assert [each.rank for each in session.recordings] == [0, 1]
    assert session.rank is None
    steps = session.report("steps")
    assert [column.name for column in steps.columns][:3] == ["input", "input_rank", "step"]
    alone = [each.report("steps") for each in session.recordings]
    ranks = [rank for rank, each in enumerate(alone) for _ in range(len(each))]
    assert steps["input_rank"].to_list() == ranks
    assert steps["step"].to_list() == [n for each in alone for n in each["step"]]
    # 2 to 4 were recorded in depth, the others timed.
    assert {2, 3, 4} < set(alone[0]["step"].to_list())
    assert steps["window_ns"].to_list() == [n for each in alone for n in each["window_ns"]]
    assert steps.rows_total == sum(len(each) for each in alone)
    assert str(steps) == "\n".join(str(each) for each in alone)
    assert steps.to_csv().startswith("input,input_rank,step")


def test_several_ranks_are_diagnosed_as_one_program() -> None:
    diagnosis = fathom.open(RANKS).diagnose()
    assert diagnosis.input == str(RANKS)
    assert diagnosis.verdict.id == "straggler"
    ranks = diagnosis.ranks
    assert ranks is not None
    assert [each.rank for each in ranks.recordings] == [0, 1]
    assert (ranks.diagnosed, ranks.late) == (1, 1)
    assert ranks.recordings[0].waited_ns > 0.9 * ranks.recordings[1].made_wait_ns > 100e6
    assert (ranks.recordings[1].came_last, ranks.compared) == (3, 6)
    assert ranks.recordings[1].verdict == "host-bound"
    assert diagnosis.baseline == fathom.open(RANKS).recordings[1].diagnose().baseline


def test_a_rank_may_be_chosen_and_one_that_is_not_there_is_refused() -> None:
    session = fathom.open(RANKS)
    chosen = session.diagnose(rank=0)
    assert chosen.ranks is not None and chosen.ranks.diagnosed == 0
    assert chosen.baseline == session.recordings[0].diagnose().baseline
    assert session.recordings[0].diagnose(rank=0).ranks is None
    with pytest.raises(fathom.FathomError, match="there is no rank 7; there is rank 0, rank 1"):
        session.diagnose(rank=7)


def test_the_program_says_the_same_of_several_ranks() -> None:
    program = os.environ["FATHOM"]
    words = [program, "diagnose", "--json", str(RANKS)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == json.loads(fathom.open(RANKS).diagnose().to_json())


def test_the_rank_that_waits_is_told_that_another_is_late() -> None:
    early, late = fathom.open(RANKS).recordings
    assert "late-rank" in {finding.rule for finding in early.diagnose().findings}
    assert "late-rank" not in {finding.rule for finding in late.diagnose().findings}


def test_each_rank_knows_the_ranks_of_all_processes() -> None:
    processes = fathom.open(RANKS).report("processes", filter="role=rank")
    assert processes["input_rank"].to_list() == [0, 0, 1, 1]
    assert sorted(processes["rank"].to_list()) == [0, 0, 1, 1]


def test_one_recording_is_its_only_one(trace: pathlib.Path) -> None:
    session = fathom.open(trace)
    assert session.recordings == (session,)
    assert session.report("steps").columns[0].name == "step"


def test_several_paths_are_opened_in_their_order(trace: pathlib.Path) -> None:
    assert len(fathom.open_all([trace, str(trace)])) == 2


def test_a_folder_without_recordings_is_not_found(tmp_path: pathlib.Path) -> None:
    (tmp_path / "notes.txt").write_text("not a trace")
    for opening in (fathom.open, fathom.open_all):
        with pytest.raises(fathom.FathomError) as caught:
            opening(tmp_path)
        assert caught.value.code == "not_found"
