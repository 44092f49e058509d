#!/usr/bin/env python3
"""Loops that others write around PyTorch, under the hook: Lightning's and Accelerate's, where they
are installed, and a program's own profiler. `make test-torch` runs them."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import unittest

import captured

PYTHON = captured.TORCH_PYTHON
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"
OPTIONS = {"steps": {"wait": 1, "warmup": 1, "active": 3}, "overhead": False}


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Frameworks(unittest.TestCase):
    def setUp(self) -> None:
        self.captures = captured.Captures(PYTHON)
        self.addCleanup(self.captures.close)

    def need(self, module: str) -> None:
        code = f"import importlib.util as u, sys; sys.exit(not u.find_spec({module!r}))"
        if subprocess.run([PYTHON, "-c", code], check=False).returncode:
            self.skipTest(f"{module} is not installed")

    def run_well(self, *command: str, **more: object) -> captured.Run:
        run = self.captures.run(*command, **more)  # type: ignore[arg-type]
        self.assertEqual(run.code, 0, run.err)
        return run

    def recorded_steps(self, run: captured.Run) -> list[int]:
        (trace,) = run.traces()
        return run.steps(trace)

    def backward_passes(self, run: captured.Run) -> int:
        """In all steps that were recorded, of a network with two layers."""
        (trace,) = run.traces()
        events = json.loads(trace.read_text())["traceEvents"]
        return sum(e.get("name") == "NllLossBackward0" for e in events)

    def test_lightning_steps_with_its_optimizer_and_trains_its_module(self) -> None:
        self.need("lightning")
        run = self.run_well("lightning_fit.py", options=OPTIONS)
        self.assertEqual(run.out.split(), ["12"])
        facts = run.process()
        self.assertEqual((facts["steps"], facts["step_by"]), (12, "optimizer"))
        self.assertEqual(self.recorded_steps(run), [2, 3, 4])
        self.assertEqual(self.backward_passes(run), 3 * 2)
        self.assertEqual(facts["model"]["class"], "Classifier")
        self.assertEqual(facts["batches_per_step"], 2)
        # Not those of the validation that came first.
        self.assertEqual(
            (facts["batch_size"], facts["mode"], facts["grad"]), (4, "train", "enabled")
        )
        self.assertEqual((facts["loader"]["batch_size"], facts["loader"]["samples"]), (4, 96))
        self.assertEqual(facts["lightning"]["accumulate_grad_batches"], 2)

    def test_lightning_with_two_optimizers_steps_once_for_both(self) -> None:
        self.need("lightning")
        run = self.run_well("lightning_gan.py", options=OPTIONS)
        facts = run.process()
        self.assertEqual((facts["steps"], facts["step_by"]), (12, "optimizer"))
        self.assertEqual(self.recorded_steps(run), [2, 3, 4])
        self.assertEqual([o["class"] for o in facts["optimizers"]], ["Adam", "Adam"])
        self.assertEqual((facts["model"]["class"], facts["batch_size"]), ("Pair", 4))
        self.assertEqual((facts["batches_per_step"], facts["loader"]["samples"]), (1, 48))
        # Validation comes first, and after every third step.
        phases = [s.value for s in run.slices("phase") if s.name == "evaluation"]
        self.assertEqual(phases, [0, 3, 6, 9, 12])

    def test_lightning_counted_by_calls_of_a_module_is_described_by_its_training(self) -> None:
        self.need("lightning")
        run = self.run_well("lightning_fit.py", options={**OPTIONS, "step_by": "module"})
        facts = run.process()
        # 24 batches of training, and six of validation.
        self.assertEqual((facts["steps"], facts["step_by"]), (30, "module"))
        self.assertEqual((facts["loader"]["samples"], facts["batch_size"]), (96, 4))
        self.assertEqual(self.recorded_steps(run), [2, 3, 4])

    def test_accelerate_steps_once_for_the_batches_it_accumulates(self) -> None:
        self.need("accelerate")
        run = self.run_well("accelerated.py", options=OPTIONS)
        facts = run.process()
        self.assertEqual((facts["steps"], facts["step_by"]), (6, "optimizer"))
        self.assertEqual(self.recorded_steps(run), [2, 3, 4])
        self.assertEqual(self.backward_passes(run), 3 * 3)
        self.assertEqual((facts["batches_per_step"], facts["batch_size"]), (3, 4))
        self.assertEqual(facts["loader"]["batch_size"], 4)
        self.assertEqual(facts["amp"]["autocast"], "bfloat16")
        self.assertEqual(facts["accelerate"]["gradient_accumulation_steps"], 3)

    def test_a_profiler_that_writes_for_tensorboard_is_copied_cycle_by_cycle(self) -> None:
        folder = pathlib.Path(self.captures._folder) / "board"
        run = self.run_well("own_profiler.py", "tensorboard", str(folder))
        theirs = [path.read_bytes() for path in folder.iterdir()]
        ours = run.traces()
        self.assertEqual([run.steps(trace) for trace in ours], [[2, 3], [6, 7]])
        self.assertCountEqual([trace.read_bytes() for trace in ours], theirs)
        self.assertEqual(run.process()["profiler"], "the program's own")


if __name__ == "__main__":
    if sys.argv[1:] or not WANTED:
        unittest.main()
    sys.exit(not captured.run_together(Frameworks))
