#!/usr/bin/env python3
"""How the hook chooses what to record, and measures what that costs. Needs no torch."""

from __future__ import annotations

import sys
import threading
import time
import unittest

import captured

sys.path.insert(0, str(captured.HOOK))

from fathom_recorder.options import Options  # noqa: E402
from fathom_recorder.overhead import EDGE, UNPROFILED, Overhead  # noqa: E402
from fathom_recorder.plan import FAR, Plan, Window  # noqa: E402
from fathom_recorder.steps import (  # noqa: E402
    EVALUATION,
    LOUD,
    NO_GRADIENTS,
    OTHER,
    Steps,
)

from fathom_recorder.requests import CALLS_OF_LOOP, Requests  # noqa: E402

STEP = 1_000_000


class Served(unittest.TestCase):
    def setUp(self) -> None:
        self.found: list[tuple[int, int]] = []
        self.requests = Requests(lambda begin, end, spent: self.found.append((begin, end)))

    def call(self, times: int = 1) -> None:
        for _ in range(times):
            self.requests.call_begins()
            self.requests.call_ends()

    def test_an_item_of_work_in_which_models_are_called_is_one_request(self) -> None:
        self.requests.begin()
        before = time.monotonic_ns()
        self.requests.begin()
        self.call(3)
        self.requests.end()
        self.assertEqual(self.found, [])
        self.requests.end()
        ((begin, end),) = self.found
        self.assertTrue(begin <= before <= end)

    def test_an_item_without_a_model_is_no_request(self) -> None:
        self.requests.begin()
        self.requests.end()
        self.assertEqual(self.found, [])

    def test_a_call_outside_of_any_item_is_a_request(self) -> None:
        self.call(2)
        self.assertEqual(len(self.found), 2)

    def test_the_calls_of_an_item_that_never_ends_are_requests(self) -> None:
        self.requests.begin()
        self.call(CALLS_OF_LOOP + 5)
        self.assertEqual(len(self.found), 6)
        self.requests.end()
        self.assertEqual(len(self.found), 6)

    def test_each_thread_has_its_own_items(self) -> None:
        self.requests.begin()
        thread = threading.Thread(target=self.call)
        thread.start()
        thread.join()
        self.assertEqual(len(self.found), 1)


class Cost(unittest.TestCase):
    def steps(self, overhead: Overhead, kinds: str, times: dict[str, int]) -> None:
        """One letter for each step: u unprofiled, e edge, anything else the kind itself."""
        names = {"u": UNPROFILED, "e": EDGE}
        for kind in kinds:
            self.number += 1
            overhead.step(self.number, names.get(kind, kind), times[kind], 0)

    def setUp(self) -> None:
        self.number = 1

    def test_recorded_steps_are_compared_with_their_neighbours(self) -> None:
        overhead = Overhead()
        self.steps(overhead, "uuuuepppeuuuu", {"u": 100, "p": 150, "e": 9999})
        # The program becomes twice as slow, which is no cost of recording.
        self.steps(overhead, "uuuuuuepppeuuuu", {"u": 200, "p": 300, "e": 9999})
        facts = overhead.facts("p")
        self.assertEqual(facts["ratio"], 1.5)
        self.assertEqual(
            facts["ratio"], facts["profiled_median_ns"] / facts["unprofiled_median_ns"]
        )
        low, high = facts["ratio_interval"]
        self.assertTrue(low <= 1.5 <= high)
        self.assertEqual(facts["profiled_steps"], 6)
        self.assertEqual(facts["unprofiled_steps"], 16)

    def test_each_option_has_a_ratio_of_its_own(self) -> None:
        overhead = Overhead()
        self.steps(overhead, "uuuuppeuuuussuuuu", {"u": 100, "p": 110, "s": 130, "e": 0})
        options = overhead.facts("p")["options"]
        self.assertEqual({kind: o["ratio"] for kind, o in options.items()}, {"p": 1.1, "s": 1.3})

    def test_the_noise_is_what_unrecorded_steps_differ_by(self) -> None:
        overhead = Overhead()
        self.steps(overhead, "uuuuppuuuu", {"u": 100, "p": 100})
        self.assertEqual(overhead.facts("p")["noise"], 0)
        self.assertIsNone(Overhead().facts("p")["noise"])

    def test_the_first_steps_count_for_nothing(self) -> None:
        overhead = Overhead()
        overhead.step(0, "p", 100, 0)
        overhead.step(1, UNPROFILED, 100, 0)
        self.assertIsNone(overhead.facts("p")["ratio"])
        self.assertEqual(overhead.facts("p")["options"], {})


