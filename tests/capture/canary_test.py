#!/usr/bin/env python3
"""The function that the hook names to whoever reads stacks from outside."""

from __future__ import annotations

import os
import struct
import sys
import time
import unittest
from unittest import mock

import captured

sys.path.insert(0, str(captured.HOOK))
from fathom_recorder import canary, ticker  # noqa: E402
from fathom_recorder.wire import get_native_id  # noqa: E402

NAMED = "/memfd:" + canary.NAME


def shown() -> list[tuple[int, int]]:
    """Thread and code of each page of that name, as another process would read them."""
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            if NAMED not in line:
                continue
            memory.seek(int(line.partition("-")[0], 16))
            mark, thread, code = struct.unpack("<8sQQ", memory.read(24))
            if mark == canary.MARK:
                found.append((thread, code))
    return found


class TheCanary(unittest.TestCase):
    def test_it_names_a_thread_and_a_function_until_it_is_hidden(self) -> None:
        own = canary.Canary()
        self.assertIn((0, 0), shown())
        code = self.setUp.__func__.__code__
        own.show(code)
        self.assertIn((get_native_id(), id(code)), shown())
        own.hide()
        self.assertNotIn((get_native_id(), id(code)), shown())

    def test_no_program_that_is_begun_has_a_descriptor_of_it(self) -> None:
        before = {int(each) for each in os.listdir("/proc/self/fd")}
        own = canary.Canary()
        after = {int(each) for each in os.listdir("/proc/self/fd")}
        kept = [each for each in after - before if os.path.exists(f"/proc/self/fd/{each}")
                or os.path.islink(f"/proc/self/fd/{each}")]
        self.assertLessEqual(len(kept), 0 if sys.version_info >= (3, 13) else 1)
        self.assertFalse([each for each in kept if os.get_inheritable(each)])
        own.hide()

    def test_a_child_changes_only_its_own(self) -> None:
        own = canary.Canary()
        code = self.setUp.__func__.__code__
        own.show(code)
        child = os.fork()
        if child == 0:
            own.hide()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertIn((get_native_id(), id(code)), shown())

    def test_where_there_is_no_such_memory_nothing_is_named(self) -> None:
        with mock.patch.object(os, "memfd_create", side_effect=OSError):
            own = canary.Canary()
        before = shown()
        own.show(self.setUp.__func__.__code__)
        self.assertEqual(shown(), before)
        own.hide()
        self.assertEqual(shown(), before)

    def test_the_hooks_thread_is_in_the_function_that_it_names(self) -> None:
        beat = ticker.Ticker()
        own = canary.Canary()
        beat.begins.append(lambda: own.show(beat.code()))
        beat.ends.append(own.hide)
        met: list[tuple[bool, bool]] = []

        def call() -> bool:
            frame, on_stack = sys._getframe(), False
            while frame is not None:
                on_stack = on_stack or frame.f_code is beat.code()
                frame = frame.f_back
            met.append((on_stack, (get_native_id(), id(beat.code())) in shown()))
            return True

        beat.add(call)
        with mock.patch.object(ticker, "PERIOD_S", 0.001):
            beat.wake()
            while not met:
                time.sleep(0.001)
            beat.pause(60.0)
        self.assertEqual(met[0], (True, True))
        self.assertNotIn(id(beat.code()), [code for _, code in shown()])


if __name__ == "__main__":
    unittest.main()
