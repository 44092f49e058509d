"""tools/independent_fixes.py says which fixes do not apply to a program, by what its events show."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import independent_fixes  # noqa: E402
from independent_events import Activity, Events, Slice  # noqa: E402


def host(name: str, **arguments: Any) -> Slice:
    return Slice(name, "cpu_op", 0, 9, ("1", "1"), arguments)


def facts(*work: Slice, activities: tuple[Activity, ...] = ()) -> dict[str, Any]:
    return independent_fixes.facts_of(Events(work=list(work), activities=list(activities)))


def reasons(known: dict[str, Any], after: str, rule: str = "x") -> list[str]:
    return independent_fixes.harms(known, {"rule": rule, "id": rule, "fix": {"text": "", "before": "", "after": after}})


KERNEL = Activity("k", "kernel", 0, 9, ("0", "7"), {}, kind="kernel")


class Fixes(unittest.TestCase):
    def test_a_causal_mask_needs_one(self):
        self.assertEqual(reasons(facts(host("aten::_softmax")), "sdpa(q, k, v, is_causal=True)"), ["no mask is known to be causal"])
        self.assertEqual(reasons(facts(host("aten::tril")), "sdpa(q, k, v, is_causal=True)"), [])

    def test_the_optimizer_is_the_programs_own(self):
        known = facts(host("Optimizer.step#SGD.step"))
        self.assertEqual(reasons(known, "torch.optim.AdamW(p, foreach=True)"), ["the optimizer is another"])
        self.assertEqual(reasons(known, "torch.optim.SGD(p, fused=True)"), [])

    def test_only_some_optimizers_are_fused(self):
        self.assertEqual(reasons(facts(host("Optimizer.step#Lion.step")), "torch.optim.Lion(p, fused=True)"), ["the optimizer has no fused implementation"])

    def test_adafactor_has_a_foreach_implementation_and_lbfgs_none(self):
        for name, expected in (("Adafactor", []), ("LBFGS", ["the optimizer has no foreach implementation"])):
            known = facts(host(f"Optimizer.step#{name}.step"))
            self.assertEqual(reasons(known, f"torch.optim.{name}(p, foreach=True)"), expected)

    def test_memory_is_pinned_for_a_device(self):
        self.assertEqual(reasons(facts(host("aten::add")), "DataLoader(data, pin_memory=True)"), ["nothing is copied to a device"])
        self.assertEqual(reasons(facts(host("aten::add"), activities=(KERNEL,)), "DataLoader(data, pin_memory=True)"), [])

    def test_frameworks_are_those_of_the_program(self):
        call = host("c10d::allreduce_")
        self.assertEqual(reasons(facts(call, activities=(KERNEL,)), "FSDP(model, forward_prefetch=True)"), ["no FSDP"])
        self.assertEqual(reasons(facts(call, activities=(KERNEL,)), "dist.broadcast(x, 0)"), ["nothing is broadcast"])

    def test_lower_precision_is_for_products_of_single_precision(self):
        def product(kind: str) -> Slice:
            return host("aten::mm", **{"Input type": [kind, kind], "Input Dims": [[2, 3], [3, 4]]})

        half, single = facts(product("c10::BFloat16")), facts(product("float"))
        self.assertEqual(len(reasons(half, "torch.backends.cuda.matmul.allow_tf32 = True")), 1)
        self.assertEqual(reasons(single, "torch.backends.cuda.matmul.allow_tf32 = True"), [])

    def test_without_facts_nothing_is_judged(self):
        self.assertEqual(independent_fixes.harms(None, {"fix": {"after": "is_causal=True"}}), [])

    def test_a_cause_that_is_two_of_the_first_three_is_named(self):
        def finding(rule: str, family: str = "host") -> dict[str, Any]:
            return {"rule": rule, "family": family}

        capture = finding("profiling-mistakes", "capture")
        twice = [capture, finding("data-loading"), finding("fp64"), finding("data-loader-workers")]
        self.assertEqual(independent_fixes.said_twice(twice), ["data-loader-workers and data-loading"])
        self.assertEqual(independent_fixes.said_twice([finding("data-loading"), finding("fp64"), finding("zero-grad"), finding("data-loader-workers")]), [])


if __name__ == "__main__":
    unittest.main()
