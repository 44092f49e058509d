"""tools/independent_sums.py sums a made trace as it is done by hand, and says where a finding differs."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import independent_events  # noqa: E402
import independent_sums  # noqa: E402


def event(name: str, category: str, begin: float, duration: float, **arguments: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": category, "ts": begin, "dur": duration, "pid": 1, "tid": 1, "args": arguments}


def launched(name: str, call: tuple[float, float], run: tuple[float, float], number: int) -> list[dict[str, Any]]:
    kernel = event(name, "kernel", *run, correlation=number, device=0)
    return [event("cudaLaunchKernel", "cuda_runtime", *call, correlation=number), kernel | {"tid": 7}]


# In µs: two kernels 60 apart, then after a wait of 50 a third.
TRACE = [
    event("ProfilerStep#1", "user_annotation", 0, 400),
    *launched("sgemm", (5, 5), (12, 28), 1),
    event("aten::add", "cpu_op", 50, 60),
    *launched("elementwise", (90, 5), (100, 50), 2),
    event("cudaDeviceSynchronize", "cuda_runtime", 110, 50, correlation=3),
    *launched("ncclAllReduce", (200, 5), (210, 40), 4),
]


def finding(rule: str, title: str = "", observed: int = 0) -> dict[str, Any]:
    return {"id": rule, "rule": rule, "title": title, "observed_ns": observed, "evidence": []}


def compared(*findings: dict[str, Any]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.json"
        path.write_text(json.dumps({"traceEvents": TRACE}))
        return independent_sums.compare(path, list(findings))


class Events(unittest.TestCase):
    def test_times_are_read_exactly(self):
        self.assertEqual(independent_events.ns("1711145045704874.123"), 1711145045704874123)
        self.assertEqual([independent_events.ns(each) for each in ("12", 0, "1.2345", "-1.5")], [12_000, 0, 1235, -1500])

    def test_intervals_are_cut_and_joined(self):
        self.assertEqual(independent_events.union([(5, 9), (0, 3), (2, 4), (7, 7)]), [(0, 4), (5, 9)])
        self.assertEqual(independent_events.without([(0, 10)], [(2, 3), (5, 20)]), [(0, 2), (3, 5)])
        self.assertEqual(independent_events.both([(0, 4), (6, 9)], [(3, 7)]), [(3, 4), (6, 7)])

    def test_what_runs_at_once_is_credited_once(self):
        def activity(name: str, begin: int, end: int) -> Any:
            return independent_events.Activity(name, "kernel", begin, end, ("1", "1"), {}, kind="kernel")

        run = [activity("nccl", 0, 100), activity("gemm", 20, 50), activity("add", 40, 60)]
        independent_events.credit(run)
        self.assertEqual({each.name: each.credited for each in run}, {"gemm": 30, "add": 10, "nccl": 60})


class Sums(unittest.TestCase):
    def test_late_launches_are_summed_without_those_behind_a_wait(self):
        (each,) = compared(finding("host-bound", "The device waits for launches: 60 µs"))
        self.assertEqual((each.least_ns, each.most_ns), (60_000, 60_000))
        self.assertTrue(each.agrees)

    def test_waits_cost_at_most_what_lies_behind_them(self):
        (each,) = compared(finding("sync-points", "idle behind it: 51 µs"))
        self.assertEqual(each.most_ns, 50_000)
        self.assertTrue(each.agrees)

    def test_without_a_call_that_waits_nothing_is_compared(self):
        class Made:
            events = independent_events.Events()
            all_activities: list[Any] = []
            idle: list[Any] = []

        self.assertIsNone(independent_sums.sync_points(Made(), finding("sync-points")))  # type: ignore[arg-type]

    def test_kernels_are_summed_by_what_they_are(self):
        findings = compared(finding("tensor-cores-unused"), finding("exposed-communication"))
        self.assertEqual([each.most_ns for each in findings], [28_000, 40_000])

    def test_a_finding_that_says_something_else_is_named(self):
        (each,) = compared(finding("tensor-cores-unused", "32-bit matrix multiplications: 29.0 µs"))
        self.assertFalse(each.agrees)
        said = independent_sums.report([each], True)
        self.assertIn("says 0.029 ms, its events sum to 0.028 ms", said)
        self.assertIn("tensor-cores-unused: 0 of 1 findings agree", said)

    def test_without_a_time_in_the_title_what_was_observed_counts(self):
        (each,) = compared(finding("exposed-communication", "Nothing hides it", observed=40_300))
        self.assertTrue(each.agrees)

    def test_of_some_rules_only_a_bound_is_known(self):
        # Idle and in no operator: 7 µs at the start, 40 to 50, 160 to 200, 250 to 400.
        titles = ("207 µs", "220 µs")
        inside, beyond = compared(*(finding("host-work-between-launches", title) for title in titles))
        self.assertEqual((inside.bounded, inside.most_ns), (True, 207_000))
        self.assertEqual((inside.agrees, beyond.agrees), (True, False))
        self.assertIn("1 of 2 findings say at most what events sum to", independent_sums.report([inside, beyond], False))

    def test_products_with_odd_inner_sizes_are_summed(self):
        def product(name: str, dims: list[list[int]]) -> Any:
            types = ["c10::Half"] * 2
            op = independent_events.Slice("aten::mm", "cpu_op", 0, 9, ("1", "1"), {"Input Dims": dims, "Input type": types})
            call = independent_events.Slice("cudaLaunchKernel", "cuda_runtime", 1, 2, ("1", "1"), {}, op)
            return independent_events.Activity(name, "kernel", 3, 7, ("1", "7"), {}, kind="kernel", launch=call, credited=4)

        class Made:
            activities = [
                product("gemm", [[16, 63], [63, 64]]),
                product("gemm", [[16, 64], [64, 64]]),
                product("cutlass_tensorop_f16_s16816_align8", [[16, 63], [63, 64]]),
                product("cutlass_tensorop_f16_s16816_align2", [[16, 64], [64, 64]]),
            ]

        self.assertEqual(independent_sums.shape_alignment(Made(), finding("shape-alignment")), 8)  # type: ignore[arg-type]

    def test_idle_time_behind_the_wait_of_an_upload_counts_as_much_as_the_wait_at_most(self):
        copy = launched("Memcpy HtoD (Pageable -> Device)", (10, 5), (20, 30), 1)
        copy[0]["name"] = "cudaMemcpyAsync"
        copy[1]["cat"] = "gpu_memcpy"
        work = [event("aten::copy_", "cpu_op", 5, 55), *copy, event("cudaStreamSynchronize", "cuda_runtime", 45, 10)]
        work += [event("aten::mm", "cpu_op", 90, 20), *launched("gemm", (95, 5), (100, 50), 2)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.json"
            path.write_text(json.dumps({"traceEvents": work}))
            (each,) = independent_sums.compare(path, [finding("pageable-copies")])
        # 30 µs of copying and 5 to 20, 50 to 60 idle in the operator; 10 of the 40 µs behind it.
        self.assertEqual((each.least_ns, each.most_ns), (55_000, 65_000))

    def test_rules_without_a_sum_are_left_out(self):
        self.assertEqual(compared(finding("prefill-decode", "10 ms")), [])


def host(name: str, begin: int, end: int, category: str = "cpu_op", **arguments: Any) -> dict[str, Any]:
    return event(name, category, begin, end - begin, **arguments)


def on_host(rule: str, *work: dict[str, Any], id: str = "") -> Any:
    """The sum of a finding in a trace without a device."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.json"
        path.write_text(json.dumps({"traceEvents": list(work)}))
        made = independent_sums.compare(path, [finding(rule) | {"id": id or rule}])
        return (made[0].least_ns, made[0].most_ns) if made else None


