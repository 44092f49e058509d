"""A recording is held to what a program did: each kind of mistake is found."""

from __future__ import annotations

import copy
import unittest
from typing import Any

import check
from common import option_named
from outcome import FAILED, NOT_POSSIBLE, PASSED

DONE: dict[str, Any] = {
    "schema": "fathom-gpu-program/1",
    "program": "made up",
    "possible": True,
    "tick_ns": 1000,
    "kernels": [
        {
            "name": "fathom_spin",
            "calls": 20,
            "grid": [2, 3, 1],
            "block": [32, 2, 1],
            "shared_bytes": 4096,
            "least_ns": 1_000_000,
            "most_ns": 1_010_000,
        }
    ],
    "copies": [
        {"kind": "HtoD", "source": "pageable", "destination": "device", "count": 2, "bytes": 12},
        {"kind": "memset", "source": "", "destination": "device", "count": 1, "bytes": 5},
    ],
    "calls": [{"name": "cudaDeviceSynchronize", "calls": 3, "blocked_ns": 6_000_000}],
    "ranges": [{"name": "outer range", "calls": 25}],
}
RECORDED: dict[str, Any] = {
    "kernels": [
        {
            "name": "fathom_spin(unsigned long)",
            "calls": 20,
            "grid": "[2,3,1]",
            "block": "[32,2,1]",
            "shared_memory_bytes": 5120,
            "total_ns": 20_100_000,
            "min_ns": 999_500,
            "max_ns": 1_008_000,
        }
    ],
    "copies": [
        {"kind": "HtoD", "source": "pageable", "destination": "device", "count": 2, "bytes": 12},
        {"kind": "memset", "source": None, "destination": "device", "count": 1, "bytes": 5},
    ],
    "launches": [
        {"name": "cudaLaunchKernel_v7000", "calls": 20, "host_total_ns": 90_000},
        {"name": "cudaDeviceSynchronize", "calls": 3, "host_total_ns": 5_990_000},
    ],
    "ranges": [{"name": "outer range", "calls": 25}],
    "overview": [{"section": "device 0", "metric": "busy", "value": 5_000_000}],
}


def wrong(found: dict[str, Any], expected: dict[str, Any] = DONE, nodes: bool = False) -> list[str]:
    return [each.name for each in check.compare(expected, found, nodes) if each.state == FAILED]


def changed(table: str, row: int, **values: Any) -> dict[str, Any]:
    found = copy.deepcopy(RECORDED)
    found[table][row].update(values)
    return found


class Recordings(unittest.TestCase):
    def test_what_was_done_and_recorded_passes(self):
        self.assertEqual(wrong(RECORDED), [])

    def test_a_kernel_that_is_counted_twice_or_lost_fails(self):
        self.assertEqual(wrong(changed("kernels", 0, calls=40)), ["fathom_spin: count"])
        lost = copy.deepcopy(RECORDED)
        lost["kernels"] = []
        self.assertEqual(wrong(lost), ["kernel fathom_spin"])

    def test_kernels_that_a_known_fault_of_cupti_loses_are_no_failure(self):
        for calls, failed in ((20, []), (19, []), (18, ["fathom_spin: count"]), (21, ["fathom_spin: count"])):
            found = check.compare(DONE, changed("kernels", 0, calls=calls), lost=1)
            self.assertEqual([each.name for each in found if each.state == FAILED], failed, calls)
        health = [{"check": "cupti_first_kernels_lost", "count": 2}, {"check": "launches", "count": 5}]
        self.assertEqual(check.lost_by_cupti(health), 2)

    def test_a_duration_outside_of_the_error_fails(self):
        self.assertEqual(
            wrong(changed("kernels", 0, min_ns=900_000)), ["fathom_spin: least duration"]
        )
        self.assertEqual(
            wrong(changed("kernels", 0, max_ns=1_020_000)), ["fathom_spin: greatest duration"]
        )

    def test_another_shape_fails(self):
        self.assertEqual(wrong(changed("kernels", 0, grid="[3,2,1]")), ["fathom_spin: grid"])
        self.assertEqual(wrong(changed("kernels", 0, block=None)), ["fathom_spin: block"])
        self.assertEqual(
            wrong(changed("kernels", 0, shared_memory_bytes=1)), ["fathom_spin: shared memory"]
        )

    def test_a_kernel_of_ours_that_was_not_launched_fails_and_others_do_not(self):
        more = copy.deepcopy(RECORDED)
        more["kernels"].append(dict(more["kernels"][0], name="fathom_ghost"))
        more["kernels"].append(dict(more["kernels"][0], name="memset_kernel"))
        self.assertEqual(wrong(more), ["no kernel that was not launched"])

    def test_one_byte_or_one_copy_too_many_fails(self):
        self.assertEqual(wrong(changed("copies", 0, bytes=13)), ["HtoD pageable device: bytes"])
        self.assertEqual(wrong(changed("copies", 1, count=2)), ["memset device: count"])

    def test_a_copy_from_another_memory_fails(self):
        names = wrong(changed("copies", 0, source="pinned"))
        self.assertIn("HtoD pageable device: count", names)
        self.assertIn("no copy that was not made", names)

    def test_a_wait_that_is_shorter_than_it_was_fails(self):
        short = changed("launches", 1, host_total_ns=1_000_000)
        self.assertEqual(wrong(short), ["cudaDeviceSynchronize: blocked"])

    def test_launch_calls_are_counted_whatever_they_are_called(self):
        self.assertEqual(wrong(changed("launches", 0, calls=21)), ["launch calls"])

    def test_ranges_are_counted(self):
        self.assertEqual(wrong(changed("ranges", 0, calls=24)), ["outer range: count"])

    def test_a_range_in_another_domain_is_another_range(self):
        done = {**DONE, "ranges": [{"name": "outer range", "calls": 25, "domain": "library"}]}
        self.assertEqual(wrong(changed("ranges", 0, domain="library"), done), [])
        self.assertEqual(wrong(RECORDED, done), ["outer range: count"])
        self.assertEqual(wrong(changed("ranges", 0, domain="library")), ["outer range: count"])

    def test_streams_that_do_not_overlap_in_the_recording_fail(self):
        done = {
            **DONE,
            "overlap": {"kernel": "fathom_spin", "streams": 4, "together_ns": 5_100_000},
        }
        self.assertEqual(wrong(RECORDED, done), [])
        self.assertEqual(wrong(changed("overview", 0, value=20_000_000), done), ["streams overlap"])

    def test_nodes_are_counted_from_the_first_launch(self):
        done = copy.deepcopy(DONE) | {"graph": {"launches": 25, "nodes": 4}, "copies": []}
        recorded = copy.deepcopy(RECORDED) | {"copies": []}
        self.assertEqual(wrong(recorded, done, nodes=True), [])
        recorded["kernels"][0]["calls"] -= 1
        self.assertEqual(wrong(recorded, done, nodes=True), ["fathom_spin: count"])

    def test_a_graph_recorded_as_a_whole_is_one_activity_a_launch_and_no_kernels(self):
        done = {**DONE, "graph": {"launches": 2, "nodes": 10}}
        whole = copy.deepcopy(RECORDED)
        whole["kernels"] = [dict(RECORDED["kernels"][0], name="CUDA graph 5", calls=2)]
        self.assertEqual(wrong(whole, done), [])
        self.assertEqual(wrong(RECORDED, done), ["no kernel of the graph", "launches of the graph"])
        whole["kernels"] = []
        self.assertEqual(wrong(whole, done), ["launches of the graph"])

    def test_calls_have_their_names_without_versions(self):
        self.assertEqual(check.plain_call("__cudaLaunchKernel_ptsz_v13000"), "cudaLaunchKernel")


