"""The fixture fathom_bench, in runs of pytest of its own."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "fathom._pytest_plugin", "-p", "no:cacheprovider")

TESTS = """
def test_sum(fathom_bench):
    result = fathom_bench(lambda: sum(range(100)), runs=30)
    assert result.new.count == 30

def test_two(fathom_bench):
    result = fathom_bench(lambda: sum(range(2000)), against=lambda: sum(range(10)), runs=12)
    assert result.verdict == "slower"
"""


def test_the_fixture_measures_and_the_summary_shows(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(
        ["*fathom_bench*", "*::test_sum: *, wall", "*::test_two: * slower: +*"]
    )


def test_without_the_fixture_nothing_is_shown(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    done = pytester.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*fathom_bench*")


def test_what_was_saved_stands_beside_what_is_measured(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-save", "saved.json")
    saved = json.loads((pytester.path / "saved.json").read_text())
    assert saved["schema"] == "fathom.bench-saved/1"
    assert len(saved["tests"]) == 2
    assert (pytester.path / "saved.json").stat().st_size < 20_000
    pytester.makepyfile(TESTS + "\ndef test_new(fathom_bench): fathom_bench(int, runs=3)\n")
    done = pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-against", "saved.json")
    done.stdout.fnmatch_lines(
        [
            "  saved: * % of * (* to * % within the runs)",
            "  saved: was not measured then",
            "One run then and one now: how much runs vary is not known.",
        ]
    )


def test_many_values_are_thinned(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_many(fathom_bench): fathom_bench(int, runs=1201)")
    pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-save", "saved.json")
    (row,) = json.loads((pytester.path / "saved.json").read_text())["tests"].values()
    assert row["count"] == 1201 and 400 <= len(row["values"]) <= 500


def test_conditions_that_differ_are_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-save", "saved.json")
    path = pytester.path / "saved.json"
    saved = json.loads(path.read_text())
    saved["conditions"]["cpu"] = "another"
    next(iter(saved["tests"].values()))["mode"] = "events"
    path.write_text(json.dumps(saved))
    done = pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-against", "saved.json")
    done.stdout.fnmatch_lines(["differs: cpu: another then, * now", "*not comparable"])


@pytest.mark.parametrize("content", [None, "{", '{"schema": "other"}', "[]"])
def test_a_file_that_is_none_is_an_error_of_usage(
    pytester: pytest.Pytester, content: str | None
) -> None:
    if content is not None:
        (pytester.path / "saved.json").write_text(content)
    done = pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-against", "saved.json")
    assert done.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("path", [".", "no/such/saved.json"])
def test_a_file_that_cannot_be_written_is_an_error_before_anything_runs(
    pytester: pytest.Pytester, path: str
) -> None:
    pytester.makepyfile("def test_s(): open('ran', 'w').close()")
    done = pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-save", path)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*--fathom-bench-save {path}: *"])
    assert not (pytester.path / "ran").exists()


def test_what_was_measured_is_shown_where_it_can_no_longer_be_saved(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(TESTS + "\n\ndef test_z():\n    import os\n    os.mkdir('saved.json')\n")
    done = pytester.runpytest_subprocess(*PLUGIN, "--fathom-bench-save", "saved.json")
    done.stdout.fnmatch_lines(["--fathom-bench-save saved.json: *", "*fathom_bench*"])
    assert "Traceback" not in done.stdout.str()


def test_a_sweep_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_s(fathom_bench): fathom_bench(int, sweep={'x': [1]})")
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(failed=1)