class Choice(unittest.TestCase):
    def windows(self, plan: Plan, steps: int) -> dict[int, Window]:
        """By the number of the step after which they were opened; each is over at once."""
        found = {}
        for number in range(steps):
            window = plan.window(STEP, 0, STEP, lambda: STEP)
            if window is not None:
                found[number] = window
                plan.over(window)
        return found

    def test_the_cost_of_each_option_is_measured_after_the_recording(self) -> None:
        windows = self.windows(Plan(Options({"with": ["shapes", "stacks"]})), 40)
        extras = [w.extras for w in windows.values()]
        self.assertEqual(extras, [("shapes", "stacks"), (), ("shapes",), ("stacks",)])
        self.assertEqual([w.kept for w in windows.values()], [True, False, False, False])
        opened = list(windows)
        # There are steps without a profiler between them.
        self.assertTrue(all(b - a > 2 for a, b in zip(opened, opened[1:], strict=False)))

    def test_nothing_is_measured_where_that_is_not_wanted(self) -> None:
        windows = self.windows(Plan(Options({"overhead": False})), 40)
        self.assertEqual([w.kept for w in windows.values()], [True])

    def test_steps_that_were_not_looked_at_count(self) -> None:
        plan = Plan(Options({"steps": {"skip_first": 100}}))
        self.assertIsNone(plan.window(STEP, 0, STEP, lambda: STEP))
        far = plan.far_steps(STEP)
        self.assertGreater(far, 90)
        plan.skip(far)
        self.assertEqual(plan.far_steps(STEP), 0)
        self.assertEqual(len(self.windows(plan, 3)), 1)

    def test_a_program_that_was_recorded_is_far_from_the_next(self) -> None:
        plan = Plan(Options({"overhead": False}))
        self.windows(plan, 5)
        self.assertEqual(plan.far_steps(STEP), FAR)


class Evaluation(unittest.TestCase):
    """Optimizer 7 learns with module 1."""

    def setUp(self) -> None:
        self.ended: list[tuple[int, int]] = []
        self.evaluations: list[tuple[int, int]] = []
        self.steps = Steps(
            "auto",
            lambda number, start, end: self.ended.append((start, end)),
            lambda begin, end: self.evaluations.append((begin, end)),
        )
        self.steps.optimizer_made(7)

    def learn(self) -> None:
        self.steps.module_begin(1, LOUD)
        self.steps.optimizer_done(7)

    def test_what_is_quiet_between_two_steps_is_part_of_neither(self) -> None:
        self.learn()
        self.steps.fetch(EVALUATION)
        self.steps.module_begin(1, EVALUATION)
        self.learn()
        self.steps.last(time.monotonic_ns())
        ((_, first_end), (second_begin, _)) = self.ended
        ((begin, end),) = self.evaluations
        self.assertLessEqual(begin, first_end)
        self.assertLessEqual(end, second_begin)

    def test_a_module_that_each_step_calls_without_gradients_is_part_of_it(self) -> None:
        for _ in range(4):
            self.steps.module_begin(2, OTHER)
            self.steps.module_begin(1, NO_GRADIENTS)
            self.learn()
        self.assertEqual(self.evaluations, [])

    def test_a_rollout_without_gradients_between_some_steps_is_part_of_none(self) -> None:
        for _ in range(3):
            self.learn()
            self.learn()
            self.steps.module_begin(1, NO_GRADIENTS)
        self.learn()
        self.assertEqual(len(self.evaluations), 3)

    def test_validation_before_the_first_step_is_not_part_of_it(self) -> None:
        self.steps.fetch(NO_GRADIENTS)
        self.learn()
        self.steps.fetch()
        self.assertEqual(len(self.evaluations), 1)
        self.assertGreaterEqual(self.ended[0][0], self.evaluations[0][1])

    def test_steps_that_end_where_they_become_due_see_the_change_of_mode(self) -> None:
        self.learn()
        self.learn()
        self.steps.rest()
        self.steps.optimizer_done(7)
        self.steps.mode_set(EVALUATION)
        self.assertIsNotNone(self.steps.evaluating)
        self.learn()
        self.assertEqual(len(self.evaluations), 1)

    def test_what_turns_out_to_be_part_of_a_step_is_no_evaluation(self) -> None:
        self.learn()
        self.steps.fetch(NO_GRADIENTS)
        begin = self.steps.start
        self.steps.optimizer_done(7)
        self.assertEqual([end - begin for begin, end in self.evaluations], [0])
        self.steps.fetch()
        self.assertEqual(self.ended[-1][0], begin)

    def test_inference_without_gradients_has_steps_and_no_evaluation(self) -> None:
        steps = Steps("auto", lambda number, start, end: self.ended.append((start, end)))
        for _ in range(4):
            steps.module_begin(1, OTHER)
            steps.module_done(1)
        self.assertEqual(len(self.ended), 3)
        self.assertIsNone(steps.evaluating)


class Rest(unittest.TestCase):
    def test_steps_end_where_they_become_due_while_nobody_looks(self) -> None:
        ended: list[int] = []
        steps = Steps("auto", lambda number, start, end: ended.append(number))
        steps.optimizer_made(7)
        steps.module_begin(1)
        steps.optimizer_done(7)
        steps.module_begin(1)
        self.assertEqual(ended, [0])
        steps.rest()
        self.assertTrue(steps.ends_at_once())
        self.assertEqual(steps.sole(), 7)
        steps.optimizer_done(7)
        self.assertEqual(ended, [0, 1])

    def test_a_batch_that_is_fetched_still_ends_a_step(self) -> None:
        ended: list[int] = []
        steps = Steps("auto", lambda number, start, end: ended.append(number))
        steps.fetch()
        steps.optimizer_done(7)
        steps.fetch()
        steps.rest()
        steps.optimizer_done(7)
        steps.fetch()
        steps.optimizer_done(7)
        self.assertFalse(steps.ends_at_once())
        self.assertEqual(ended, [0, 1])
        steps.fetch()
        self.assertEqual(ended, [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
