"""The parts that need a GPU, with fakes of the driver's tools, nvcc and Fathom."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import importlib
import json
import os
import re
import select
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import check
import common
import main
import part_clock
import part_cost
import part_cuda
import part_edges
import part_ends
import part_graphs
import part_layers
import part_libtorch
import part_lines
import part_metrics
import part_ncu
import part_nvml
import part_nvtx
import part_others
import part_overhead
import part_pairs
import part_refused
import part_sessions
import part_threads
import part_torch
import part_truth
import part_windows
import programs_of
from common import Context
from outcome import FAILED, NOT_POSSIBLE, PASSED, Check, Report

# What a fake CUDA program prints.
DONE = {
    "schema": "fathom-gpu-program/1",
    "possible": True,
    "reason": "",
    "tick_ns": 32,
    "wall_ns": 1000,
    "launch_ns": 2000,
    "kernels": [
        {
            "name": "fathom_node",
            "calls": 3,
            "grid": [1, 1, 1],
            "block": [32, 1, 1],
            "shared_bytes": 0,
            "least_ns": 50_000,
            "most_ns": 0,
        }
    ],
    "copies": [],
    "calls": [],
    "ranges": [],
}
NVCC = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho '"'"'%s'"'"'\\n[ "$1" != abort ] || exit 134\\n' "$DONE" >"$2"
chmod +x "$2"
"""
SMI = """#!/bin/sh
[ -z "$ASKED" ] || echo asked >>"$ASKED"
echo "143771, 600, 700, 100, 40, 1980, 3201, 1980, 3201, 90, 5, 16"
"""
# Records what the program printed, and makes tables of that.
FATHOM = """#!{python} -IS
import json, os, sys
words = sys.argv[1:]
if words[0] == "run" and "--help" in words:
    print("--with shapes, graph-nodes, gpu-metrics --range cuda-profiler --gpu-metrics-rate")
elif words[0] == "run":
    import struct, subprocess
    session = words[words.index("-o") + 1]
    os.makedirs(session + "/lib")
    if "WITHOUT" not in os.environ:
        open(session + "/lib/libfathom_cuda.so", "w").close()
    lost = [{{"what": "gpu.sm_active (hardware counters of GPU 0)", "why": "x", "remedy": "y"}}]
    if "FATHOM_CUPTI" in os.environ:
        lost = [{{"what": "GPU activity", "why": "x", "remedy": "y"}}]
    refused = "REFUSED" in os.environ or "nowhere" in os.environ.get("FATHOM_CUPTI", "")
    said = {{"gpus": [], "not_recorded": lost if refused else []}}
    if "FATHOM_CUDA_RAW" in os.environ:
        kinds = json.loads(os.environ.get("KINDS", "[1, 2, 4, 5, 8, 9, 10, 36, 37, 38, 49, 51]"))
        data = b"FATHOMRAW1\\n" + struct.pack("<II", 130000, len(kinds))
        data += b"".join(struct.pack("<IIIIIII", 8, 1, kind, 0, 4, 4, 7) for kind in kinds)
        open(os.environ["FATHOM_CUDA_RAW"] + "/cupti-1.raw", "wb").write(data)
    open(session + "/manifest.json", "w").write(json.dumps(said))
    done = subprocess.run(words[words.index("--") + 1:], capture_output=True, text=True)
    out = done.stdout
    open(session + "/out", "w").write(out)
    print(out, end="")
    sys.exit(done.returncode if words[-1] == "true" else int(os.environ.get("CODE", done.returncode)))
elif words[0] == "doctor":
    driver = {{"section": "GPU", "what": "driver", "state": "ok", "detail": ""}}
    print(json.dumps({{"checks": [driver]}}))
else:
    if words[0] == "export":
        open(words[words.index("-o") + 1], "w").write(json.dumps({{"traceEvents": json.loads(os.environ["EVENTS"])}}))
        sys.exit()
    # Of each process of the session.
    done = [json.loads(line) for line in open(words[1] + "/out") if line.startswith("{{")]
    kernels = [k for each in done for k in each.get("kernels", [])]
    count = int(os.environ.get("TIMES", "1"))
    rows = []
    if words[0] == "kernels":
        # A process that has none has no rows; each other one is an input.
        inputs = [{{"rows": []}} for each in done]
        for k, rows in [(k, at["rows"]) for at, each in zip(inputs, done) for k in each.get("kernels", [])]:
            rows.append({{"name": k["name"], "calls": count * k["calls"], "total_ns": 1,
                         "grid": str(k["grid"]), "block": str(k["block"]),
                         "min_ns": k["least_ns"], "max_ns": k["least_ns"]}})
    if words[0] == "launches":
        calls = sum(k["calls"] for k in kernels)
        rows = [{{"name": "cudaLaunchKernel", "calls": calls, "host_total_ns": 9}}]
    if words[0] == "info":
        rows = [{{"name": "cuda.fallback_level", "value": "full activity"}},
                {{"name": "cuda.clock.error_ns cuda-7.fathom", "value": os.environ.get("CLOCK", "900")}},
                {{"name": "device streams", "value": int(os.environ.get("STREAMS", "2"))}}]
    if words[0] in ("syncs", "copies") and "ROWS" in os.environ:
        rows = [{{"kind": "some", "source": "", "destination": "", "count": 1, "bytes": 1}}]
    if words[0] == "health" and "DROPPED" in os.environ:
        rows = [{{"check": "dropped", "section": "reading", "status": "warning", "finding": "x", "count": 7}}]
    if words[0] == "health" and "FAULT" in os.environ:
        rows = [{{"check": "cupti_first_kernels_lost", "section": "recording", "status": "warning", "finding": "x",
                 "count": int(os.environ["FAULT"])}}]
    if words[0] == "health" and "DEVICES" in os.environ:
        rows = [{{"check": "device_properties", "section": "recording", "status": "ok", "finding": "", "count": 0}}]
    if words[0] == "ranges":
        rows = json.loads(os.environ.get("RANGES", "[]"))
    if words[0] == "telemetry":
        most = float(os.environ.get("MOST", "99"))
        for name, unit, low, middle, high in (("gpu.power", "watts", 90, 101, 110),
                                              ("gpu.dram_bandwidth", "percent", 0, 1, 2),
                                              ("gpu.sm_active", "percent", 0, 50, most)):
            if "REFUSED" in os.environ and name != "gpu.power":
                continue
            rows.append({{"counter": name, "device": 0, "unit": unit, "samples": 50,
                         "min": low, "p50": middle, "max": high}})
    several = words[0] == "kernels" and len(done) != 1
    print(json.dumps({{"inputs": inputs}} if several else {{"rows": rows}}))
"""


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@contextlib.contextmanager
def machine(**environment: str) -> Iterator[Context]:
    """A machine that looks as if it had a GPU."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("bin", "work", "keep"):
            (root / folder).mkdir()
        script(root / "bin/nvcc", NVCC)
        script(root / "bin/nvidia-smi", SMI)
        fathom = script(root / "fathom", FATHOM.format(python=sys.executable))
        python = script(root / "bin/python", "#!/bin/sh\nexit 0\n")
        path = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {"PATH": path, "DONE": json.dumps(DONE), **environment}):
            yield Context(fathom, str(python), root / "work", root / "keep", dry=False, budget=200)


class Lines(unittest.TestCase):
    SPENT = {"model": 900_000, "loss": 100_000}
    EXPECTED = {"rounds": 10, "lines": {"model": 16, "loss": 17, "host": 18, "wait": 19}, "spent_ns": SPENT}

    def failed(self, waits: bool = True, **changed: dict[str, int | None]) -> set[str]:
        """Names of the checks that fail, where lines have those columns instead."""
        columns: dict[str, dict[str, int | None]] = {
            "model": {"device_ns": 905_000, "awaited_ns": 890_000},
            "loss": {"device_ns": 99_000, "awaited_ns": 100_000},
            "host": {"host_ns": 5 if waits else 2_000_000},
            "wait": {"blocked_ns": 985_000 if waits else 2_000},
        }
        rows = []
        for line, number in self.EXPECTED["lines"].items():
            empty = dict.fromkeys(("device_ns", "blocked_ns", "awaited_ns", "host_ns"))
            more = {**columns[line], **changed.get(line, {})}
            rows.append({"location": f"/x/line_work.py:{number}", "hits": 11, **empty, **more})
        report = Report("lines")
        part_lines.hold(report, "it", self.EXPECTED, rows, waits)
        return {each.name for each in report.checks if each.state != PASSED}

    def test_device_times_and_waits_are_held_to_the_program(self):
        self.assertEqual(self.failed(), set())
        self.assertEqual(self.failed(waits=False), set())
        self.assertEqual(self.failed(loss={"device_ns": 103_000}), {"it: device time of loss"})
        self.assertEqual(self.failed(host={"device_ns": 7}), {"it: the host's line launches nothing"})
        # As another profiler would have it: all of it is the line's that waits.
        self.assertEqual(
            self.failed(model={"device_ns": None, "awaited_ns": None}),
            {"it: device time of model", "it: what was awaited of model"},
        )
        self.assertEqual(
            self.failed(model={"blocked_ns": 900_000}, wait={"blocked_ns": 90_000}),
            {"it: model waits for nothing", "it: the line that waits has the waiting"},
        )
        self.assertEqual(
            self.failed(waits=False, wait={"blocked_ns": 500_000}), {"it: nothing is left to wait for"}
        )

    def test_a_line_that_is_not_there_fails(self):
        report = Report("lines")
        part_lines.hold(report, "it", self.EXPECTED, [], True)
        self.assertEqual(report.state, FAILED)


class Cuda(unittest.TestCase):
    def setUp(self) -> None:
        # A few of the programs are enough.
        runs = (("kernels", (), 0), ("ends", ("abort",), 134))
        for name, value in (("PROGRAMS", ("kernels", "graphs", "ranges", "ends")), ("RUNS", runs)):
            patch = mock.patch.object(part_cuda, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_every_program_is_recorded_held_to_its_word_and_kept(self):
        with machine() as context:
            report = Report("cuda")
            part_cuda.run(context, report)
            self.assertEqual(report.state, PASSED, report.reason)
            kept = {path.name for path in context.keep.iterdir()}
            self.assertLessEqual({"kernels", "ends_abort", "graphs_by_node", "ranges_window"}, kept)
            self.assertTrue((context.keep / "kernels/program.json").exists())
            self.assertIn("graphs: wall_ns of the program", report.numbers)

    def test_what_is_recorded_twice_fails_and_the_rest_is_still_checked(self):
        with machine(TIMES="2") as context:
            report = Report("cuda")
            part_cuda.run(context, report)
            self.assertEqual(report.state, FAILED)
            failed = [each.name for each in report.checks if each.state == FAILED]
            self.assertIn("kernels: fathom_node: count", failed)
            self.assertIn("ranges_window: fathom_node: count", failed)

    def test_health_fails_by_its_own_words_for_what_is_bad_and_by_a_note_of_what_is_missing(self):
        for status, section, state in (
            ("ok", "links", PASSED),
            ("not applicable", "links", PASSED),
            ("note", "links", FAILED),
            ("note", "reading", FAILED),
            ("note", "time", PASSED),
            ("warning", "time", FAILED),
            ("bad", "time", FAILED),
            ("bad", "steps", PASSED),
        ):
            row = {"check": "some", "section": section, "status": status, "finding": "x", "count": 1}
            context = mock.Mock(rows=mock.Mock(return_value=[row]))
            found = part_cuda.health(context, Path("session"))[0]
            self.assertEqual(found.state, state, (status, section))
            self.assertEqual(found.got, "nothing" if state == PASSED else "some: x")

    def test_without_the_library_the_programs_run_unrecorded(self):
        with machine(WITHOUT="1") as context:
            report = Report("cuda")
            part_cuda.run(context, report)
            self.assertEqual(report.state, PASSED, report.reason)
            self.assertEqual(list(context.keep.iterdir()), [])


class Others(unittest.TestCase):
    def test_telemetry_is_compared_with_what_nvidia_smi_says_meanwhile(self):
        with (
            tempfile.NamedTemporaryFile() as asked,
            machine(ASKED=asked.name) as context,
            mock.patch.object(part_nvml, "LOAD_S", 0),
        ):
            # It goes on until nvidia-smi was asked often enough.
            waiting = 'while [ "$(wc -l <"$ASKED")" -lt 5 ]; do sleep 0.02; done'
            script(Path(context.python), f"#!/bin/sh\n[ $# -lt 3 ] || {waiting}\n")
            report = Report("nvml")
            part_nvml.run(context, report)
            states = {each.name: each.state for each in report.checks}
            self.assertEqual(states["gpu.power"], PASSED)
            self.assertEqual(states["doctor sees the driver"], PASSED)
            self.assertEqual(states["the manifest lists the GPUs"], FAILED)

    def metrics(self, **environment: str) -> Report:
        events = [{"ph": "C", "name": "gpu.sm_active device", "ts": at, "args": {"0": 50}} for at in range(100)]
        with (
            machine(EVENTS=json.dumps(events), **environment) as context,
            mock.patch.object(part_metrics, "STOPS", 'exec "$0" "$@"'),
        ):
            report = Report("metrics")
            part_metrics.run(context, report)
            return report

    def test_counters_of_the_hardware_arrive_and_are_in_range(self):
        report = self.metrics()
        names = {each.name for each in report.checks}
        self.assertLessEqual({"gpu.sm_active is there", "gpu.dram_bandwidth is there"}, names)
        self.assertEqual(report.state, PASSED, report.reason)

    def test_counters_out_of_range_fail(self):
        report = self.metrics(MOST="101")
        failed = [each.name for each in report.checks if each.state == FAILED]
        self.assertEqual(failed, ["gpu.sm_active"])

    def test_a_refusal_that_is_named_is_not_possible_and_no_failure(self):
        report = self.metrics(REFUSED="1")
        states = {each.name: each.state for each in report.checks}
        self.assertEqual(states["the refusal is named, with its remedy"], PASSED)
        self.assertNotEqual(report.state, FAILED)


class Compared(unittest.TestCase):
    """Parts whose checks say what was expected and what came."""

    def run_part(self, part: Any, **environment: str) -> dict[str, Check]:
        with machine(**environment) as context:
            return self.part_of(context, part)

    @staticmethod
    def part_of(context: Context, part: Any) -> dict[str, Check]:
        report = Report("part")
        with tempfile.TemporaryDirectory() as scratch:
            work = Path(scratch, "work")
            work.mkdir()
            part.run(dataclasses.replace(context, work=work), report)
        return {each.name: each for each in report.checks}

    def test_an_end_that_loses_kernels_fails_with_both_numbers_and_the_facts(self):
        with mock.patch.object(part_ends, "ENDS", (("return", 3, False), ("kill", 4, True))):
            checks = self.run_part(part_ends)
        self.assertEqual(checks["return: kernels"].state, PASSED)
        kill = checks["kill: kernels"]
        self.assertEqual((kill.state, kill.expected, kill.got), (FAILED, "4", "3"))
        self.assertEqual(kill.facts["cuda.fallback_level"], "full activity")
        self.assertEqual((kill.facts["dropped"], kill.facts["jumps"], kill.facts["refused"]), (0, 0, ""))

    def test_what_a_known_fault_of_cupti_loses_is_no_failure_and_is_named(self):
        with mock.patch.object(part_ends, "ENDS", (("return", 4, False),)):
            found = self.run_part(part_ends, FAULT="1")["return: kernels"]
            self.assertEqual(found.state, PASSED)
            self.assertEqual(found.facts["lost by a fault of this CUPTI"], 1)
        with mock.patch.object(part_ends, "ENDS", (("return", 5, False),)):
            self.assertEqual(self.run_part(part_ends, FAULT="1")["return: kernels"].state, FAILED)

    def test_calls_that_launch_nothing_are_no_reason_to_expect_more_records(self):
        launches = programs_of.Recording.rows

        def more(recording: Any, table: str) -> Any:
            rows = launches(recording, table)
            return [*rows, {"name": "cudaFree", "calls": 1}] if table == "launches" else rows

        with mock.patch.object(programs_of.Recording, "rows", more):
            checks = self.run_part(part_threads)
        self.assertEqual(checks["little memory: recorded or counted"].state, PASSED)

    def test_an_exit_code_that_is_not_the_programs_fails(self):
        with mock.patch.object(part_ends, "ENDS", (("abort", 3, True),)):
            self.assertEqual(self.run_part(part_ends)["abort: exit code"].state, PASSED)
            self.assertEqual(self.run_part(part_ends, CODE="3")["abort: exit code"].state, FAILED)

    def test_at_an_end_without_a_wait_kernels_are_recorded_or_counted(self):
        with mock.patch.object(part_ends, "ENDS", (("nosync", 10, False),)):
            self.assertEqual(self.run_part(part_ends)["nosync: kernels"].state, FAILED)
            self.assertEqual(self.run_part(part_ends, DROPPED="1")["nosync: kernels"].state, PASSED)

    def test_records_for_which_there_is_no_memory_are_all_counted(self):
        name = "little memory: recorded or counted"
        self.assertEqual(self.run_part(part_threads)[name].state, PASSED)
        # As many calls as launches, and kernels of half of them, of which nobody says anything.
        done = json.dumps({**DONE, "kernels": [{**DONE["kernels"][0], "calls": 4}]})
        with mock.patch.object(programs_of.Recording, "kernels", lambda *_: 2):
            self.assertEqual(self.run_part(part_threads, DONE=done)[name].state, FAILED)
            self.assertEqual(self.run_part(part_threads, DONE=done, DROPPED="1")[name].state, PASSED)

    def test_devices_are_known_however_recording_begins(self):
        for name in ("signals", "delay", "range"):
            self.assertEqual(self.run_part(part_windows)[f"{name}: devices"].state, FAILED)
            self.assertEqual(self.run_part(part_windows, DEVICES="1")[f"{name}: devices"].state, PASSED)

    def test_a_window_has_some_of_the_kernels_and_a_capture_all(self):
        # All of them, as if there had been no window; none; and one.
        for found, state in ((3, FAILED), (0, FAILED), (1, PASSED)):
            with mock.patch.object(programs_of.Recording, "kernels", lambda *_, found=found: found):
                checks = self.run_part(part_windows)
            for name in ("signals", "delay"):
                each = checks[f"{name}: kernels"]
                self.assertEqual((each.state, each.expected, each.got), (state, "some of 3", str(found) if found else "0"))
                self.assertIn("dropped", each.facts)
        self.assertEqual(self.run_part(part_windows)["range: kernels"].state, PASSED)
        self.assertEqual(self.run_part(part_windows, TIMES="2")["range: kernels"].state, FAILED)

    def sessions(self, kernels: list[int], **environment: str) -> dict[str, Check]:
        """Ten profiles alone, which have 50 kernels each, and with Fathom."""
        alone = {"possible": True, "kernels": [50, 50], "launches": 50, "cuda": "13.1"}
        says = [json.dumps(each) for each in (alone, {**alone, "kernels": kernels})]
        with machine(**environment) as context:
            first = context.work / "first"
            text = f"#!/bin/sh\n[ -e {first} ] && echo ' {says[1]}' || echo ' {says[0]}'\ntouch {first}\n"
            script(Path(context.python), text)
            report = Report("sessions")
            with mock.patch.multiple(part_sessions, WAYS=("ten",), two_processes=lambda *_: None):
                part_sessions.run(context, report)
            return {each.name: each for each in report.checks}

    def test_profiles_under_fathom_that_lack_kernels_or_are_fewer_fail(self):
        name = "ten: kernels of each profile under fathom run"
        self.assertEqual(self.sessions([50, 50])[name].state, PASSED)
        lacks = self.sessions([50, 49])[name]
        self.assertEqual((lacks.state, lacks.expected, lacks.got), (FAILED, "at least [50, 50]", "[50, 49]"))
        self.assertIn("dropped", lacks.facts)
        self.assertEqual(self.sessions([50])["ten auto"].state, FAILED)

    def test_beside_torchs_profiler_by_cuda_always_kernels_are_there_or_it_is_named_who_took_cupti(self):
        name = "ten, --cuda always"
        self.assertEqual(self.sessions([50, 50])[name].state, FAILED)
        with mock.patch.object(programs_of.Recording, "kernels", lambda *_: 7):
            self.assertEqual(self.sessions([50, 50])[name].state, PASSED)
        lost = [{"what": "GPU activity from when another profiler in this process took CUPTI", "why": "", "remedy": ""}]
        with mock.patch.object(programs_of.Recording, "not_recorded", lambda *_: lost):
            self.assertEqual(self.sessions([50, 50])[name].state, PASSED)

    def test_what_nvidia_smi_tells_differently_fails(self):
        for name, ours in (("gpu.power", 101.0), ("gpu.power", 250.0)):
            found = check.close(name, ours, 100.0, 0.15, 10)
            self.assertEqual(found.state, PASSED if ours < 200 else FAILED)
            self.assertTrue(found.expected and found.got and "may_differ_by" in found.facts)

    def test_times_by_the_injection_are_those_of_torchs_profiler(self):
        for ours, state in ((100, PASSED), (101, PASSED), (103, FAILED), (0, FAILED)):
            report = Report("torch", None)
            part_torch.same_times(report, [{"total_ns": ours}], [{"total_ns": 60}, {"total_ns": 40}])
            self.assertEqual(report.checks[-1].state, state)

    def test_packages_are_looked_for_once(self):
        part_cuda.packages.cache_clear()
        with machine() as context:
            for _ in range(3):
                part_cuda.packages(context, "lib/libcupti.so*")
            self.assertEqual(part_cuda.packages.cache_info().misses, 1)

    def test_facts_name_what_was_dropped_and_refused(self):
        with mock.patch.object(part_ends, "ENDS", (("return", 3, False),)):
            checks = self.run_part(part_ends, DROPPED="1", REFUSED="1")
        facts = checks["return: kernels"].facts
        self.assertEqual(facts["dropped"], 7)
        self.assertIn("gpu.sm_active", facts["refused"])

    def test_each_layer_has_its_records_and_they_are_kept_as_they_are(self):
        checks = self.run_part(part_layers, ROWS="1")
        self.assertEqual({each.state for each in checks.values()}, {PASSED})
        self.assertIn("copies: records as CUPTI wrote them", checks)
        dropped = self.run_part(part_layers, DROPPED="1")
        self.assertEqual(dropped["copies: unknown or dropped"].state, FAILED)

    def test_a_kind_that_is_not_among_the_records_kept_fails(self):
        checks = self.run_part(part_layers, ROWS="1", KINDS="[1, 5, 8, 9, 10, 36, 37, 38, 49, 51]")
        copies = checks["copies: records as CUPTI wrote them"]
        self.assertEqual((copies.state, copies.expected), (FAILED, "CONTEXT, DEVICE, MEMCPY, MEMSET, RUNTIME"))
        self.assertNotIn("MEMSET", copies.got)
        self.assertEqual(checks["kernels: records as CUPTI wrote them"].state, PASSED)
        # Of the driver's calls there are none.
        self.assertEqual(checks["contexts: records as CUPTI wrote them"].state, FAILED)

    def test_each_kind_that_the_recorder_asks_for_is_expected_or_it_is_written_why_not(self):
        sources = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2]) / "src/capture/cuda"
        asked = set(re.findall(r"Wanted\{CUPTI_ACTIVITY_KIND_(\w+),", (sources / "fallback.cc").read_text()))
        asked |= set(re.findall(r"enable\(CUPTI_ACTIVITY_KIND_(\w+)\)", (sources / "tracer.cc").read_text()))
        self.assertGreaterEqual(len(asked), 20)
        expected = {kind for kinds in (part_layers.EACH, *part_layers.WRITES.values()) for kind in kinds}
        self.assertEqual(expected | set(part_layers.NOT_MADE), asked)
        self.assertEqual(expected & set(part_layers.NOT_MADE), set())

    def test_a_program_that_is_not_possible_here_fails_no_layer(self):
        none = json.dumps({**DONE, "possible": False, "reason": "the driver has no cuCtxCreate_v2"})
        checks = self.run_part(part_layers, ROWS="1", DONE=none)
        self.assertEqual(checks["contexts"].state, NOT_POSSIBLE)
        self.assertNotIn("contexts: rows of kernels", checks)
        self.assertNotIn("contexts: records as CUPTI wrote them", checks)

    def test_what_a_kill_loses_of_a_full_queue_has_a_limit(self):
        for found, state in ((40_000, PASSED), (33_000, PASSED), (31_000, FAILED), (0, FAILED), (40_001, FAILED)):
            report = Report("ends")
            part_ends.killed(report, found, {})
            self.assertEqual(report.checks[0].state, state, found)
        self.assertEqual(list(report.numbers.values()), [[40_001, -1]])
        source = Path(__file__).with_name("programs").joinpath("ends.cu").read_text()
        self.assertIn(f'how == "busy" ? {part_ends.BUSY // 1000}\'000 : 30', source)
        self.assertIn(f"kNs = {part_ends.KERNEL_US}'000;", source)
        # As long as it must be for what is handed over four times a second to be much of it.
        self.assertGreaterEqual(part_ends.BUSY * part_ends.KERNEL_US, 3_000_000)

    def nvtx(self, calls: int = 5, runs: str = "exit 0", **environment: str) -> dict[str, Check]:
        names = [("of torch", None), ("pushed", None), ("outer", None), ("inner", "library")]
        rows = [{"name": name, "domain": domain, "calls": calls} for name, domain in names]
        with machine(RANGES=json.dumps(rows), **environment) as context:
            script(Path(context.python), f"#!/bin/sh\n{runs}\n")
            return self.part_of(context, part_nvtx)

    def test_ranges_of_torch_and_of_pythons_package_are_counted(self):
        checks = self.nvtx()
        self.assertEqual({each.state for each in checks.values()}, {PASSED})
        for name in ("torch.cuda.nvtx: of torch", "torch.cuda.nvtx: pushed", "Python: inner of library"):
            self.assertEqual((checks[name].expected, checks[name].got), ("5", "5"))
        twice = self.nvtx(calls=10)
        self.assertEqual(twice["torch.cuda.nvtx: pushed"].state, FAILED)
        self.assertEqual(twice["Python: outer"].state, FAILED)

    def test_a_torch_that_does_not_run_without_fathom_either_is_not_possible(self):
        checks = self.nvtx(runs='[ "$1" = -c ] || exit 1')
        self.assertEqual(checks["torch.cuda.nvtx"].state, NOT_POSSIBLE)

    def test_a_clock_that_is_not_known_well_enough_fails(self):
        self.assertEqual(self.run_part(part_truth)["kernels: the clock's error"].state, PASSED)
        checks = self.run_part(part_truth, CLOCK="70000")
        self.assertEqual(checks["kernels: the clock's error"].state, FAILED)

    def test_the_devices_clock_is_held_against_the_recording_by_both_parts(self):
        def events(late: int) -> str:
            kernel = {"cat": "kernel", "name": "fathom_clock", "ts": 0, "dur": 2051.5 + late}
            call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": -100, "dur": 1}
            found = [kernel, call, {**call, "ts": 1, "dur": 7}]
            return json.dumps([{"ph": "X", **each} for each in found])

        times = [0, 9000, 2_000_000, 2_003_000, 70, 50_070]
        done = json.dumps({**DONE, "readings": times})
        for part, name in ((part_truth, "5 s"), (part_clock, "300 s")):
            checks = self.run_part(part, DONE=done, EVENTS=events(0))
            ends = checks[f"%globaltimer, {name}: recorded ends of kernels"]
            self.assertEqual((ends.state, ends.got), (PASSED, "0 ns"))
            self.assertIn("cuda.fallback_level", ends.facts)
            checks = self.run_part(part, DONE=done, EVENTS=events(60))
            ends = checks[f"%globaltimer, {name}: recorded ends of kernels"]
            self.assertEqual((ends.state, ends.got), (FAILED, "60000 ns"))

    def test_what_is_recorded_twice_by_threads_fails(self):
        self.assertEqual(self.run_part(part_threads)["200 threads: kernels"].state, PASSED)
        checks = self.run_part(part_threads, TIMES="2")
        self.assertEqual(checks["200 threads: kernels"].state, FAILED)
        self.assertEqual(checks["fork before cuInit: kernels"].state, FAILED)
        self.assertEqual(checks["fork after cuInit: kernels"].state, FAILED)

    def test_of_two_contexts_each_has_its_kernels_and_a_stream(self):
        checks = self.run_part(part_threads)
        self.assertEqual(checks["two contexts: fathom_node"].state, PASSED)
        self.assertEqual(checks["two contexts: device streams"].state, PASSED)
        checks = self.run_part(part_threads, STREAMS="1")
        self.assertEqual(checks["two contexts: device streams"].state, FAILED)

    def test_nodes_are_there_or_counted_and_the_limit_was_taken(self):
        name = "nodes with 8 buffers of the device"
        few = json.dumps({**DONE, "pool_limit": "set"})
        checks = self.run_part(part_graphs, DONE=few)
        self.assertEqual(checks[f"{name}: the limit"].state, PASSED)
        self.assertEqual(checks[f"{name}: recorded or counted as dropped"].state, PASSED)
        # What is there twice, and what is not there and not counted.
        for times in ("2", "0"):
            checks = self.run_part(part_graphs, DONE=few, TIMES=times)
            self.assertEqual(checks[f"{name}: recorded or counted as dropped"].state, FAILED)
        checks = self.run_part(part_graphs, DONE=few, TIMES="0", DROPPED="1")
        self.assertEqual(checks[f"{name}: recorded or counted as dropped"].state, PASSED)
        other = json.dumps({**DONE, "pool_limit": "no CUPTI"})
        self.assertEqual(self.run_part(part_graphs, DONE=other)[f"{name}: the limit"].state, FAILED)

    def by_python(self, part: Any, says: dict[str, Any], **environment: str) -> dict[str, Check]:
        """The part, where whatever Python runs says this."""
        with machine(**environment) as context:
            script(Path(context.python), f"#!/bin/sh\necho '{json.dumps(says)}'\n")
            report = Report("part")
            part(context, report)
            return {each.name: each for each in report.checks}

    def test_a_model_that_cannot_be_compiled_is_not_possible(self):
        says = {"possible": False, "reason": "no Triton"}
        checks = self.by_python(part_graphs.compiled_graphs, says)
        found = checks["torch.compile, reduce-overhead"]
        self.assertEqual((found.state, found.detail), (NOT_POSSIBLE, "no Triton"))

    def test_graphs_of_a_compiled_model_are_recorded_as_torch_has_them_and_as_wholes(self):
        says = {**DONE, "sum": 1.5}
        whole = {"ph": "X", "cat": "kernel", "name": "CUDA graph 3", "ts": 1, "dur": 1}
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "ts": 0, "dur": 1}
        name = "torch.compile, reduce-overhead"
        for events, state in (([whole, launch], PASSED), ([launch], FAILED)):
            with mock.patch.object(part_graphs, "last_json", lambda text: says | {"kernels": {"fathom_node": 3}}):
                checks = self.by_python(part_graphs.compiled_graphs, says, EVENTS=json.dumps(events))
            self.assertEqual(checks[f"{name}: kernels of five steps"].state, PASSED)
            self.assertEqual(checks[f"{name}: graphs as wholes"].state, state)

    def test_two_processes_have_twice_what_one_has(self):
        says = {**DONE, "profiler": {"kernels": {"fathom_node": 3}}}
        checks = self.by_python(part_sessions.two_processes, says)
        self.assertEqual(checks["two processes: kernels"].state, PASSED)
        checks = self.by_python(part_sessions.two_processes, says, TIMES="2")
        found = checks["two processes: kernels"]
        self.assertEqual((found.state, found.expected, found.got), (FAILED, "6", "12"))

    def test_profiles_have_what_they_have_without_fathom_or_lack_what_this_cupti_loses(self):
        alone = {"kernels": [50, 50, 50], "launches": 50, "cuda": "13.1"}
        self.assertEqual(part_sessions.least(alone), [50, 50, 50])
        self.assertEqual(part_sessions.least({**alone, "cuda": "13.0"}), [48, 47, 46])
        self.assertEqual(part_sessions.least({**alone, "cuda": "13.0", "kernels": [9, 0, 0]}), [9, 0, 0])

    def test_what_recording_costs_is_compared_run_by_run(self):
        done = json.dumps({**DONE, **dict.fromkeys(part_cost.LIMITS, 1000)})
        checks = self.run_part(part_cost, DONE=done)
        self.assertEqual({each.state for each in checks.values()}, {PASSED})
        self.assertLessEqual(set(part_cost.LIMITS), set(checks))
        checks = self.run_part(part_cost, DONE=done, TIMES="2")
        self.assertEqual(checks["round 0: kernels"].state, FAILED)

    def test_counters_that_are_refused_beside_torch_are_not_possible(self):
        checks = self.run_part(part_edges, EVENTS="[]", REFUSED="1")
        self.assertEqual(checks["counters beside torch.profiler: the refusal"].state, PASSED)
        self.assertEqual(checks["counters beside torch.profiler"].state, NOT_POSSIBLE)
        checks = self.run_part(part_edges, EVENTS="[]")
        self.assertEqual(checks["counters beside torch.profiler: the refusal"].state, FAILED)

    def ncu(self, says: str, sm: float) -> dict[str, Check]:
        times = range(100)
        kernels = [("fathom_copy", time) for time in times] + [("fathom_gemm", time) for time in times]
        events: list[dict[str, Any]] = [
            {"ph": "X", "cat": "kernel", "name": name, "ts": 1000 * time, "dur": 990} for name, time in kernels
        ]
        for counter in ("gpu.sm_active", "gpu.dram_bandwidth"):
            events += [{"ph": "C", "name": f"{counter} device", "ts": 1000 * time, "args": {"0": sm}} for time in times]
        with machine(EVENTS=json.dumps(events)) as context:
            script(context.work.parent / "bin/ncu", f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
            report = Report("part")
            part_ncu.run(context, report)
            return {each.name: each for each in report.checks}

    def test_counters_are_near_those_of_ncu_or_it_was_refused(self):
        names = ("gpu.sm_active", "gpu.dram_bandwidth")
        rows = [f'"0","{part_ncu.METRICS[name]}","%","90"' for name in names]
        table = "\n".join(['"ID","Metric Name","Metric Unit","Metric Value"', *rows])
        checks = self.ncu(table, 85)
        self.assertEqual(checks["copy: gpu.dram_bandwidth"].state, PASSED)
        self.assertEqual(checks["gemm: gpu.sm_active"].state, PASSED)
        self.assertEqual(checks["gemm: gpu.tensor_active"].state, NOT_POSSIBLE)
        self.assertEqual(self.ncu(table, 79)["copy: gpu.dram_bandwidth"].state, FAILED)
        refused = self.ncu("==ERROR== ERR_NVGPUCTRPERM - no permission", 85)["copy: ncu"]
        self.assertEqual(refused.state, NOT_POSSIBLE)
        self.assertIn("ERR_NVGPUCTRPERM", refused.detail)

    def test_libtorch_is_compiled_with_the_headers_that_torch_brings(self):
        with tempfile.TemporaryDirectory() as include:
            places = {"include": [include], "libraries": "/nowhere", "cuda": True, "abi": 1}
            checks = self.by_python(part_libtorch.run, places)
            found = checks["C++ with LibTorch"]
            self.assertEqual((found.state, found.detail), (NOT_POSSIBLE, "PyTorch's headers are not there"))
            Path(include, "torch").mkdir()
            Path(include, "torch/torch.h").write_text("")
            says = json.dumps({**DONE, "kernels": [{**DONE["kernels"][0], "calls": 51}], "value": 51})
            compiler = script(Path(include, "compiler"), NVCC)
            checks = self.by_python(part_libtorch.run, places, DONE=says, CXX=str(compiler))
            self.assertEqual(checks["C++ with LibTorch: computes"].state, PASSED)
            self.assertEqual(checks["C++ with LibTorch: kernels"].state, PASSED)
            checks = self.by_python(part_libtorch.run, places, DONE=says, CXX=str(compiler), TIMES="0")
            self.assertEqual(checks["C++ with LibTorch: kernels"].state, FAILED)

    def test_a_loss_that_is_not_named_fails(self):
        checks = self.run_part(part_refused)
        self.assertEqual(checks["no such libcupti: what is named"].state, PASSED)
        self.assertEqual(checks["a libcupti that is none: what is named"].state, FAILED)

    def test_beside_a_tool_the_exit_code_is_the_tools_and_kernels_are_recorded_or_named(self):
        right = self.beside_tools('exec "$last"')
        self.assertEqual(right["ncu: exit code"].state, PASSED)
        self.assertEqual(right["ncu: recorded or named"].state, PASSED)
        other = self.beside_tools('exec "$last"', CODE="7")["ncu: exit code"]
        self.assertEqual((other.state, other.expected, other.got), (FAILED, "0, as without Fathom", "7"))
        self.assertEqual(self.beside_tools('"$last"; exit 7')["ncu: exit code"].state, PASSED)
        # Of three kernels none is recorded, without and with a word about it.
        self.assertEqual(self.beside_tools('exec "$last"', TIMES="0")["ncu: recorded or named"].state, FAILED)
        with mock.patch.object(part_refused, "LOST", ("gpu.sm_active",)):
            named = self.beside_tools('exec "$last"', TIMES="0", REFUSED="1")
        self.assertEqual(named["ncu: recorded or named"].state, PASSED)

    def test_a_tool_that_does_not_run_without_fathom_either_is_not_possible(self):
        self.assertEqual(self.beside_tools("exit 9")["ncu"].state, NOT_POSSIBLE)

    def beside_tools(self, command: str, **environment: str) -> dict[str, Check]:
        with machine(**environment) as context:
            script(context.fathom.parent / "bin/ncu", f"#!/bin/sh\nfor last; do :; done\n{command}\n")
            with mock.patch.object(part_refused, "SETTINGS", {}):
                return self.part_of(context, part_refused)

    def test_a_libcupti_of_another_major_version_must_be_named(self):
        name = "a libcupti of another major version"
        shown = "echo '| NVIDIA-SMI 580.1  Driver Version: 580.1  CUDA Version: 13.0 |'"
        with (
            machine() as context,
            mock.patch.object(part_refused, "libraries", lambda _: ["/x/libcupti.so.12", "/x/libcupti.so.13"]),
        ):
            self.assertEqual(self.part_of(context, part_refused)[name].state, NOT_POSSIBLE)
            script(context.work.parent / "bin/nvidia-smi", f"#!/bin/sh\n{shown}\n")
            checks = self.part_of(context, part_refused)
            self.assertEqual(checks[f"{name}: 12 for 13: it is named"].state, FAILED)
            self.assertNotIn(f"{name}: 13 for 13: it is named", checks)
            said = '[{"what": "x", "why": "FATHOM_CUPTI names one of CUDA 12", "remedy": ""}]'
            with mock.patch.object(part_refused, "not_recorded", lambda _: said):
                checks = self.part_of(context, part_refused)
            self.assertEqual(checks[f"{name}: 12 for 13: it is named"].state, PASSED)

    def test_overflows_of_all_gpus_are_summed(self):
        facts = {
            "cuda.metrics.0.overflows cuda-7.fathom": "2",
            "cuda.metrics.1.overflows": 3,
            "cuda.metrics.1.samples": 90,
        }
        self.assertEqual(part_metrics.overflows(facts), 5)
        self.assertEqual(part_metrics.overflows({}), 0)

    def test_samples_that_are_missing_must_be_counted(self):
        times = [*range(0, 1000, 10), *range(4000, 5000, 10)]
        for dropped, told, state in ((300, 1, PASSED), (301, 1, PASSED), (0, 0, FAILED), (500, 1, FAILED)):
            report = Report("metrics")
            part_metrics.held(report, "x", times, dropped, told, {})
            checks = {each.name: each for each in report.checks}
            self.assertEqual(checks["x: missing samples are counted"].state, state, dropped)
        report = Report("metrics")
        part_metrics.held(report, "x", times, 300, 0, {})
        self.assertEqual(report.checks[-1].state, FAILED)
        part_metrics.held(report, "x", [7], 0, 0, {})
        self.assertEqual(report.checks[-1].name, "x: samples")
        whole = Report("metrics")
        part_metrics.held(whole, "x", range(0, 9000, 10), 0, 0, {})
        self.assertEqual(whole.state, PASSED)

    def others(self, **programs: str) -> dict[str, Check]:
        """Libraries that every Python has stand for others."""
        with mock.patch.object(part_others, "PROGRAMS", programs), machine() as context:
            context.python = sys.executable
            report = Report("others")
            part_others.run(context, report)
            return {each.name: each for each in report.checks}

    def test_what_is_not_installed_or_sees_no_gpu_is_not_possible(self):
        checks = self.others(no_such_library="", json="ends(False, 'json sees no GPU')")
        self.assertEqual(checks["no_such_library"].detail, "it is not installed")
        self.assertEqual(checks["json"].detail, "json sees no GPU")
        self.assertEqual({each.state for each in checks.values()}, {NOT_POSSIBLE})

    def test_what_does_not_run_without_fathom_either_is_not_possible(self):
        checks = self.others(json="raise SystemExit('no compiler')")
        self.assertEqual(checks["json"].state, NOT_POSSIBLE)
        self.assertIn("no compiler", checks["json"].detail)

    def test_a_library_whose_kernels_are_not_recorded_fails(self):
        kernels = "ends(True, kernels=[dict(name='x', calls={}, grid=[], block=[], least_ns=0)])"
        checks = self.others(json=kernels.format(20), csv=kernels.format(19))
        self.assertEqual(checks["json: kernels"].state, PASSED)
        self.assertEqual(checks["csv: kernels"].state, FAILED)

    def test_who_has_cupti_beside_jax_must_be_named(self):
        with mock.patch.object(part_others, "JAX_PROFILER", "ends(True, gpu=True)"), machine() as context:
            context.python = sys.executable
            report = Report("others")
            part_others.jax_profiler(context, report)
        checks = {each.name: each for each in report.checks}
        self.assertEqual(checks["jax.profiler, --cuda off: its trace has the GPU"].state, PASSED)
        self.assertEqual(checks["jax.profiler, --cuda auto"].state, FAILED)


class Machines(unittest.TestCase):
    def test_a_container_that_lacks_the_drivers_files_of_proc_has_a_gpu_by_its_device_file(self):
        with mock.patch.object(common.shutil, "which", lambda _: None):
            for there, gpu in ((("/dev/nvidiactl",), True), (("/dev/dxg",), True), ((), False)):
                with mock.patch.object(Path, "exists", lambda path, there=there: str(path) in there):
                    self.assertEqual(common.has_gpu(), gpu, there)


class Judged(unittest.TestCase):
    """Of each part: it can be imported without a GPU, and says what it expected and what came."""

    def test_each_part_can_be_imported_and_run(self):
        for name in main.BUDGETS:
            self.assertTrue(callable(importlib.import_module(f"part_{name}").run), name)

    def test_no_check_passes_or_fails_without_what_was_expected_and_what_came(self):
        # NOT_POSSIBLE has a reason instead; everything else is made by `compared`, or names both.
        for file in sorted(Path(__file__).parent.glob("*.py")):
            if file.name.endswith("_test.py") or file.name == "outcome.py":
                continue
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Check" and not node.keywords:
                    state = getattr(node.args[1], "id", "") if len(node.args) > 1 else "its fields"
                    self.assertTrue(state == "NOT_POSSIBLE" or len(node.args) != 3, f"{file.name}:{node.lineno}")
        report = Report("a")
        report.compare("x", 1, 2, cuda="13")
        report.failed("y", "it ended")
        report.compare("z", "", "")
        for each in report.checks:
            self.assertTrue(each.expected and each.got and each.detail, each.name)
        self.assertEqual(report.checks[0].facts, {"cuda": "13"})

    def overhead(self, **millis: float) -> Report:
        def median(context: Context, label: str, own: str | None, options: tuple[str, ...] | None) -> float:
            key = "theirs" if own is not None else "bare" if options is None else "ours"
            return 1e6 * millis[key]

        with machine() as context, mock.patch.object(part_overhead, "median_step", median):
            report = Report("overhead")
            part_overhead.run(context, report)
            return report

    def test_a_step_may_cost_what_torch_profiler_costs_and_a_little_more(self):
        name = "steps cost what torch.profiler costs, nothing more"
        for ours, state in ((10.0, PASSED), (11.5, PASSED), (11.7, FAILED)):
            report = self.overhead(bare=9.0, theirs=10.0, ours=ours)
            found = {each.name: each for each in report.checks}[name]
            self.assertEqual(found.state, state, ours)
            self.assertEqual((found.got, found.facts["bare"]), (f"{ours:.3f} ms", "9.000 ms"))
            self.assertIn("10.000 ms", found.expected)
        self.assertEqual(len(report.checks), len(part_overhead.EXTRAS))

    def test_a_pair_is_found_by_one_of_its_cures_and_its_verdict_is_one_of_those_written_down(self):
        case = {"pair": "gpu_item", "cures": ["item"], "verdicts": ["sync-bound"]}
        right = {"verdict": "sync-bound", "found": True, "rules": ["item"], "promised": None, "error_percent": None}
        for facts, states in ((right, [PASSED, PASSED]), ({**right, "found": False, "verdict": "idle"}, [FAILED, FAILED])):
            with (
                machine() as context,
                mock.patch.object(part_pairs, "judgement", lambda *_, made=facts: made),
                mock.patch.object(Context, "diagnosis", lambda *_: {}),
            ):
                pairs = context.work / "pairs.json"
                pairs.write_text(json.dumps({"pairs": [case]}))
                (context.keep / "measured.json").write_text(json.dumps({"pairs": {"gpu_item": {}}, "left_out": {}}))
                report = Report("pairs")
                with mock.patch.object(part_pairs, "PAIRS", pairs):
                    part_pairs.judged(context, report)
            self.assertEqual([each.state for each in report.checks], states)
            self.assertEqual([each.expected for each in report.checks], ["one of item", "one of sync-bound"])
            self.assertEqual(report.checks[0].facts["verdict"], facts["verdict"])

    def test_the_training_computes_and_has_what_it_has_with_torchs_own_profiler(self):
        profiled = {"kernels": {"fathom_node": 3}, "copies": 0, "operators": {"aten::add": 2}}
        ops = [{"name": "aten::add", "calls": 2}, {"name": "step", "calls": 1}]
        tables = {"kernels": [{"name": "fathom_node", "calls": 3}], "ops": ops, "info": [{"name": "cuda.records", "value": 9}]}
        context = mock.Mock(gpu=True, rows=lambda table, *_: tables.get(table, []))
        report = Report("torch")
        part_torch.compare(context, report, Path("session"), profiled)
        self.assertEqual([each.state for each in report.checks], [PASSED] * 3, report.reason)
        self.assertEqual({str(each.facts) for each in report.checks}, {"{'cuda.records': 9}"})
        report = Report("torch")
        part_torch.compare(context, report, Path("session"), {**profiled, "kernels": {"fathom_node": 4}, "copies": 1})
        kernels, copies, _ = report.checks
        self.assertEqual((kernels.state, kernels.expected), (FAILED, "4 of 1 names"))
        self.assertIn("fathom_node: 3, not 4", kernels.got)
        self.assertEqual((copies.state, copies.expected, copies.got), (FAILED, "1", "0"))


class Alone(unittest.TestCase):
    """A part that goes wrong tells so, and ends nothing but itself."""

    def one(self, fathom: str, budget: int) -> Report:
        with tempfile.TemporaryDirectory() as name:
            binary = script(Path(name, "fathom"), fathom)
            words = ["gpu_check", "-o", name, "--fathom", str(binary)]
            with mock.patch.object(sys, "argv", words), mock.patch.dict(main.BUDGETS, nvml=budget):
                return main.run_part("nvml", main.arguments(), Path(name))

    def test_a_command_that_fails_fails_its_part(self):
        report = self.one("#!/bin/sh\necho damaged >&2\nexit 7\n", 60)
        self.assertEqual(report.state, FAILED)
        self.assertIn("exit code 7: damaged", report.reason)

    def test_a_part_that_hangs_is_ended_with_its_budget_and_its_commands(self):
        with tempfile.NamedTemporaryFile("r") as pids:
            report = self.one(f"#!/bin/sh\necho $$ >{pids.name}\nexec sleep 600\n", 3)
            self.assertEqual(report.state, FAILED)
            self.assertIn("took longer than", report.reason)
            started = pids.read().strip()
        # It may not have come to start. A kill takes effect when the system gets to it.
        with contextlib.suppress(ValueError, ProcessLookupError):
            process = os.pidfd_open(int(started))
            self.addCleanup(os.close, process)
            ended, _, _ = select.select([process], [], [], 60)
            self.assertTrue(ended, "the command goes on")


if __name__ == "__main__":
    unittest.main()
