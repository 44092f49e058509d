"""TraceLens: GEMM.csv, SDPA_fwd.csv, CONV_*.csv and their kin (operations, bytes and time of operators by shape)."""
from __future__ import annotations

import ast
import json
import pathlib
from collections import defaultdict
from collections.abc import Iterator

from cells import Cell, expected_folders, read_csv, table, trace_file

TOOL = "tracelens-roofline"
TABLES = ("GEMM", "SDPA_fwd", "SDPA_bwd", "CONV_fwd", "CONV_bwd", "Normalization", "BinaryElementwise", "UnaryElementwise")


def key_of(name: str, shapes: object, types: object) -> tuple[str, str, str]:
    return name, json.dumps(shapes), json.dumps(types)


def table_cells(name: str, trace: pathlib.Path, path: pathlib.Path) -> Iterator[Cell]:
    ours = defaultdict(list)
    for row in table("roofline", trace):
        if row["input_shapes"] is not None:
            ours[key_of(row["name"], json.loads(row["input_shapes"]), json.loads(row["input_types"]))].append(row)
    theirs = defaultdict(list)  # TraceLens also splits by strides and values of arguments
    for row in read_csv(path):
        shapes, types = ast.literal_eval(row["Input Dims_first"]), ast.literal_eval(row["Input type_first"])
        theirs[key_of(row["name"], shapes, types)].append(row)
    for key, rows in theirs.items():
        mine = ours.get(key, [])
        place = f"{TOOL}/{name}/{path.stem}/{key[0]} {key[1]} {key[2]}"
        calls = sum(int(row["name_count"]) for row in rows)
        time_ns = sum(float(row["Kernel Time (µs)_sum"]) * 1000 for row in rows)
        # It keeps times as floats of 24 bits.
        grain = time_ns * 2.0**-20 + calls
        yield Cell(f"{place}/calls", calls, sum(row["calls"] for row in mine) if mine else None)
        yield Cell(f"{place}/time_ns", time_ns, sum(row["device_total_ns"] for row in mine) if mine else None, grain)
        first = rows[0]
        one = mine[0] if mine else {}
        flops = float(first["GFLOPS_first"]) * 1e9
        yield Cell(f"{place}/flops", flops, one.get("flops"), 1e-6 * flops + 0.5)
        moved = float(first["Data Moved (MB)_first"]) * 2**20 if first["Data Moved (MB)_first"] else None
        if moved is not None:
            yield Cell(f"{place}/bytes", moved, one.get("bytes"), 0.5)
        if time_ns == 0:  # no kernel, no rate
            continue
        if moved is not None:
            yield Cell(f"{place}/gbs", moved * calls / time_ns, one.get("achieved_gbs"), moved * calls / time_ns * grain / time_ns)
        yield Cell(f"{place}/tflops", flops * calls / time_ns / 1000, one.get("achieved_tflops"),
                   flops * calls / time_ns / 1000 * grain / time_ns)


def cells() -> Iterator[Cell]:
    for name, folder in expected_folders("tracelens").items():
        trace = trace_file(name)
        if trace is None:
            continue
        for stem in TABLES:
            if (folder / f"{stem}.csv").exists():
                yield from table_cells(name, trace, folder / f"{stem}.csv")
