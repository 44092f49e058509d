"""The parts that need a GPU, with fakes of the driver's tools, nvcc and Fathom."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import main
import part_cuda
import part_metrics
import part_nvml
from common import Context
from outcome import FAILED, PASSED, Report

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
printf '#!/bin/sh\\necho '"'"'%s'"'"'\\n' "$DONE" >"$2"
chmod +x "$2"
"""
SMI = """#!/bin/sh
[ -z "$ASKED" ] || echo asked >>"$ASKED"
echo "143771, 600, 700, 100, 40, 1980, 3201, 1980, 3201, 90, 5, 16"
"""
# Records what the program printed, and makes tables of that.
FATHOM = """#!{python}
import json, os, subprocess, sys
words = sys.argv[1:]
if words[0] == "run" and "--help" in words:
    print("--with shapes, graph-nodes, gpu-metrics --range cuda-profiler --gpu-metrics-rate")
elif words[0] == "run":
    session = words[words.index("-o") + 1]
    os.makedirs(session + "/lib")
    if "WITHOUT" not in os.environ:
        open(session + "/lib/libfathom_cuda.so", "w").close()
    lost = [{{"what": "gpu.sm_active (hardware counters of GPU 0)", "why": "x", "remedy": "y"}}]
    said = {{"gpus": [], "not_recorded": lost if "REFUSED" in os.environ else []}}
    open(session + "/manifest.json", "w").write(json.dumps(said))
    out = subprocess.run(words[words.index("--") + 1:], capture_output=True, text=True).stdout
    open(session + "/out", "w").write(out)
    print(out, end="")
elif words[0] == "doctor":
    driver = {{"section": "GPU", "what": "driver", "state": "ok", "detail": ""}}
    print(json.dumps({{"checks": [driver]}}))
else:
    text = open(words[1] + "/out").read()
    done = json.loads(text) if text.startswith("{{") else {{"kernels": []}}
    count = int(os.environ.get("TIMES", "1"))
    rows = []
    if words[0] == "kernels":
        for k in done["kernels"]:
            rows.append({{"name": k["name"], "calls": count * k["calls"], "total_ns": 1,
                         "grid": str(k["grid"]), "block": str(k["block"]),
                         "min_ns": k["least_ns"], "max_ns": k["least_ns"]}})
    if words[0] == "launches":
        calls = sum(k["calls"] for k in done["kernels"])
        rows = [{{"name": "cudaLaunchKernel", "calls": calls, "host_total_ns": 9}}]
    if words[0] == "telemetry":
        most = float(os.environ.get("MOST", "99"))
        for name, unit, low, middle, high in (("gpu.power", "watts", 90, 101, 110),
                                              ("gpu.dram_bandwidth", "percent", 0, 1, 2),
                                              ("gpu.sm_active", "percent", 0, 50, most)):
            if "REFUSED" in os.environ and name != "gpu.power":
                continue
            rows.append({{"counter": name, "device": 0, "unit": unit, "samples": 50,
                         "min": low, "p50": middle, "max": high}})
    print(json.dumps({{"rows": rows}}))
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
        with mock.patch.dict(os.environ, PATH=path, DONE=json.dumps(DONE), **environment):
            yield Context(fathom, str(python), root / "work", root / "keep", dry=False, budget=200)


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
        with machine(**environment) as context:
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
        # It may not have come to start; nobody may have waited for it yet.
        state = "Z"
        with contextlib.suppress(OSError):
            state = (
                Path("/proc", started or "none", "stat").read_text().rsplit(")", 1)[1].split()[0]
            )
        self.assertEqual(state, "Z")


if __name__ == "__main__":
    unittest.main()
