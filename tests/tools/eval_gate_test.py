"""tools/eval --gate fails on each kind of miss, on a known one that is none, and on nothing else."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])


def load() -> Any:
    loader = importlib.machinery.SourceFileLoader("fathom_eval_gated", str(ROOT / "tools/eval"))
    specification = importlib.util.spec_from_loader("fathom_eval_gated", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["fathom_eval_gated"] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


tool = load()
import eval_gate  # noqa: E402  (found through tools/eval)
import independent_score  # noqa: E402
import independent_sums  # noqa: E402
from illness_score import Answer, Judgement  # noqa: E402


def finding(rule: str, ms: float = 1, fix: str = "") -> dict[str, Any]:
    text = {"text": fix, "before": "", "after": ""}
    said = {"rule": rule, "id": rule, "title": f"{rule}: {ms:.2f} ms", "observed_ns": ms * 1e6, "fix": text}
    return said | {"confidence": "high", "family": "host", "evidence": [], "counter_evidence": ""}


def own(verdict: str, found: list[dict[str, Any]], **label: Any) -> Judgement:
    empty: dict[str, Any] = {"must": {}, "any_of": [], "may": {}, "must_not": {}}
    made = empty | {"trace": "kineto/x.json.gz", "verdict": ["host-bound"], **label}
    return Judgement(made, Answer(verdict, {each["rule"] for each in found}, {"findings": found}))


def independent(verdict: str, found: list[dict[str, Any]], **label: Any) -> independent_score.Judged:
    empty: dict[str, Any] = {"arguable": [], "must": [], "true": {}, "false": {}, "false_if": [], "measured": [], "harmful_fix": []}
    made = empty | {"trace": "y", "verdict": ["host-bound"], **label}
    return independent_score.judge(made, {"verdict": {"id": verdict}, "findings": found}, [])


def summed(said_ns: float, least_ns: float) -> independent_sums.Compared:
    return independent_sums.Compared("x.json.gz", finding("fp64"), said_ns, 0, least_ns, least_ns)


def lines(*own_ones: Judgement) -> list[str]:
    return [miss.what for miss in sorted(eval_gate.misses(own_ones, [], []))]


class Misses(unittest.TestCase):
    def test_what_all_labels_agree_with_has_none(self) -> None:
        right = own("host-bound", [finding("fp64")], must={"fp64": ""}, sums={"fp64": 1.0})
        other = independent("host-bound", [finding("fp64")], true={"fp64": ""})
        self.assertEqual(eval_gate.misses([right], [other], [summed(1e6, 1.01e6)]), set())

    def test_each_kind_is_one_by_our_own_labels(self) -> None:
        self.assertEqual(lines(own("balanced", [])), ["verdict balanced"])
        self.assertEqual(lines(own("host-bound", [finding("fp64")], must_not={"fp64": ""})), ["false: fp64"])
        self.assertEqual(lines(own("host-bound", [], must={"fp64": ""})), ["missing: fp64"])
        self.assertEqual(lines(own("host-bound", [finding("fp64", 3)], may={"fp64": ""}, sums={"fp64": 1.0})), ["false: fp64"])
        causal = finding("unfused-attention", fix="") | {"fix": {"text": "", "before": "", "after": "sdpa(is_causal=True)"}}
        harmful = own("host-bound", [causal], may={"unfused-attention": ""}, facts={"causal": False})
        self.assertEqual(lines(harmful), ["harmful fix: unfused-attention"])
        self.assertEqual(lines(Judgement({"trace": "a/b"}, Answer(failure="exit code 3"))), ["no answer"])

    def test_each_kind_is_one_by_another_readers(self) -> None:
        def said(judged: independent_score.Judged) -> list[str]:
            return [miss.what for miss in sorted(eval_gate.misses([], [judged], []))]

        must = [{"rules": ["zero-grad", "fp64"], "reason": ""}]
        harm = [{"rule": "fp64", "match": "halve", "reason": ""}]
        fp64 = finding("fp64", fix="halve it")
        self.assertEqual(said(independent("balanced", [])), ["verdict balanced"])
        self.assertEqual(said(independent("balanced", [], arguable=["balanced"])), [])
        self.assertEqual(said(independent("host-bound", [fp64], false={"fp64": ""})), ["false: fp64"])
        self.assertEqual(said(independent("host-bound", [], must=must)), ["missing: zero-grad or fp64"])
        self.assertEqual(said(independent("host-bound", [fp64], true={"fp64": ""}, harmful_fix=harm)), ["harmful fix: fp64"])

    def test_a_sum_may_be_two_percent_off(self) -> None:
        self.assertEqual(eval_gate.misses([], [], [summed(1.019e6, 1e6)]), set())
        self.assertEqual([str(each) for each in eval_gate.misses([], [], [summed(1.03e6, 1e6)])], ["x.json.gz (events): sum: fp64"])


class Known(unittest.TestCase):
    MISS = eval_gate.Miss("own", "x", "verdict balanced")

    def read(self, *entries: dict[str, str]) -> dict[Any, str]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "known.json")
            file.write_text(json.dumps({"misses": entries}))
            known: dict[Any, str] = eval_gate.known(file)
            return known

    def test_a_known_miss_is_no_error_and_one_that_is_none_is(self) -> None:
        judged = {("own", "x")}
        self.assertEqual(eval_gate.errors({self.MISS}, {self.MISS: "why"}, judged), [])
        self.assertEqual(eval_gate.errors({self.MISS}, {}, judged), ["not known: x (own): verdict balanced"])
        self.assertIn("missed no more", eval_gate.errors(set(), {self.MISS: "why"}, judged)[0])

    def test_one_of_a_trace_that_is_not_there_is_left_alone_unless_no_label_is_of_it(self) -> None:
        self.assertEqual(eval_gate.errors(set(), {self.MISS: "why"}, set()), [])
        self.assertEqual(eval_gate.strangers({self.MISS: "why"}, {("own", "x")}), [])
        self.assertEqual(len(eval_gate.strangers({self.MISS: "why"}, {("independent", "x")})), 1)

    def test_each_has_a_reason_and_stands_once(self) -> None:
        entry = {"labels": "own", "trace": "x", "what": "verdict balanced", "reason": "why"}
        self.assertEqual(self.read(entry), {self.MISS: "why"})
        for wrong in ([entry | {"reason": " "}], [entry, entry], [entry | {"labels": "other"}]):
            with self.assertRaises(ValueError):
                self.read(*wrong)


class Gate(unittest.TestCase):
    def gated(self, judgements: list[Judgement], *entries: dict[str, str]) -> tuple[int, str]:
        """The exit code where no other labels are, and what was printed of it."""
        before = (tool.KNOWN, tool.traces_named)
        self.addCleanup(lambda: (setattr(tool, "KNOWN", before[0]), setattr(tool, "traces_named", before[1])))
        tool.traces_named = lambda _: []
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            tool.KNOWN = Path(folder, "known.json")
            tool.KNOWN.write_text(json.dumps({"misses": entries}))
            with contextlib.redirect_stderr(io.StringIO()) as said:
                return tool.gate(judgements, tool.OfAnotherReader([], [], []), []), said.getvalue()

    def test_fails_on_misses_that_are_not_known(self) -> None:
        wrong, right = own("balanced", []), own("host-bound", [])
        entry = {"labels": "own", "trace": wrong.name, "what": "verdict balanced", "reason": "why"}
        self.assertEqual(self.gated([right]), (0, ""))
        self.assertEqual(self.gated([wrong], entry), (0, ""))
        for code, said in (self.gated([wrong]), self.gated([right], entry), self.gated([right], entry | {"trace": "z"})):
            self.assertEqual(code, 1)
            self.assertIn("verdict balanced", said)


if __name__ == "__main__":
    unittest.main()
