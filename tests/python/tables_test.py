"""A table in Python is the table of the command line."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

import fathom

Cli = Callable[..., Any]
IDS = [report.id for report in fathom.reports()]


@pytest.mark.parametrize("report", IDS)
def test_each_report_equals_the_program_s_json(
    report: str, session: fathom.Session, trace: pathlib.Path, cli: Cli
) -> None:
    expected = cli(report, str(trace), "--columns", "all")
    table = session.report(report, columns="all")
    assert table.rows() == expected["rows"]
    assert [column.name for column in table.columns] == [c["name"] for c in expected["columns"]]
    assert table.notes == expected["notes"]
    assert json.loads(table.to_json()) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": range(6, 8)}, ["--steps", "6-7"]),
        ({"steps": (6, 7)}, ["--steps", "6-7"]),
        ({"steps": 6}, ["--steps", "6"]),
        ({"device": 0}, ["--device", "0"]),
        ({"window": (10_000_000, 25_000_000)}, ["--window", "10ms:25ms"]),
        ({"window": "10ms:25ms"}, ["--window", "10ms:25ms"]),
        ({"sort": "-host_self_ns", "limit": 5}, ["--sort", "-host_self_ns", "--limit", "5"]),
        ({"filter": "name~conv"}, ["--filter", "name~conv"]),
        (
            {"filter": ["calls>100", "name~conv"]},
            ["--filter", "calls>100", "--filter", "name~conv"],
        ),
        ({"columns": ["calls", "name"]}, ["--columns", "calls,name"]),
        ({"group_by": "shape"}, ["--group-by", "shape"]),
        ({"torch": True}, ["--torch"]),
    ],
)
def test_each_argument_is_the_option_of_that_name(
    options: dict[str, Any],
    words: list[str],
    session: fathom.Session,
    trace: pathlib.Path,
    cli: Cli,
) -> None:
    expected = cli("ops", str(trace), *words)
    assert session.report("ops", **options).rows() == expected["rows"]


def test_columns_agree_with_rows_whatever_their_type(session: fathom.Session) -> None:
    for report in IDS:
        table = session.report(report, columns="all")
        rows = table.rows()
        for column in table.columns:
            assert table[column.name].to_list() == [row[column.name] for row in rows]


def test_a_column_is_found_without_its_unit(session: fathom.Session) -> None:
    table = session.report("ops")
    assert table["device_self"].name == "device_self_ns"


def test_length_and_iteration_are_of_rows(session: fathom.Session) -> None:
    table = session.report("ops", limit=7)
    assert len(table) == 7
    assert list(table) == table.rows()
    assert table.rows_total > 7
    column = table["name"]
    assert (len(column), column[0], column[-1]) == (7, column.to_list()[0], column.to_list()[6])
    with pytest.raises(IndexError):
        column[7]


def test_text_is_what_a_terminal_shows(session: fathom.Session) -> None:
    text = str(session.report("ops"))
    assert "aten::" in text
    assert len(text.splitlines()) < len(session.report("ops").to_text(limit=0).splitlines())


def test_reports_describe_their_columns() -> None:
    ops = next(report for report in fathom.reports() if report.id == "ops")
    column = next(column for column in ops.columns if column.name == "device_self_ns")
    assert (column.kind, column.unit) == ("duration_ns", "ns")
    assert column.doc.endswith(".")
    assert "torch" in ops.options
    assert len(ops.group_by) > 1
