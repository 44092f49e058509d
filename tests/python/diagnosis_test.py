"""A diagnosis in Python is the program's, with types."""

from __future__ import annotations

import html
import json
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import fathom


@pytest.fixture(scope="module")
def diagnosis(session: fathom.Session) -> fathom.Diagnosis:
    return session.diagnose()


def test_its_json_is_the_program_s(
    diagnosis: fathom.Diagnosis, trace: pathlib.Path, cli: Callable[..., Any]
) -> None:
    assert json.loads(diagnosis.to_json()) == cli("diagnose", str(trace))


def test_its_text_is_the_program_s_screen(diagnosis: fathom.Diagnosis, trace: pathlib.Path) -> None:
    for all, words in ((False, []), (True, ["--all"])):
        command = [os.environ["FATHOM"], "diagnose", *words, str(trace)]
        printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        assert diagnosis.to_text(all=all) == printed
    assert str(diagnosis) == diagnosis.to_text().rstrip("\n")


def test_members_have_the_names_and_values_of_the_schema(diagnosis: fathom.Diagnosis) -> None:
    members = json.loads(diagnosis.to_json())
    assert diagnosis.verdict.id == members["verdict"]["id"] == "input-bound"
    assert diagnosis.baseline.step_mean_ns == members["baseline"]["step_mean_ns"]
    assert sum(diagnosis.account_ns.values()) == sum(step.window_ns for step in diagnosis.steps)
    for finding, expected in zip(diagnosis.findings, members["findings"], strict=True):
        for name in ("id", "title", "severity", "effort", "upper_bound_ns", "step_percent"):
            assert getattr(finding, name) == expected[name]
        assert finding.fix.text == expected["fix"]["text"]
        assert [e.text for e in finding.evidence] == [e["text"] for e in expected["evidence"]]


def test_each_member_of_the_schema_has_its_place(
    diagnosis: fathom.Diagnosis, source: pathlib.Path
) -> None:
    schema = json.loads((source / "docs" / "diagnosis.schema.json").read_text())
    members = schema["properties"]
    kinds = [
        (diagnosis, members),
        (diagnosis.baseline, members["baseline"]["properties"]),
        (diagnosis.baseline.operators[0], members["baseline"]["properties"]["operators"]["items"]),
        (diagnosis.checklist[0], members["checklist"]["items"]),
        (diagnosis.verdict, members["verdict"]["properties"]),
        (diagnosis.verdict.families[0], members["verdict"]["properties"]["families"]["items"]),
        (diagnosis.steps[0], members["steps"]["items"]),
        (diagnosis.health[0], members["health"]["items"]),
        (diagnosis.rules[0], members["rules"]["items"]),
        (diagnosis.findings[0], schema["$defs"]["finding"]),
        (diagnosis.together, members["together"]["anyOf"][1]),
    ]
    for thing, described in kinds:
        names = set(described.get("properties", described)) - {"schema"}
        assert names <= set(vars(thing)), type(thing).__name__


def test_a_gain_is_the_mean_step_less_the_predicted(diagnosis: fathom.Diagnosis) -> None:
    finding = diagnosis.findings[0]
    assert finding.gain_ns is not None and finding.predicted_step_ns is not None
    mean = finding.step_ns
    assert finding.gain_ns.likely == mean - finding.predicted_step_ns.likely
    assert finding.gain_ns.low <= finding.gain_ns.likely <= finding.gain_ns.high


def test_a_part_can_be_diagnosed(
    session: fathom.Session, trace: pathlib.Path, cli: Callable[..., Any]
) -> None:
    part = session.diagnose(focus="backward", steps=(6, 8), exclude_warmup=True)
    words = ["--focus", "backward", "--steps", "6-8", "--exclude-warmup"]
    assert json.loads(part.to_json()) == cli("diagnose", str(trace), *words)


def test_the_page_is_the_program_s(
    diagnosis: fathom.Diagnosis, trace: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    session = fathom.open(trace, threads=1)  # several find names in an order of their own
    session.diagnose(focus="backward").to_html(tmp_path / "python.html")
    command = [os.environ["FATHOM"], "diagnose", "--threads", "1", "--focus", "backward"]
    command += ["--html", str(tmp_path / "cli.html"), str(trace)]
    subprocess.run(command, capture_output=True, check=True)
    assert (tmp_path / "python.html").read_bytes() == (tmp_path / "cli.html").read_bytes()
    with pytest.raises(fathom.FathomError, match="--size"):
        diagnosis.to_html(tmp_path / "python.html", most_bytes=1000)


def test_a_notebook_shows_verdict_and_findings(diagnosis: fathom.Diagnosis) -> None:
    shown = html.unescape(diagnosis._repr_html_())
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown
    for finding in diagnosis.findings:
        assert finding.title in html.unescape(shown)