class OnTheHost(unittest.TestCase):
    def test_calls_are_at_most_five_microseconds_of_each_operator_and_the_python_between(self):
        # 5 of 20 µs, 3 µs, and 7 µs between them; 300 µs of Python are work of their own.
        work = [host("aten::mm", 0, 20), host("aten::add", 27, 30), host("aten::add", 330, 331)]
        self.assertEqual(on_host("host-bound", *work), (16_000, 16_000))

    def test_layout_copies_are_what_runs_in_them(self):
        work = [host("aten::contiguous", 0, 10), host("aten::clone", 1, 9), host("aten::copy_", 2, 8)]
        work += [host("aten::reshape", 12, 15), host("aten::add", 20, 30)]  # a view, and no copy at all
        self.assertEqual(on_host("layout-copies", *work), (10_000, 10_000))

    def test_doubles_are_tensors_of_them(self):
        double = {"Input type": ["double", "float"], "Input Dims": [[4], [4]]}
        scalar = {"Input type": ["float", "double"], "Input Dims": [[4], []]}
        self.assertEqual(on_host("fp64", host("aten::add", 0, 10, **double), host("aten::mul", 10, 13, **scalar)), (10_000, 10_000))

    def test_attention_is_what_lies_between_its_products(self):
        names = ["aten::bmm", "aten::div", "aten::_softmax", "aten::bmm", "aten::_softmax", "aten::add"]
        work = [host(name, 10 * i, 10 * i + 8) for i, name in enumerate(names)]
        self.assertEqual(on_host("unfused-attention", *work), (16_000, 16_000))

    def test_long_stretches_of_python_are_summed(self):
        work = [host("aten::add", 0, 10), host("aten::add", 510, 520), host("aten::add", 600, 610)]
        self.assertEqual(on_host("host-work-between-launches", *work), (500_000, 500_000))

    def test_what_is_recorded_costs_the_estimate_per_event(self):
        self.assertEqual(on_host("profiler-overhead", host("aten::add", 0, 10), host("aten::add", 10, 20)), (1200, 1200))

    def test_filled_gradients_are_the_fills_and_as_many_additions(self):
        # zero_grad itself takes 10 µs, the fill 10, the addition 5.
        work = [host("Optimizer.zero_grad#SGD.zero_grad", 0, 20), host("aten::zero_", 5, 15)]
        work += [host("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 30, 40), host("aten::add_", 32, 37)]
        self.assertEqual(on_host("zero-grad", *work), (25_000, 25_000))

    def test_outliers_are_compared_with_the_median(self):
        borders = [0, 10, 20, 30, 40, 100]
        marks = [host(f"ProfilerStep#{i}", borders[i], borders[i + 1], "user_annotation") for i in range(5)]
        self.assertEqual(on_host("step-outliers", *marks, host("aten::add", 1, 2)), (10_000, 10_000))


if __name__ == "__main__":
    unittest.main()
