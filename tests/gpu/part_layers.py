"""What CUPTI enables and writes: records of each kind, none unknown, none dropped; and the records as they are."""

from __future__ import annotations

from pathlib import Path

import check
from common import Context
from outcome import Report
from programs_of import Recording, ready

# What a program makes, as tables and categories show it.
MAKES = {
    "kernels": ("kernels", "launches"),
    "copies": ("copies", "launches"),
    "graphs": ("kernels", "launches"),
    "memory": ("launches",),
    "syncs": ("syncs", "launches"),
    "streams": ("kernels", "syncs"),
}


def run(context: Context, report: Report) -> None:
    programs = ready(context, report, tuple(MAKES))
    for name, tables in MAKES.items():
        if name not in programs:
            continue
        raw = context.keep.parent / "raw" / name
        raw.mkdir(parents=True, exist_ok=True)
        with Recording(context, report, name) as recording:
            recording.run(programs[name], env={"FATHOM_CUDA_RAW": str(raw)})
            facts = recording.facts()
            report.compare(f"{name}: what is recorded", "full activity", facts.get("cuda.fallback_level"), **facts)
            for table in tables:
                rows = recording.rows(table)
                report.compare(f"{name}: rows of {table}", "some", len(rows), bool(rows))
            found = problems(recording.rows("health"))
            report.compare(f"{name}: unknown or dropped", "none", "; ".join(found) or "none", not found)
        kept = list(Path(raw).glob("*.raw"))
        report.compare(f"{name}: records as CUPTI wrote them", "kept", len(kept), bool(kept))


def problems(rows: check.Rows) -> list[str]:
    return [
        f"{row['check']}: {row['finding']}"
        for row in rows
        if row["section"] == "reading" and row["status"] not in ("ok", "not applicable")
    ]