class Counts(unittest.TestCase):
    def test_equal_counts_pass_and_a_difference_is_named(self):
        (same,) = check.same_counts("kernels", {"a": 2}, {"a": 2})
        self.assertEqual(same.state, PASSED)
        (other,) = check.same_counts("kernels", {"a": 2, "b": 1}, {"a": 3})
        self.assertEqual(other.state, FAILED)
        self.assertIn("a: 2, not 3", other.detail)
        self.assertIn("b: 1, not 0", other.detail)

    def test_counting_nothing_is_no_agreement(self):
        self.assertEqual(check.same_counts("kernels", {}, {})[0].state, FAILED)


class Telemetry(unittest.TestCase):
    def row(self, counter: str, low: float, high: float) -> dict[str, Any]:
        return {"counter": counter, "min": low, "max": high, "unit": "", "samples": 9}

    def test_sane_levels_pass_and_absurd_ones_fail(self):
        rows = [
            self.row("gpu.utilization", 0, 101),
            self.row("gpu.memory_used", 5, 10),
            self.row("gpu.memory_total", 80, 80),
            self.row("gpu.energy", 7, 7),
        ]
        states = {each.name: each.state for each in check.sane_levels(rows)}
        self.assertEqual(states["gpu.utilization"], FAILED)
        self.assertEqual(states["gpu.memory_used"], PASSED)
        self.assertEqual(states["gpu.temperature"], NOT_POSSIBLE)
        self.assertEqual(states["gpu.energy grows"], FAILED)

    def test_two_tools_may_differ_by_a_part_or_an_amount(self):
        self.assertEqual(check.close("x", 104, 100, 0.05, 0).state, PASSED)
        self.assertEqual(check.close("x", 104, 100, 0.01, 5).state, PASSED)
        self.assertEqual(check.close("x", 106, 100, 0.05, 5).state, FAILED)
        self.assertEqual(check.close("x", None, 100, 1, 1).state, NOT_POSSIBLE)


class Options(unittest.TestCase):
    def test_the_option_for_nodes_of_graphs_is_taken_from_the_help(self):
        self.assertIsNone(option_named("--with LIST  shapes, stacks", "graph-nodes"))
        self.assertEqual(
            option_named("--with LIST  shapes, graph-nodes", "graph-nodes"),
            ("--with", "graph-nodes"),
        )
        self.assertEqual(
            option_named("  --cuda-graph-nodes  each", "graph-nodes"), ("--cuda-graph-nodes",)
        )


if __name__ == "__main__":
    unittest.main()
