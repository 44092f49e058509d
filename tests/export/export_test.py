#!/usr/bin/env python3
"""fathom export, seen from outside: what is written says the same as what was read.

With Python's package `perfetto` installed, its schema must know every field that is written. Where
FATHOM_TRACE_PROCESSOR names Perfetto's trace_processor_shell, it loads each export, and its counts
must be ours; what it reads in Chrome's export, too.
"""
from __future__ import annotations

import collections
import decimal
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import perfetto_trace

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
TRACE_PROCESSOR = os.environ.get("FATHOM_TRACE_PROCESSOR", "")
TRACES = ROOT / "tests/data/traces"
NAMES = (
    "hta_alexnet.json.gz",
    "hta_event_sync.json.gz",
    "tl_h100_bert_small.json.gz",
    "tl_mi300_torch_compile_triton.json.gz",
    "kineto_gpu_metrics_input.json.gz",
)
SESSION = ROOT / "tests/data/runs/cpu_train"
TABLES = ("overview", "ops", "kernels", "steps", "copies", "launches", "syncs")


def all_traces() -> list[pathlib.Path]:
    found = sorted(TRACES.glob("*.json.gz"))
    assert len(found) > len(NAMES), TRACES
    return found


def fathom(*arguments: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([FATHOM, *arguments], input=data, capture_output=True, check=False, timeout=300)


def exported(path: pathlib.Path, *arguments: str) -> bytes:
    done = fathom("export", *arguments, str(path))
    assert done.returncode == 0, done.stderr
    return done.stdout


def events(path: pathlib.Path) -> tuple[list[dict[str, Any]], int]:
    """The events of the Chrome export, and what their times count from, ns."""
    document = json.loads(exported(path, "--to", "chrome"), parse_float=decimal.Decimal)
    return document["traceEvents"], int(document.get("baseTimeNanoseconds", 0))


def asked(data: bytes, suffix: str, query: str) -> str:
    """The lines, with a head, that Perfetto's trace processor answers to the query on the trace."""
    with tempfile.NamedTemporaryFile(suffix=suffix) as file, tempfile.NamedTemporaryFile("w") as text:
        file.write(data)
        file.flush()
        text.write(query)
        text.flush()
        return subprocess.run([TRACE_PROCESSOR, "-q", text.name, file.name], capture_output=True, text=True,
                              check=True, timeout=300).stdout


def table(report: str, path: str, data: bytes | None = None) -> object:
    done = fathom(report, "--json", path, data=data)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["rows"]


class Chrome(unittest.TestCase):
    def test_tables_of_what_was_written_are_those_of_what_was_read(self) -> None:
        for path in all_traces():
            again = exported(path, "--to", "chrome")
            for report in TABLES:
                with self.subTest(path=path.name, report=report):
                    self.assertEqual(table(report, str(path)), table(report, "-", again))

    def test_is_json_that_others_read(self) -> None:
        for path in all_traces():
            with self.subTest(path=path.name):
                self.assertGreater(len(json.loads(exported(path, "--to", "chrome"))["traceEvents"]), 10)

    def test_a_name_that_ends_in_gz_is_compressed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "x.json.gz")
            done = fathom("export", "-o", str(out), str(TRACES / NAMES[0]))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(gzip.decompress(out.read_bytes()), exported(TRACES / NAMES[0], "--to", "chrome"))

    def test_a_session_keeps_its_operators_and_steps(self) -> None:
        again = exported(SESSION, "--to", "chrome")
        for report in ("ops", "steps"):
            self.assertEqual(table(report, str(SESSION)), table(report, "-", again))


class CommandLine(unittest.TestCase):
    def test_says_what_may_be_asked_for(self) -> None:
        path = str(TRACES / NAMES[0])
        for arguments, words in (
            (("export", path), b"--to chrome or perfetto"),
            (("export", "--to", "pdf", path), b"'pdf' is not chrome or perfetto"),
            (("export", "--to", "chrome", path, path), b"one recording at a time"),
            (("export", "--to", "chrome", "--device", "9", path), b"no work of that device"),
        ):
            with self.subTest(arguments=arguments):
                done = fathom(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)

    def test_a_wrong_selection_leaves_the_file_that_is_there(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "x.json")
            out.write_text("precious")
            done = fathom("export", "--device", "9", "-o", str(out), str(TRACES / NAMES[0]))
            self.assertEqual(done.returncode, 2)
            self.assertEqual(out.read_text(), "precious")

    def test_steps_select_what_starts_in_them(self) -> None:
        again = exported(SESSION, "--to", "chrome", "--steps", "4")
        names = {event.get("name") for event in json.loads(again)["traceEvents"]}
        self.assertIn("ProfilerStep#4", names)
        self.assertNotIn("ProfilerStep#3", names)

    def test_of_a_trace_and_of_a_session_folder_it_takes_what_tables_select(self) -> None:
        for path, selection in (
            (SESSION, ("--steps", "4")),
            (TRACES / "tl_h100_bert_small.json.gz", ("--window", "2ms:20ms")),
            (TRACES / "tl_h100_bert_small.json.gz", ("--window", "1ms:3ms", "--device", "0")),
        ):
            data = exported(path, "--to", "chrome", *selection)
            for report in ("kernels", "launches", "copies", "ranges"):
                told = fathom(report, "--json", "--limit", "0", *selection, str(path))
                self.assertEqual(told.returncode, 0, told.stderr)
                rows = [
                    [(row.get("name", row.get("kind")), row.get("calls", row.get("count")), row.get("total_ns"))
                     for row in found]
                    for found in (json.loads(told.stdout)["rows"], table(report, "-", data))
                ]
                with self.subTest(path=path.name, selection=selection, report=report):
                    self.assertEqual(sorted(map(str, rows[0])), sorted(map(str, rows[1])))


