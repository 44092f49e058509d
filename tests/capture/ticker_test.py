#!/usr/bin/env python3
"""The hook's own thread: paused around forks, and never there twice."""

from __future__ import annotations

import os
import sys
import threading
import time
import unittest
from unittest import mock

import captured

sys.path.insert(0, str(captured.HOOK))
from fathom_recorder import ticker  # noqa: E402

PLENTY_S = 60.0
NOTHING_S = 0.001


class TheThreadOfTheHook(unittest.TestCase):
    def setUp(self) -> None:
        quick = mock.patch.object(ticker, "PERIOD_S", NOTHING_S)
        quick.start()
        self.addCleanup(quick.stop)
        self.started: list[object] = []
        start = ticker.start_new_thread

        def counted(*words: object) -> int:
            self.started.append(words)
            return start(*words)

        counting = mock.patch.object(ticker, "start_new_thread", counted)
        counting.start()
        self.addCleanup(counting.stop)
        self.ticker = ticker.Ticker()
        self.called = threading.Semaphore(0)
        self.may_return = threading.Event()
        self.callers: list[int] = []
        self.ticker.add(self._call)

    def tearDown(self) -> None:
        self.may_return.set()
        self.ticker.pause(PLENTY_S)

    def _call(self) -> bool:
        self.callers.append(threading.get_ident())
        self.called.release()
        self.may_return.wait(PLENTY_S)
        return True

    def begin_a_long_call(self) -> None:
        self.ticker.wake()
        self.assertTrue(self.called.acquire(timeout=PLENTY_S))

    def test_a_call_that_outlasts_a_pause_goes_on_alone(self) -> None:
        self.begin_a_long_call()
        self.assertFalse(self.ticker.pause(NOTHING_S))
        self.ticker.resume()
        self.ticker.wake()
        self.assertEqual(len(self.started), 1)
        self.may_return.set()
        self.assertTrue(self.called.acquire(timeout=PLENTY_S))
        self.assertEqual(len(set(self.callers)), 1)
        self.assertEqual(len(self.started), 1)

    def test_the_same_after_several_pauses(self) -> None:
        self.begin_a_long_call()
        for _ in range(3):
            self.assertFalse(self.ticker.pause(NOTHING_S))
            self.ticker.resume()
        self.ticker.wake()
        self.may_return.set()
        self.assertTrue(self.ticker.pause(PLENTY_S))
        self.assertEqual(len(self.started), 1)

    def test_a_call_that_ends_while_it_is_paused_is_the_last(self) -> None:
        self.begin_a_long_call()
        self.assertFalse(self.ticker.pause(NOTHING_S))
        run = self.ticker._run
        self.may_return.set()
        self.assertTrue(run.over.acquire(timeout=PLENTY_S))
        run.over.release()
        calls = len(self.callers)
        self.ticker.wake()
        self.assertEqual((len(self.started), len(self.callers)), (1, calls))
        self.ticker.resume()
        self.ticker.wake()
        self.assertEqual(len(self.started), 2)

    def test_a_thread_that_just_ended_by_itself_is_gone_after_a_pause(self) -> None:
        one = ticker.Ticker()
        tids: list[int] = []

        def last() -> bool:
            tids.append(threading.get_native_id())
            run = one._run
            run.over = mock.Mock(wraps=run.over, release=lambda: time.sleep(0.05))
            return False

        one.add(last)
        one.wake()
        while one._run is not None or not tids:
            time.sleep(NOTHING_S)
        self.assertTrue(one.pause(PLENTY_S))
        self.assertFalse(os.path.exists(f"/proc/self/task/{tids[0]}"))

    def test_who_waits_for_something_is_called_soon_once(self) -> None:
        one = ticker.Ticker()
        one.soon()
        self.assertEqual(one._period_s(), ticker.SOON_S)
        self.assertEqual(one._period_s(), ticker.PERIOD_S)

    def test_after_a_pause_it_begins_anew(self) -> None:
        self.may_return.set()
        self.begin_a_long_call()
        self.assertTrue(self.ticker.pause(PLENTY_S))
        self.ticker.wake()
        self.assertEqual(len(self.started), 1)
        self.ticker.resume()
        self.ticker.wake()
        self.assertEqual(len(self.started), 2)

    def test_a_child_of_a_fork_that_did_not_wait_has_a_thread_of_its_own(self) -> None:
        self.begin_a_long_call()
        self.assertFalse(self.ticker.pause(NOTHING_S))
        child = os.fork()
        if child == 0:
            self.called = threading.Semaphore(0)
            self.may_return = threading.Event()
            self.ticker.resume()
            self.ticker.wake()
            os._exit(0 if self.called.acquire(timeout=PLENTY_S) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.ticker.resume()


if __name__ == "__main__":
    unittest.main()
