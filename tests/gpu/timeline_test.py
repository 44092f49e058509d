"""Times of kernels against the device's clock, and of hardware counters against kernels."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import part_cost
import part_edges
import part_ncu
import timeline
from common import Context
from outcome import FAILED, PASSED, Report

MS = 1_000_000


def of_a_clock(rounds: int, late: int = 0, more: int = 0, drift: int = 0) -> timeline.ClockTruth:
    """A program on a host whose clock is 5 s ahead of the recording's. Its kernels are recorded `late` ns too late, each
    `more` than the one before; the device's clock runs 7 s ahead, and `drift` ns more each round."""
    readings, kernels, calls = [], [], []
    for i in range(rounds):
        host, device = 5_000_000_000 + 250 * MS * i, 7_000_000_000 + (250 * MS + drift) * i
        said, answered = host + 2 * MS, host + 2 * MS + 3000
        readings += [host, host + 9000, said, answered, device + 2 * MS + 1500, device + 2 * MS + 51500]
        zero = host - 5_000_000_000
        calls.append((zero + 1000, zero + 8000))
        kernels.append((zero + 20_000, zero + 2 * MS + 51500 + late + more * i))
    return timeline.clock_truth(readings, kernels, calls)


class Clock(unittest.TestCase):
    def test_a_recording_that_is_right_is_nothing_off_whatever_the_two_clocks_say(self):
        truth = of_a_clock(20, drift=100)
        self.assertEqual((truth.worst, truth.change), (0, 0))
        self.assertEqual(truth.within, 1500 + 1000)
        self.assertAlmostEqual(truth.drift_ppm, 0.4, 3)

    def test_kernels_that_are_late_or_come_to_be_so_are_seen(self):
        self.assertEqual(of_a_clock(20, late=70_000).worst, 70_000)
        drifting = of_a_clock(40, more=2000)
        self.assertEqual(drifting.worst, 78_000)
        self.assertEqual(drifting.change, 36 * 2000)

    def test_a_kernel_that_is_missing_is_no_basis(self):
        with self.assertRaisesRegex(ValueError, "1 kernels and 2 launches of 2"):
            timeline.clock_truth([0] * 12, [(0, 1)], [(0, 1)] * 2)


class Edges(unittest.TestCase):
    def judged(self, delay: int, bursts: int = 12) -> Report:
        kernels = [
            (100 * MS * i + MS * j, 100 * MS * i + MS * j + MS // 2)
            for i in range(bursts)
            for j in range(50)
        ]
        values = []
        for time in range(-50 * MS, 100 * MS * bursts, MS):
            busy = any(begin <= time - delay < begin + 50 * MS for begin in range(0, 1200 * MS, 100 * MS))
            values.append((time, 80.0 if busy else 0.0))
        report = Report("edges")
        part_edges.judged(report, "x", kernels, values, {"cuda.fallback_level": "full activity"})
        return report

    def test_counters_that_follow_kernels_within_two_intervals_pass(self):
        self.assertEqual(self.judged(0).state, PASSED, self.judged(0).reason)
        self.assertEqual(self.judged(MS).state, PASSED)

    def test_counters_on_another_clock_fail_and_the_facts_are_there(self):
        for delay in (4 * MS, -30 * MS):
            report = self.judged(delay)
            edges = report.checks[-1]
            self.assertEqual((edges.name, edges.state), ("x: edges of sm_active", FAILED))
            self.assertEqual(edges.facts, {"cuda.fallback_level": "full activity"})

    def test_too_few_bursts_fail(self):
        self.assertEqual(self.judged(0, 3).state, FAILED)

    def test_a_burst_without_activity_is_an_error(self):
        with self.assertRaises(ValueError):
            timeline.edges_off([(0, 10)], [(20, 30)])

    def test_an_export_is_read_by_category_name_and_counter(self):
        events = [
            {"ph": "X", "cat": "kernel", "name": "b", "ts": 2.5, "dur": 1},
            {"ph": "X", "cat": "kernel", "name": "a", "ts": 1.001, "dur": 0.5},
            {"ph": "X", "cat": "cpu_op", "name": "a", "ts": 0, "dur": 9},
            {"ph": "s", "cat": "kernel", "name": "a", "ts": 0},
            {"ph": "C", "name": "gpu.sm_active device", "ts": 3, "args": {"0": 7}},
            {"ph": "C", "name": "gpu.sm_active device", "ts": 4, "args": {"1": 5}},
            {"ph": "C", "name": "gpu.power", "ts": 3, "args": {"watts": 300}},
        ]
        with tempfile.TemporaryDirectory() as name:
            fathom = Path(name, "fathom")
            text = json.dumps({"traceEvents": events})
            fathom.write_text(f"#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho '{text}' >\"$2\"\n")
            fathom.chmod(0o755)
            context = Context(fathom, "", Path(name), Path(name), dry=False, budget=60)
            read = timeline.load(context, Path(name, "session"))
        self.assertEqual(timeline.spans(read, "kernel"), [(1001, 1501), (2500, 3500)])
        self.assertEqual(timeline.spans(read, "kernel", "b"), [(2500, 3500)])
        self.assertEqual(timeline.samples(read, "gpu.sm_active"), [(3000, 7.0)])
        self.assertEqual(timeline.samples(read, "gpu.power"), [(3000, 300.0)])
        self.assertEqual(timeline.samples(read, "gpu.energy"), [])


NCU = """==PROF== Connected to process 7
{"schema": "fathom-gpu-program/1"}
==PROF== Disconnected
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","fathom_copy","dram__throughput.avg","%","91.5"
"1","fathom_copy","dram__throughput.avg","%","90.5"
"2","fathom_copy","dram__throughput.avg","%","92.5"
"0","fathom_copy","sm__cycles_active.avg","cycle","1,234.5"
"1","fathom_copy","sm__pipe_tensor_cycles_active.avg","%","n/a"
"""


class Ncu(unittest.TestCase):
    def test_its_table_has_the_median_of_each_metric(self):
        values = part_ncu.ncu_values(NCU)
        self.assertEqual(values, {"dram__throughput.avg": 91.5, "sm__cycles_active.avg": 1234.5})

    def test_a_refusal_has_no_table(self):
        self.assertEqual(part_ncu.ncu_values("==ERROR== ERR_NVGPUCTRPERM\n"), {})


class Cost(unittest.TestCase):
    def states(self, **more: float) -> dict[str, str]:
        bare = dict.fromkeys(part_cost.LIMITS, 1000.0)
        recorded = {name: value + more.get(name, 0) for name, value in bare.items()}
        # What one round had more of is not ours.
        report = Report("cost")
        noisy = {name: value + 1e12 for name, value in recorded.items()}
        part_cost.judged(report, [bare, bare], [noisy, recorded], {"cuda.cupti.version": "130000"})
        return {each.name: each.state for each in report.checks}

    def test_each_cost_has_a_limit_of_its_own(self):
        self.assertEqual(set(self.states().values()), {PASSED})
        for name, (limit, _) in part_cost.LIMITS.items():
            self.assertEqual(self.states(**{name: limit})[name], PASSED)
            beyond = self.states(**{name: limit + 1})
            self.assertEqual([each for each in beyond if beyond[each] == FAILED], [name])


if __name__ == "__main__":
    unittest.main()
