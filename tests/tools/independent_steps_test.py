"""tools/independent_steps.py finds the steps of made traces as docs/metrics.md describes them."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import independent_steps  # noqa: E402
from independent_events import Activity, Events, Slice, nest  # noqa: E402

THREAD = ("1", "1")


def host(name: str, begin: int, end: int, category: str = "cpu_op", thread: tuple[str, str] = THREAD) -> Slice:
    return Slice(name, category, begin, end, thread, {})


def kernel(launch: Slice | None, begin: int, end: int) -> Activity:
    return Activity("k", "kernel", begin, end, ("0", "7"), {}, kind="kernel", launch=launch)


def found(*work: Slice, activities: tuple[Activity, ...] = ()) -> list[tuple[int, int]]:
    return [(step.window_begin, step.window_end) for step in steps(*work, activities=activities)]


def steps(*work: Slice, activities: tuple[Activity, ...] = ()) -> list[Any]:
    events = Events(work=list(work), activities=list(activities))
    nest(events.work)
    return independent_steps.counted_steps(events)


class Marks(unittest.TestCase):
    def test_profiler_steps_are_steps(self):
        marks = [host("ProfilerStep#1", 0, 10, "user_annotation"), host("ProfilerStep#2", 10, 30, "user_annotation")]
        self.assertEqual(found(*marks, host("aten::add", 1, 2), host("aten::add", 12, 13)), [(0, 10), (10, 30)])

    def test_a_last_mark_that_holds_nothing_is_none(self):
        marks = [host("ProfilerStep#1", 0, 10, "user_annotation"), host("ProfilerStep#2", 10, 11, "user_annotation")]
        self.assertEqual(found(*marks, host("aten::add", 1, 2)), [(0, 10)])

    def test_repeated_annotations_that_fill_half_of_their_time_are_steps(self):
        parts = [host(f"iteration {i}", 10 * i, 10 * i + 8, "user_annotation") for i in range(3)]
        self.assertEqual(found(*parts), [(0, 8), (8, 18), (18, 28)])

    def test_annotations_inside_one_operator_are_parts_of_one_call(self):
        parts = [host(f"part {i}", 10 * i, 10 * i + 8, "user_annotation") for i in range(3)]
        self.assertEqual(found(host("call", 0, 40), *parts), [(0, 40)])

    def test_one_that_takes_all_of_the_time_is_no_repetition(self):
        parts = [host("f 0", 0, 1_000_000, "user_annotation"), *(host(f"f {i}", 1_000_000 + 3 * i, 1_000_002 + 3 * i, "user_annotation") for i in range(1, 4))]
        self.assertEqual(len(found(*parts, host("aten::add", 5, 9))), 1)

    def test_between_optimizer_steps_are_steps_but_for_the_first(self):
        marks = [host("Optimizer.step#SGD.step", begin, begin + 2, "user_annotation") for begin in (8, 18, 28)]
        self.assertEqual(found(host("aten::add", 0, 1), *marks), [(10, 20), (20, 30)])

    def test_without_marks_the_trace_is_one_step_from_the_annotation_around_its_first_operator(self):
        self.assertEqual(found(host("main", 2, 90, "user_annotation"), host("aten::add", 5, 9), host("aten::mul", 95, 99)), [(2, 99)])

    def test_without_a_device_the_profilers_own_wait_does_not_count(self):
        self.assertEqual(found(host("aten::add", 5, 9), host("cudaDeviceSynchronize", 9, 700, "cuda_runtime")), [(5, 9)])


class Windows(unittest.TestCase):
    def test_a_window_ends_with_what_the_step_launched(self):
        marks = [host("ProfilerStep#1", 0, 10, "user_annotation"), host("ProfilerStep#2", 10, 30, "user_annotation")]
        calls = [host("cudaLaunchKernel", 5, 6, "cuda_runtime"), host("cudaLaunchKernel", 20, 21, "cuda_runtime")]
        activities = (kernel(calls[0], 8, 17), kernel(calls[1], 22, 25))
        self.assertEqual(found(*marks, *calls, activities=activities), [(0, 17), (17, 30)])

    def test_a_step_that_holds_work_launched_before_it_is_left_out(self):
        marks = [host("ProfilerStep#1", 10, 20, "user_annotation"), host("ProfilerStep#2", 20, 30, "user_annotation")]
        calls = [host("cudaLaunchKernel", 5, 6, "cuda_runtime"), host("cudaLaunchKernel", 22, 23, "cuda_runtime")]
        activities = (kernel(calls[0], 8, 12), kernel(calls[1], 24, 25))
        self.assertEqual(found(*marks, *calls, activities=activities), [(20, 30)])

    def test_a_step_far_longer_than_the_others_is_an_outlier(self):
        borders = [0, 10, 20, 30, 40, 100]
        marks = [host(f"ProfilerStep#{i}", borders[i], borders[i + 1], "user_annotation") for i in range(5)]
        work = [host("aten::add", border, border + 1) for border in borders[:-1]]
        self.assertEqual([step.outlier for step in steps(*marks, *work)], [False] * 4 + [True])


if __name__ == "__main__":
    unittest.main()
