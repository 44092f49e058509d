"""Diagnoses the traces that another reader labelled (tests/illness/independent.json). Used by tools/eval --independent."""

from __future__ import annotations

import concurrent.futures
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import every_finding
from independent_score import Judged, Totals, judge, misses, share

Ask = Callable[..., Any]  # of the program: arguments in, its JSON out


def load(file: Path) -> dict[str, Any]:
    labels: dict[str, Any] = json.loads(file.read_text())
    return labels


def trace_file(name: str, folders: list[Path]) -> Path | None:
    """Labels name traces without their endings."""
    for folder in folders:
        for ending in (".json.gz", ".pt.trace.json.gz"):
            if (folder / (name + ending)).exists():
                return folder / (name + ending)
    return None


def judge_all(
    labels: dict[str, Any], folders: list[Path], ask: Ask, names: list[str]
) -> tuple[list[Judged], list[str]]:
    """Judgements of those traces (of all, where none is named) that are there, and the names of the others."""
    wanted = [each for each in labels["traces"] if not names or any(name in each["trace"] for name in names)]
    files = [(label, trace_file(label["trace"], folders)) for label in wanted]

    def of(label: dict[str, Any], file: Path) -> Judged:
        try:
            return judge(label, ask("diagnose", "--all", str(file)), labels["neutral"])
        except (RuntimeError, ValueError) as error:
            return judge(label, {}, labels["neutral"], str(error))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = [pool.submit(of, label, file) for label, file in files if file is not None]
        return [each.result() for each in made], [label["trace"] for label, file in files if file is None]


def changes(labels: dict[str, Any], all_judged: list[Judged]) -> list[tuple[str, str, str, str]]:
    """What was measured after a change, beside what the diagnosis before it predicts: rows of text."""
    documents = {each.name: each.document for each in all_judged}
    rows = []
    for each in labels["interventions"]:
        if each["before"] not in documents:
            continue
        measured = each["measured_ms"] / each["before_ms"]
        rows.append((each["name"], each.get("rule", "–"), f"{100 * measured:.0f} %", promised(each, documents[each["before"]])))
    return rows


def promised(change: dict[str, Any], document: dict[str, Any]) -> str:
    found = [f for f in every_finding.of(document) if f["rule"] == change.get("rule") and f["predicted_step_ns"]]
    if not found:
        return "nothing"
    step = found[0]["predicted_step_ns"]
    low, likely, high = (100 * step[key] / found[0]["step_ns"] for key in ("low", "likely", "high"))
    return f"{likely:.0f} % ({low:.0f} to {high:.0f})"


def report(labels: dict[str, Any], all_judged: list[Judged], absent: list[str], listed: bool) -> str:
    lines = []
    if listed:
        for each in all_judged:
            if missed := misses(each):
                lines += [each.name, *(f"    {line}" for line in missed)]
        lines.append("")
    lines += [f"{name}: {value}" for name, value in Totals.of(all_judged).rows()]
    lines += [f"{name}: measured {after}, {rule} predicted {said}" for name, rule, after, said in changes(labels, all_judged)]
    if absent:
        lines.append(f"{share(len(absent), len(absent) + len(all_judged))} labelled traces are not there: {', '.join(absent)}")
    return "\n".join(lines)
