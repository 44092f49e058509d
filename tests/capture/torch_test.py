#!/usr/bin/env python3
"""Real PyTorch programs under the hook, on the CPU. They take minutes:
`make test-torch` installs torch and runs them, as many at a time as there are processors."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest
from typing import Any

import captured

PYTHON = captured.TORCH_PYTHON
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"
# Other than the schedule that is chosen by itself, which suits itself to how long steps take.
STEPS = {"wait": 1, "warmup": 1, "active": 2}
# From the first step to the last.
ALL_STEPS = {"steps": {"wait": 0, "warmup": 0, "active": 1000}, "overhead": False}


@functools.cache
def trained() -> tuple[captured.Captures, captured.Run]:
    """A training loop with all defaults, for all tests that look at one."""
    captures = captured.Captures(PYTHON)
    return captures, captures.run("train.py")


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Torch(unittest.TestCase):
    def setUp(self) -> None:
        self.captures = captured.Captures(PYTHON)

    def tearDown(self) -> None:
        self.captures.close()

    def run_well(self, *command: str, **more: object) -> captured.Run:
        run = self.captures.run(*command, **more)  # type: ignore[arg-type]
        self.assertEqual(run.code, 0, run.err)
        return run

    def events(self, trace: pathlib.Path) -> list[dict[str, object]]:
        return json.loads(trace.read_text())["traceEvents"]  # type: ignore[no-any-return]

    def only_trace(self, run: captured.Run) -> pathlib.Path:
        traces = run.traces()
        self.assertEqual(len(traces), 1, run.not_recorded())
        return traces[0]

    def trained(self) -> captured.Run:
        run = trained()[1]
        self.assertEqual(run.code, 0, run.err)
        return run

    def diagnosis(self, trace: pathlib.Path) -> str:
        done = subprocess.run([captured.FATHOM, "diagnose", trace], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_steps_that_were_asked_for_and_never_came_are_said(self) -> None:
        for options, why in (
            ({"step_by": "mark"}, "the program never called fathom.step()"),
            ({"range": "nowhere"}, "0 annotations named 'nowhere' were seen"),
        ):
            run = self.run_well("validates.py", "whole", options=options)
            self.assertEqual(run.traces(), [])
            self.assertIn(why, run.not_recorded())

    # Validation

    def steps_of_validation(self, what: str) -> tuple[captured.Run, list[int], list[int]]:
        """Of a program that validates, recorded from its second step to its end: how many
        matrix multiplications each step has, and each phase of evaluation."""
        options = {"steps": {"wait": 1, "warmup": 0, "active": 50}, "overhead": False}
        run = self.run_well("validates.py", what, options=options)
        facts = run.process()
        self.assertEqual((facts["steps"], facts["step_by"]), (6, "optimizer"))
        self.assertEqual(facts["batch_size"], 8)
        events = self.events(self.only_trace(run))
        begins = [float(str(e["ts"])) for e in events if e.get("name") == "aten::addmm"]
        products = {}
        for event in events:
            name = str(event.get("name"))
            if event.get("cat") == "user_annotation" and name.startswith("ProfilerStep#"):
                begin = float(str(event["ts"]))
                end = begin + float(str(event["dur"]))
                products[name] = sum(begin <= at < end for at in begins)
        self.assertEqual(list(products), [f"ProfilerStep#{n}" for n in range(1, 6)])
        phases = [s for s in run.slices("phase") if s.name == "evaluation"]
        steps = run.slices("step")
        self.assertEqual([s.value for s in steps], list(range(6)))
        own = [s for s in run.slices("phase") if s.name == "recorder"]
        self.assertTrue(own, "torch.profiler's start takes more than a millisecond")
        for phase in phases + own:
            end = phase.start + phase.duration
            self.assertFalse(
                [s for s in steps if s.start < end and phase.start < s.start + s.duration]
            )
        return run, list(products.values()), [phase.value for phase in phases]

    def test_validation_between_steps_belongs_to_none(self) -> None:
        run, products, phases = self.steps_of_validation("loader")
        # Two layers, and not those of three batches more.
        self.assertEqual(products, [2] * 5)
        # Before the first step, and those before which the program had validated.
        self.assertEqual(phases, [0, 2, 4, 6])
        facts = run.process()
        self.assertEqual((facts["batches_per_step"], facts["calls_per_step"]), (1, 1))
        self.assertEqual(facts["loader"]["samples"], 48)

    def test_validation_after_each_epoch_belongs_to_no_step(self) -> None:
        run, products, phases = self.steps_of_validation("epochs")
        self.assertEqual((products, phases), ([2] * 5, [2, 4, 6]))
        rows = captured.fathom_json("steps", str(self.only_trace(run)), "--limit", "0")["rows"]
        # What lies between two steps is in no window, however long other programs keep it from running.
        ends = [row["start_ns"] + row["window_ns"] for row in rows]
        gaps = [row["start_ns"] - end for row, end in zip(rows[1:], ends)]
        self.assertGreater(min(gaps[0], gaps[2]), max(gaps[1], gaps[3]))

    def test_a_test_after_each_step_belongs_to_none(self) -> None:
        _, products, phases = self.steps_of_validation("whole")
        self.assertEqual(products, [2] * 5)
        self.assertEqual(phases, [1, 2, 3, 4, 5, 6])

    def test_what_every_step_calls_without_gradients_is_part_of_it(self) -> None:
        _, products, phases = self.steps_of_validation("teacher")
        self.assertEqual(products, [6] * 5)
        self.assertEqual(phases, [])

    # Steps

    def test_a_training_loop_is_recorded_by_its_optimizer(self) -> None:
        run = self.trained()
        self.assertEqual((run.out, run.err), ("trained\n", ""))
        trace = self.only_trace(run)
        steps = run.steps(trace)
        # One alone where the machine is so busy that a step takes seconds.
        self.assertIn(len(steps), (1, 3))
        self.assertEqual(steps, list(range(steps[0], steps[0] + len(steps))))
        self.assertTrue(self.diagnosis(trace))
        facts = run.process()
        self.assertEqual((facts["steps"], facts["step_by"]), (12, "optimizer"))
        self.assertEqual([s.value for s in run.slices("step")], list(range(12)))
        self.assertEqual(len(run.slices("profile")), 1)

    def test_what_is_recorded_says_what_it_was(self) -> None:
        facts = self.trained().process()
        self.assertEqual(facts["model"]["class"], "Net")
        self.assertEqual(facts["model"]["parameters"], 16 * 32 + 32 + 32 * 4 + 4)
        self.assertEqual(facts["inputs"][0]["shape"], [8, 16])
        self.assertEqual((facts["batch_size"], facts["mode"], facts["seed"]), (8, "train", 7))
        self.assertEqual(facts["optimizers"][0]["class"], "SGD")
        self.assertEqual(facts["optimizers"][0]["momentum"], 0.9)
        self.assertEqual(facts["loader"]["num_workers"], 0)
        self.assertIn("torch", facts)

    def test_the_step_holds_its_own_fetch_and_what_follows_the_optimizer(self) -> None:
        run = self.trained()
        steps = {s.value: s for s in run.slices("step")}
        for fetch in run.slices("loader.fetch"):
            step = steps[fetch.value]
            self.assertLessEqual(step.start, fetch.start)
            self.assertLessEqual(fetch.start + fetch.duration, step.start + step.duration)

    def test_asked_for_steps_are_the_ones_recorded(self) -> None:
        steps = {"skip_first": 2, "wait": 1, "warmup": 1, "active": 2, "repeat": 2}
        run = self.run_well("train.py", options={"steps": steps})
        first, second = run.traces()
        self.assertEqual(run.steps(first), [4, 5])
        self.assertEqual(run.steps(second), [8, 9])

    def test_steps_count_on_while_no_recording_is_near(self) -> None:
        steps = {"skip_first": 200, "active": 2}
        for program in ("many.py", "infer_many.py"):
            with self.subTest(program=program):
                run = self.run_well(program, options={"steps": steps})
                self.assertEqual(run.process()["steps"], 300)
                self.assertEqual([s.value for s in run.slices("step")], list(range(300)))
                trace = self.only_trace(run)
                self.assertEqual(run.steps(trace), [202, 203])
                if program == "many.py":
                    seen = [e for e in self.events(trace) if e.get("cat") == "user_annotation"]
                    self.assertEqual([e["name"] for e in seen].count("one iteration"), 2)

    def test_from_the_first_step_on_where_nothing_is_to_be_waited_for(self) -> None:
        steps = {"wait": 0, "warmup": 0, "active": 1}
        run = self.run_well("accumulate.py", options={"steps": steps})
        self.assertEqual(run.steps(self.only_trace(run)), [1])

    def test_two_optimizers_make_one_step_together(self) -> None:
        run = self.run_well("gan.py", options={"steps": STEPS})
        self.assertEqual(run.process()["steps"], 12)
        trace = self.only_trace(run)
        self.assertEqual(run.steps(trace), [2, 3])
        updates = [e for e in self.events(trace) if e.get("name") == "Optimizer.step#Adam.step"]
        self.assertEqual(len([e for e in updates if e.get("cat") == "user_annotation"]), 4)

    def test_accumulated_gradients_make_one_step(self) -> None:
        run = self.run_well("accumulate.py", options={"steps": STEPS})
        self.assertEqual(run.process()["steps"], 12)
        names = [e.get("name") for e in self.events(self.only_trace(run))]
        self.assertEqual(names.count("AddmmBackward0"), 2 * 4 * 2)

    def test_inference_steps_by_calls_of_the_outermost_module(self) -> None:
        run = self.run_well("infer.py", options={"steps": STEPS})
        facts = run.process()
        self.assertEqual((facts["steps"], facts["step_by"]), (10, "module"))
        self.assertEqual((facts["mode"], facts["grad"]), ("eval", "disabled"))
        self.assertEqual(run.steps(self.only_trace(run)), [2, 3])

    def test_steps_may_be_counted_by_batches(self) -> None:
        run = self.run_well("accumulate.py", options={"step_by": "loader"})
        self.assertEqual(run.process()["steps"], 48)

    def test_a_program_that_never_steps_is_recorded_by_time(self) -> None:
        options = {"step_by": "time", "duration_s": 0.5}
        run = self.run_well("tensors.py", options=options)
        names = {e.get("name") for e in self.events(self.only_trace(run))}
        self.assertIn("aten::tanh", names)

    def test_compiled_steps_are_left_out(self) -> None:
        run = self.run_well("compiled.py")
        self.assertGreaterEqual(run.steps(self.only_trace(run))[0], 3)
        self.assertEqual(run.process()["compile"]["backend"], "aot_eager")
        self.assertIn("steps without compilation", run.not_recorded())

    def test_of_compiled_functions_the_calls_are_recorded(self) -> None:
        """Calls of the function, and its `def`: of what was inlined nothing runs as a line or call of its own."""
        if not captured.PYTHON_LIBRARY.exists():
            self.skipTest("a build without libfathom_python.so")
        captures = captured.Captures(PYTHON, captured.PYTHON_LIBRARY)
        self.addCleanup(captures.close)
        for parts in (["lines", "functions"], ["lines"]):
            with self.subTest(parts):
                run = captures.run("compiled.py", options={"with": parts})
                self.assertEqual(run.code, 0, run.err)
                records = list(run.records(run.process()["pid"]))
                self.check_compiled(records)
                if "functions" in parts:
                    calls = sum(f[4] for kind, f in records if kind == "function" and f[3] == "Net.forward")
                    self.assertEqual(calls, 14)

    def check_compiled(self, records: list[tuple[str, tuple[Any, ...]]]) -> None:
        hits: dict[tuple[str, int], int] = {}
        for kind, fields in records:
            if kind == "line" and fields[1].endswith("nets.py"):
                key = (fields[4], fields[2])
                hits[key] = hits.get(key, 0) + fields[6]
        line = (captured.PROGRAMS / "nets.py").read_text().splitlines().index("    def forward(self, x):") + 1
        forward = {key: count for key, count in hits.items() if key[0] == "Net.forward" and count > 0}
        self.assertEqual(forward, {("Net.forward", line): 14})
        caller = [count for (function, _), count in hits.items() if function == "loss_of"]
        self.assertEqual(caller, [14])

    def test_annotations_are_not_cut_by_steps(self) -> None:
        run = self.run_well("annotated.py", options={"steps": STEPS})
        ranges = [e for e in self.events(self.only_trace(run)) if e.get("cat") == "user_annotation"]
        steps = [e for e in ranges if str(e["name"]).startswith("ProfilerStep")]
        whole = [e for e in ranges if e["name"] == "one iteration"]
        self.assertEqual(len(steps), len(whole))
        for outer, inner in zip(steps, whole, strict=True):
            self.assertLessEqual(outer["ts"], inner["ts"])
            self.assertGreaterEqual(outer["ts"] + outer["dur"], inner["ts"] + inner["dur"])  # type: ignore[operator]

    # What to record

    def test_extras_are_recorded_as_asked_and_their_cost_is_measured(self) -> None:
        extras = ["flops", "memory", "shapes", "stacks"]
        run = self.run_well("train.py", options={"with": extras, "steps": STEPS})
        events = self.events(self.only_trace(run))
        self.assertTrue(any(e.get("cat") == "python_function" for e in events))
        self.assertTrue(any(e.get("name") == "[memory]" for e in events))
        self.assertTrue(any("Input Dims" in e.get("args", {}) for e in events))  # type: ignore[operator]
        overhead = run.process()["overhead"]
        self.assertEqual(overhead["profiled_steps"], 2)
        self.assertGreater(overhead["unprofiled_steps"], 0)
        self.assertGreater(overhead["ratio"], 0)
        self.assertIn("+".join(extras), overhead["options"])
        self.assertIn("plain", overhead["options"])
        memory = json.loads(next(run.folder.glob("memory-*.json")).read_text())
        self.assertEqual(set(memory["phases"]), {"forward", "backward", "optimizer", "step"})

    def test_a_range_is_recorded_alone(self) -> None:
        options = {"range": "forward", "steps": {"wait": 1, "active": 2}}
        run = self.run_well("annotated.py", options=options)
        self.assertEqual(len(run.traces()), 2)
        for trace in run.traces():
            names = [e.get("name") for e in self.events(trace)]
            self.assertIn("aten::addmm", names)
            self.assertNotIn("AddmmBackward0", names)

    def test_the_program_may_ask_itself(self) -> None:
        run = self.run_well("asks.py", options={"from_start": False})
        steps = run.steps(self.only_trace(run))
        self.assertEqual(steps[:3], [4, 5, 6])
        self.assertEqual(len(run.slices("annotation")), 10)

    def test_nothing_is_recorded_that_nobody_asked_for(self) -> None:
        run = self.run_well("train.py", options={"from_start": False})
        self.assertEqual(run.traces(), [])
        self.assertIn("nothing asked for it", run.not_recorded())

    def test_a_delay_beyond_the_end_is_said(self) -> None:
        run = self.run_well("train.py", options={"delay_s": 1000})
        self.assertEqual(run.traces(), [])
        self.assertIn("after 12 steps, before --delay was over", run.not_recorded())
        self.assertEqual(run.slices("loader.fetch"), [])

    # Data loaders

    def test_each_fetch_sample_and_collation_is_timed(self) -> None:
        run = self.trained()
        self.assertEqual([s.value for s in run.slices("loader.fetch")], list(range(12)))
        self.assertEqual(sorted(s.value for s in run.slices("loader.sample")), list(range(96)))
        self.assertEqual([s.value for s in run.slices("loader.collate")], [8] * 12)

    def test_workers_time_their_own_samples(self) -> None:
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                run = self.run_well("train.py", "2", method)
                self.assertEqual(run.roles()["loader-worker"], 2)
                samples = run.slices("loader.sample")
                self.assertEqual(sorted(s.value for s in samples), list(range(96)))
                self.assertEqual(len({s.pid for s in samples}), 2)
                self.assertEqual(len(run.slices("loader.fetch")), 12)
                self.assertEqual(len(run.traces()), 1)

    # Processes and trouble

    def test_each_rank_has_its_own_trace(self) -> None:
        launcher = ("-m", "torch.distributed.run", "--nproc_per_node=2", "--rdzv-backend=c10d")
        program = ("--rdzv-endpoint=localhost:0", str(captured.PROGRAMS / "ranks.py"))
        run = self.run_well(*launcher, *program, options={"steps": STEPS})
        self.assertEqual(run.roles()["rank"], 2)
        ranks = [p for p in run.processes() if p["role"] == "rank"]
        self.assertEqual(sorted(p["rank"] for p in ranks), [0, 1])
        self.assertEqual([p["world_size"] for p in ranks], [2, 2])
        self.assertEqual(ranks[0]["model"]["wrapped_in"], ["DistributedDataParallel"])
        self.assertEqual(len(run.traces()), 2)
        for trace in run.traces():
            self.assertEqual(run.steps(trace), [2, 3])
        self.assertTrue(self.diagnosis(run.folder))

    def test_an_exception_keeps_its_exit_code_its_message_and_the_trace(self) -> None:
        run = self.captures.run("crash.py", options=ALL_STEPS)
        self.assertEqual(run.code, 1)
        self.assertIn("ValueError: on purpose", run.err)
        self.assertEqual(run.steps(self.only_trace(run))[:2], [1, 2])

    def test_a_program_that_is_ended_keeps_the_trace(self) -> None:
        codes = {"_exit": 3, "handled": 5, "thread": 0,
                 "SIGTERM": -signal.SIGTERM, "SIGINT": -signal.SIGINT}  # fmt: skip
        for how, code in codes.items():
            with self.subTest(how=how):
                run = self.captures.run("ends.py", how, options=ALL_STEPS)
                self.assertEqual(run.code, code, run.err)
                self.assertGreaterEqual(len(run.steps(self.only_trace(run))), 4)
                self.assertNotIn("a trace that was being recorded", run.not_recorded())
                self.assertEqual(run.ends(run.process()["pid"]), 1)

    def test_a_program_that_is_killed_has_said_what_is_lost(self) -> None:
        run = self.captures.run("ends.py", "SIGKILL", options=ALL_STEPS)
        self.assertEqual(run.code, -signal.SIGKILL)
        self.assertEqual(run.traces(), [])
        self.assertIn("a trace that was being recorded", run.not_recorded())
        done = subprocess.run(
            [captured.FATHOM, "info", run.folder, "--json"], capture_output=True, text=True
        )
        self.assertIn("ended while torch.profiler recorded", done.stdout)

    def test_a_signal_starts_and_stops_recording(self) -> None:
        options = {"on_signal": "SIGUSR2", "steps": {"warmup": 0}}
        run = self.run_well("signalled.py", options=options)
        self.assertEqual(run.steps(self.only_trace(run)), [4, 5, 6, 7, 8])

    def test_a_module_is_recorded_like_a_script(self) -> None:
        environment = self.captures.environment({"steps": STEPS})
        environment["PYTHONPATH"] += os.pathsep + str(captured.PROGRAMS)
        done = subprocess.run(
            [PYTHON, "-m", "train"], env=environment, capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
        run = captured.Run(environment["FATHOM_SESSION"], done)
        self.assertEqual(run.steps(self.only_trace(run)), [2, 3])

    def test_the_command_run_records_and_diagnoses(self) -> None:
        folder = pathlib.Path(self.captures._folder) / "session"
        done = subprocess.run(
            [captured.FATHOM, "run", "-o", folder, "--", PYTHON, captured.PROGRAMS / "train.py"],
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
        self.assertTrue(list(folder.glob("torch-*.pt.trace.json")))
        self.assertIn("Verdict", done.stderr)
        self.assertNotIn("USDT", done.stderr)

    def test_a_program_that_forks_is_recorded_once(self) -> None:
        run = self.run_well("forks.py", options={"steps": STEPS})
        self.assertEqual(run.steps(self.only_trace(run)), [2, 3])
        self.assertEqual(run.roles(), {"main": 1, "child": 2})

    def test_a_program_that_profiles_itself_is_given_way(self) -> None:
        for how in ("export", "forget", "schedule"):
            with self.subTest(how=how):
                mine = str(self.captures._folder) + "/mine.json"
                run = self.run_well("own_profiler.py", how, mine)
                self.assertEqual(run.out, "True\n")
                trace = self.only_trace(run)
                if how == "export":
                    self.assertEqual(trace.read_bytes(), pathlib.Path(mine).read_bytes())
                if how == "schedule":
                    self.assertEqual(run.steps(trace), [4, 5])
                self.assertEqual(run.process()["profiler"], "the program's own")
                self.assertIn("runs torch.profiler itself", run.not_recorded())

    def test_pickles_scripts_and_graphs_stay_as_they_were(self) -> None:
        self.assertEqual(self.run_well("pickles.py").out, "works\n")

    def test_torch_is_not_imported_for_programs_that_do_not(self) -> None:
        run = self.run_well("-c", "import sys; print('torch' in sys.modules)")
        self.assertEqual(run.out, "False\n")

    def test_looking_for_torch_does_not_import_it(self) -> None:
        code = "import importlib.util as u, sys; print(bool(u.find_spec('torch')), "
        code += "'torch' in sys.modules)"
        self.assertEqual(self.run_well("-c", code).out, "True False\n")


def main() -> None:
    if sys.argv[1:] or not WANTED:
        unittest.main()
    good = captured.run_together(Torch)
    trained()[0].close()
    sys.exit(not good)


if __name__ == "__main__":
    main()
