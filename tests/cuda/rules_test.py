#!/usr/bin/env python3
"""Rules of CUPTI and of the driver, how our code would break each, and the test that then fails.

    tests/cuda/rules_test.py --break build/release [RULE...]

breaks one rule after the other in the sources, builds, runs its test and puts the sources back: each must fail. It
takes minutes and is done by hand. As a test, this file checks that every breakage still has its place in the sources
and its test.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR") or pathlib.Path(__file__).parents[2])
CUDA = "src/capture/cuda/"


@dataclasses.dataclass(frozen=True)
class Rule:
    what: str
    file: str
    right: str
    wrong: str
    test: str


RULES = {
    "order": Rule(
        "buffers are there before a kind of activity is enabled",
        CUDA + "tracer.cc",
        "result = cupti.register_callbacks(on_request, on_complete);",
        "",
        "CudaInjection.RecordsWhatTheProgramDoesOnTheDevice",
    ),
    "buffer": Rule(
        "a request for a buffer is never answered by null",
        CUDA + "buffers.cc",
        "const bool scratch = made_ >= most_;",
        "const bool scratch = made_ >= most_;\n  if (scratch) return nullptr;",
        "CudaInjection.BeyondTheMemoryCapRecordsAreDiscardedAndCounted",
    ),
    "zeros": Rule(
        "buffers hold zeros, as CUPTI was promised",
        CUDA + "buffers.cc",
        "  Head* const head = head_of(bytes);\n  std::memset(bytes, 0, kBytes);\n"
        "  const std::lock_guard lock(mutex_);\n  head->next = std::exchange(free_, head);",
        "  Head* const head = head_of(bytes);\n"
        "  const std::lock_guard lock(mutex_);\n  head->next = std::exchange(free_, head);",
        "CudaInjection.OfALongRunTheNewestStretchIsKept",
    ),
    "disable": Rule(
        "before CUDA 13.1 kernels are not disabled",
        CUDA + "tracer.cc",
        "return kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || cupti_.version >= kMayDisable;",
        "return kind != CUPTI_ACTIVITY_KIND_FORCE_INT;",
        "CudaInjection.KernelsOutsideOfTheProgramsRangeAreDroppedWhereTheyCannotBeSwitchedOff",
    ),
    "end": Rule(
        "nothing is called after the driver's end",
        CUDA + "tracer_work.cc",
        "  if (metrics_ != nullptr) metrics_->stop();\n  ending_ = true;\n",
        "  return;\n",
        "CudaInjection.AfterItsEndCuptiIsNotCalledAndBuffersThatComeLateAreWaitedFor",
    ),
    "graphs": Rule(
        "wholes of graphs are never asked for where nodes are wanted",
        CUDA + "fallback.cc",
        "return version >= since && (graphs == GraphLevel::any || graphs == level);",
        "return version >= since && (graphs != GraphLevel::nodes || graphs == level);",
        "CudaInjection.NodesOfGraphsAreRecordedFromTheFirstLaunchAndWholesAreWholes",
    ),
    "size": Rule(
        "a structure has the size that the library's version has",
        CUDA + "pm_functions.h",
        "parameters.structSize = other;",
        "",
        "GpuMetrics.EachVersionOfCuptiGetsStructuresOfItsOwnSizes",
    ),
    "restart": Rule(
        "sampling is configured anew after a stop",
        CUDA + "pm_device.cc",
        "if (why = configure(); why.result != CUPTI_SUCCESS) return false;",
        "",
        "GpuMetrics.WhatTheHardwareHadNoRoomForIsCountedAndTheRestGoesOn",
    ),
    "outlier": Rule(
        "the first sample after a start is left out",
        CUDA + "pm_device.cc",
        "if (std::exchange(first_, false)) continue;",
        "",
        "GpuMetrics.TheOutlierAfterEachStartIsLeftOut",
    ),
    "capture": Rule(
        "calls of events do not spoil the graph that another thread captures",
        CUDA + "event_timer.cc",
        "if (cuda_.exchange_mode != nullptr) cuda_.exchange_mode(&mode_);",
        "",
        "CudaInjection.EventsSpoilNoGraphThatAnotherThreadCapturesAndLieInTheLaunchsStream",
    ),
    "stream": Rule(
        "the null stream of a call for streams of threads is the thread's",
        CUDA + "watched_calls.cc",
        "return named == nullptr && of_thread ? CU_STREAM_PER_THREAD : named;",
        "return of_thread ? named : named;",
        "CudaInjection.EventsSpoilNoGraphThatAnotherThreadCapturesAndLieInTheLaunchsStream",
    ),
    "context": Rule(
        "what CUPTI has of a context is taken before it ends",
        CUDA + "tracer_calls.cc",
        "cupti_.flush_all(done ? 0 : static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)));",
        "done ? CUPTI_SUCCESS : CUPTI_SUCCESS);",
        "CudaInjection.BeforeAContextEndsWhatCuptiHasOfItIsTaken",
    ),
    "limit": Rule(
        "a context whose work does not end is waited for half a second at most",
        CUDA + "context_wait.cc",
        "answer == CUDA_ERROR_NOT_READY && wire::monotonic_ns() < until;",
        "answer == CUDA_ERROR_NOT_READY && until != 0;",
        "CudaInjection.AContextWhoseWorkDoesNotEndIsNotWaitedForWithoutALimit",
    ),
    "clock": Rule(
        "times of a clock that fits no other are not recorded",
        CUDA + "tracer_work.cc",
        "if (clock_.unknown()) taken_over();",
        "",
        "CudaInjection.TimesOfAClockThatFitsNoOtherAreUnknownAndNotRecorded",
    ),
    "primary": Rule(
        "a primary context that is reset is waited for and released again",
        CUDA + "context_wait.cc",
        "if (!known || active == 0) return known;",
        "if (known || active == 0) return !known;",
        "CudaInjection.TheEndOfAContextDoesNotCutWhatAnotherRuns",
    ),
    "released": Rule(
        "a primary context that is reset is waited for and released again",
        CUDA + "context_wait.cc",
        "  cuda.release_primary(device);\n",
        "",
        "CudaInjection.BeforeAContextEndsWhatCuptiHasOfItIsTaken",
    ),
    "again": Rule(
        "calls that the recorder itself makes in a callback are no calls of the program's",
        CUDA + "tracer_calls.cc",
        "if (guard.again()) return;",
        "",
        "CudaInjection.BeforeAContextEndsWhatCuptiHasOfItIsTaken",
    ),
    "plain": Rule(
        "launches of every kind show that buffers are another profiler's",
        CUDA + "tracer_work.cc",
        "if (++still_ >= kStill) hear_launches(true);",
        "if (++still_ >= kStill) hear_launches(false);",
        "CudaInjection.AnotherProfilerWithAClockLikeCuptisIsNoticedByMissingBuffers",
    ),
    "unheard": Rule(
        "while buffers come back, plain launches are not heard of",
        CUDA + "tracer_work.cc",
        "    still_ = 0;\n    hear_launches(false);",
        "    still_ = 0;\n    hear_launches(true);",
        "CudaInjection.PlainLaunchesCostNoCallbackWhileBuffersComeBack",
    ),
    "inherited": Rule(
        "what exec() brought along of the hook's mark is not the hook",
        CUDA + "torch_presence.cc",
        " || is_inherited(said))",
        " || (said == nullptr && is_inherited(said)))",
        "CudaInjection.WhereNobodyStartsTorchsProfilerItIsRecordedHere",
    ),
    "major": Rule(
        "a library of another major version that is named is reported",
        CUDA + "tracer.cc",
        "if (other) lose(*other);",
        "static_cast<void>(other);",
        "CudaInjection.ALibraryOfAnotherMajorVersionThatIsNamedIsReportedOrRefused",
    ),
    "late": Rule(
        "buffers that come after a forced flush are waited for",
        CUDA + "tracer_work.cc",
        "if (forced) wait_for_buffers();",
        "",
        "CudaInjection.AfterItsEndCuptiIsNotCalledAndBuffersThatComeLateAreWaitedFor",
    ),
}


class Places(unittest.TestCase):
    def test_each_rule_has_its_place_in_the_sources_and_its_test(self) -> None:
        tests = "".join(path.read_text() for path in (ROOT / "tests/cuda").glob("*_test.cc"))
        for name, rule in RULES.items():
            self.assertEqual((ROOT / rule.file).read_text().count(rule.right), 1, name)
            suite, test = rule.test.split(".")
            self.assertIn(f"TEST_F({suite}, {test})", tests, name)

    def test_the_documentation_lists_them(self) -> None:
        page = (ROOT / "docs/cuda.md").read_text()
        for name, rule in RULES.items():
            self.assertIn(rule.what, page, name)


def fails(rule: Rule, build: pathlib.Path) -> str:
    """How the test of a broken rule ends."""
    source = ROOT / rule.file
    kept = source.read_text()
    command = ["cmake", "--build", str(build), "--target", "fathom_cuda"]
    try:
        source.write_text(kept.replace(rule.right, rule.wrong))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        program = os.environ.get("FATHOM_CUDA_TEST") or str(build / "tests/cuda_test")
        words = [program, f"--gtest_filter={rule.test}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    finally:
        source.write_text(kept)
    text = done.stdout + done.stderr
    said = [line for line in text.splitlines() if line.startswith("fake CUPTI: ")]
    ended = "passes" if done.returncode == 0 else "fails"
    return f"{ended}{': ' + said[0].removeprefix('fake CUPTI: ') if said else ''}"


def main() -> int:
    build, names = pathlib.Path(sys.argv[2]), sys.argv[3:] or list(RULES)
    passed = 0
    for name in names:
        ended = fails(RULES[name], build)
        passed += ended.startswith("passes")
        print(f"{name}: {RULES[name].test} {ended}", flush=True)
    subprocess.run(["cmake", "--build", str(build), "--target", "fathom_cuda"], check=True, stdout=subprocess.DEVNULL)
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main() if sys.argv[1:2] == ["--break"] else unittest.main())