class Perfetto(unittest.TestCase):
    def each(self) -> list[tuple[pathlib.Path, bytes]]:
        return [(path, exported(path, "--to", "perfetto")) for path in [TRACES / name for name in NAMES]]

    def test_every_slice_is_there_with_its_times(self) -> None:
        for path, data in self.each():
            found, base = events(path)
            ours = collections.Counter(
                (event["name"], base + int(event["ts"] * 1000), int(event["dur"] * 1000))
                for event in found if event["ph"] == "X"
            )
            trace = perfetto_trace.read(data)
            theirs = collections.Counter((part.name, part.start, part.duration) for part in trace.slices)
            with self.subTest(path=path.name):
                self.assertEqual(theirs, ours)
                self.assertEqual(trace.open, 0)

    def test_counters_and_arguments_are_there(self) -> None:
        for path, data in self.each():
            found, _ = events(path)
            trace = perfetto_trace.read(data)
            counted = [event for event in found if event["ph"] == "C"]
            with self.subTest(path=path.name):
                self.assertEqual(len(trace.samples), sum(len(event["args"]) for event in counted))
                told = {s.arguments["correlation"] for s in trace.slices if "correlation" in s.arguments}
                ours = {event["args"]["correlation"] for event in found if "correlation" in event.get("args", {})}
                self.assertEqual(told, ours)

    def test_arrows_go_from_launches_to_kernels(self) -> None:
        trace = perfetto_trace.read(exported(TRACES / "tl_h100_bert_small.json.gz", "--to", "perfetto"))
        starts = {flow: found for found in trace.slices for flow in found.flows}
        pairs = [(starts[flow], found) for found in trace.slices for flow in found.ended_flows if flow in starts]
        launches = [pair for pair in pairs if pair[1].category == "kernel"]
        self.assertGreater(len(launches), 10)
        for launch, kernel in launches:
            self.assertEqual(launch.arguments["correlation"], kernel.arguments["correlation"])

    def test_streams_lie_under_their_device_and_threads_in_their_process(self) -> None:
        trace = perfetto_trace.read(exported(TRACES / NAMES[0], "--to", "perfetto"))
        for found in trace.slices:
            track = trace.tracks[found.track]
            if found.category == "Kernel" or found.category == "kernel":
                self.assertEqual(trace.tracks[track.parent].name, "GPU 0")
            if track.thread is not None:
                self.assertIsNotNone(trace.tracks[track.parent].process)

    def test_the_schema_of_perfetto_knows_every_field(self) -> None:
        try:
            from google.protobuf.unknown_fields import UnknownFieldSet
            from perfetto.protos.perfetto.trace import perfetto_trace_pb2
        except ImportError:
            self.skipTest("the package perfetto is not installed")

        def unknown(part) -> int:  # type: ignore[no-untyped-def]
            count = len(UnknownFieldSet(part))
            for kind, value in part.ListFields():
                if kind.type == kind.TYPE_MESSAGE:
                    count += sum(map(unknown, value)) if hasattr(value, "add") else unknown(value)
            return count

        for path, data in self.each():
            trace = perfetto_trace_pb2.Trace.FromString(data)
            with self.subTest(path=path.name):
                self.assertEqual(sum(unknown(packet) for packet in trace.packet), 0)

    def needs_trace_processor(self) -> None:
        if not TRACE_PROCESSOR:
            self.skipTest("FATHOM_TRACE_PROCESSOR names no trace_processor_shell")

    def test_the_trace_processor_counts_the_same(self) -> None:
        self.needs_trace_processor()
        for path, data in self.each():
            trace = perfetto_trace.read(data)
            # Slices with equal arguments share them.
            expected = {
                "select count(*) from slice where dur >= 0 and category is not null":
                    sum(bool(found.category) for found in trace.slices),
                "select ifnull(sum(dur), 0) from slice": sum(found.duration for found in trace.slices),
                "select count(*) from counter": len(trace.samples),
                "select count(*) from flow": trace.arrows,
                "select count(*) from slice join args using (arg_set_id) where key = 'debug.correlation'":
                    sum("correlation" in found.arguments for found in trace.slices),
                "select count(*) from stats where severity = 'error' and value > 0": 0,
            }
            columns = ", ".join(f"({query})" for query in expected)
            with self.subTest(path=path.name):
                row = asked(data, ".pftrace", f"select {columns}").splitlines()[1]
                self.assertEqual(dict(zip(expected, map(int, row.split(",")), strict=True)), expected)

    def test_the_trace_processor_reads_both_exports_alike(self) -> None:
        self.needs_trace_processor()
        # Chrome's instants come as slices of a category without a duration; overlaps are the recording's own.
        durations = "select category, count(*), sum(dur) from slice where dur > 0 and category is not null group by 1"
        # A stream is a track of its own in one, a thread in the other.
        places = """select trim(coalesce(thread.name, track.name)), count(*), sum(dur)
            from slice join track on slice.track_id = track.id left join thread_track on thread_track.id = track.id
            left join thread using (utid) where dur > 0 and category is not null group by 1 order by 1"""
        failures = "select name from stats where severity = 'error' and value > 0 and name not like 'slice_spill%'"
        for name in NAMES:
            chrome = exported(TRACES / name, "--to", "chrome")
            perfetto = exported(TRACES / name, "--to", "perfetto")
            with self.subTest(path=name):
                self.assertEqual(asked(chrome, ".json", durations), asked(perfetto, ".pftrace", durations))
                self.assertEqual(asked(chrome, ".json", places), asked(perfetto, ".pftrace", places))
                self.assertEqual(asked(chrome, ".json", failures), asked(perfetto, ".pftrace", failures))


if __name__ == "__main__":
    sys.exit(unittest.main())
