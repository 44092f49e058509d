"""A program of tests/gpu/programs under `fathom run`, for the parts that check one thing each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import check
from common import CommandFailed, Context, last_json
from outcome import Report
from part_cuda import compiled, environment, records_cuda, told


def ready(context: Context, report: Report, names: Sequence[str]) -> dict[str, Path]:
    """The programs, compiled; none where there is no GPU or this Fathom does not record CUDA."""
    if not context.gpu:
        report.not_possible("CUDA programs", "no GPU")
        return {}
    programs = compiled(context, report, names)
    if programs and not records_cuda(context):
        report.not_possible("recording CUDA programs", "this Fathom brings no libfathom_cuda.so")
        return {}
    return programs


class Recording:
    """One run. What goes wrong with the command is a failed check, and ends the block."""

    def __init__(self, context: Context, report: Report, name: str) -> None:
        self.context = context
        self.report = report
        self.name = name
        self.session = context.work / f"session_{name.replace(' ', '_')}"
        self.expected: dict[str, Any] = {}
        self.code = 0

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, CommandFailed | KeyError | ValueError | StopIteration):
            return False
        self.report.failed(self.name, f"{type(error).__name__}: {error}")
        return True

    def run(
        self,
        *program: object,
        options: Sequence[object] = (),
        env: Mapping[str, str] | None = None,
        fails: bool = False,
        seconds: float = 60,
    ) -> str:
        """Its output; where it prints a document, that is `expected`."""
        words: tuple[object, ...] = (self.context.fathom, "run", "-q", "--no-diagnose", "--telemetry", "0", *options)
        more = {**environment(self.context), **(env or {})}
        words += ("-o", self.session, "--", *program)
        if fails:
            out, self.code = self.context.ended(*words, env=more, seconds=seconds)
        else:
            out = self.context.run(*words, env=more, seconds=seconds)
        if '"fathom-gpu-program/1"' in out:
            self.expected = last_json(out)
        return out

    def rows(self, table: str) -> check.Rows:
        return self.context.rows(table, self.session, "--limit", "0")

    def facts(self) -> dict[str, Any]:
        """What explains a difference; those of single streams and contexts are too many."""
        found = told(self.context, self.session)
        refused = ", ".join(lost["what"] for lost in self.not_recorded())
        jumps = int(worst(found, "cuda.clock.jumps", 0))
        return {**found, "dropped": self.dropped(), "refused": refused, "jumps": jumps}

    def dropped(self) -> int:
        rows = self.rows("health")
        return sum(int(row["count"]) for row in rows if row["check"].startswith("dropped"))

    def not_recorded(self) -> list[dict[str, str]]:
        """As the manifest has it, with reasons."""
        try:
            manifest = json.loads((self.session / "manifest.json").read_text())
        except OSError:
            return []
        found: list[dict[str, str]] = manifest.get("not_recorded", [])
        return found

    def kernels(self, name: str = "") -> int:
        """How many were recorded; of that name, or all."""
        return sum(
            row["calls"]
            for row in self.rows("kernels")
            if not name or check.plain_name(row["name"]) == name
        )

    def lost(self) -> int:
        """Launches without a kernel by a fault of this CUPTI that `fathom health` names (docs/cuda.md)."""
        return check.lost_by_cupti(self.rows("health"))

    def compare_kernels(self, label: str, made: int, name: str = "", **more: Any) -> None:
        """All that were launched are there, each once; but what this CUPTI is known to lose, and that is named."""
        found, lost = self.kernels(name), self.lost()
        named = {"lost by a fault of this CUPTI": lost} if lost else {}
        self.report.compare(label, made, found, made - lost <= found <= made, **named, **more, **self.facts())

    def launched(self) -> int:
        return sum(kernel["calls"] for kernel in self.expected["kernels"])


def worst(facts: Mapping[str, Any], name: str, otherwise: float) -> float:
    """Of a fact that each file of a session has, with the file's name behind its own."""
    of_each = [value for key, value in facts.items() if key.split(" ")[0] == name]
    return max((float(value) for value in of_each), default=otherwise)
