"""What CUPTI enables and writes: records of each kind, none unknown, none dropped; and the records as they are."""

from __future__ import annotations

from pathlib import Path

import check
from common import Context
from outcome import Report
from programs_of import Recording, ready
from raw import Broken, kinds_of

# What a program makes, as tables show it.
MAKES = {
    "kernels": ("kernels", "launches"),
    "copies": ("copies", "launches"),
    "graphs": ("kernels", "launches"),
    "memory": ("launches",),
    "syncs": ("syncs", "launches"),
    "streams": ("kernels", "syncs"),
    "contexts": ("kernels", "launches"),
}
# And as CUPTI's records of it are: these are what tests without a GPU read later.
EACH = ("DEVICE", "CONTEXT", "RUNTIME")
WRITES = {
    "kernels": ("CONCURRENT_KERNEL",),
    "copies": ("MEMCPY", "MEMSET"),
    "graphs": ("GRAPH_TRACE",),
    "memory": ("MEMORY2", "MEMSET"),
    "syncs": ("SYNCHRONIZATION", "CUDA_EVENT", "MEMCPY"),
    "streams": ("CONCURRENT_KERNEL", "STREAM", "CUDA_EVENT", "SYNCHRONIZATION"),
    # It calls the driver itself.
    "contexts": ("CONCURRENT_KERNEL", "DRIVER", "STREAM"),
}
# What the recorder asks for beside these, and why no program need have it.
NOT_MADE = {
    "MEMCPY2": "a second device",
    "MEMORY_POOL": "whether there is one for the pool that each device has is not known",
    "NAME": "names that a program gives to streams by NVTX, of which CUPTI may not hear",
    "OVERHEAD": "CUPTI writes them as it sees fit",
    "JIT": "kernels for an older GPU, which the driver compiles",
    "EXTERNAL_CORRELATION": "a program that uses CUPTI itself",
    "HOST_LAUNCH": "from CUDA 13.1 on",
    "GREEN_CONTEXT": "from CUDA 13.2 on, a part of a device that a program makes for itself",
    "GRAPH_HOST_NODE": "from CUDA 13.1 on, with --graph-nodes",
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
            if recording.expected and not recording.expected["possible"]:
                report.not_possible(name, str(recording.expected["reason"]))
                continue
            report.compare(f"{name}: what is recorded", "full activity", facts.get("cuda.fallback_level"), **facts)
            for table in tables:
                rows = recording.rows(table)
                report.compare(f"{name}: rows of {table}", "some", len(rows), bool(rows))
            found = problems(recording.rows("health"))
            report.compare(f"{name}: unknown or dropped", "none", "; ".join(found) or "none", not found)
        records(report, name, list(Path(raw).glob("*.raw")))


def records(report: Report, name: str, files: list[Path]) -> None:
    """Each kind that the program makes is among what was kept."""
    wanted = sorted((*EACH, *WRITES[name]))
    try:
        found = kinds_of(files)
    except Broken as error:
        report.failed(f"{name}: records as CUPTI wrote them", str(error))
        return
    missing = [kind for kind in wanted if found[kind] == 0]
    report.compare(
        f"{name}: records as CUPTI wrote them", ", ".join(wanted), ", ".join(sorted(found)) or "none", not missing
    )
    report.number(f"{name}: records kept", dict(sorted(found.items())))


def problems(rows: check.Rows) -> list[str]:
    return [
        f"{row['check']}: {row['finding']}"
        for row in rows
        if row["section"] == "reading" and row["status"] not in ("ok", "not applicable")
    ]
