#!/usr/bin/env python3
"""Rules of CUPTI and of the driver, how our code would break each, and the test that then fails.

    tests/cuda/rules_test.py --break build/release [RULE...]

copies the sources into a folder of its own, and breaks one rule after the other there: it builds libfathom_cuda.so of the
broken copy and runs that rule's test of `build/release` with it, which must fail. Before, all these tests must pass with
the library of the copy as it is. That takes minutes and is done once a night (`make nightly`). As a test, this file
checks that every breakage still has its place in the sources and its test.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable

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
    "driver": Rule(
        "CUPTI of CUDA 13.2 is not called beside a driver that it does not fit",
        CUDA + "cupti.cc",
        "if (!fits_driver()) {",
        "if (!fits_driver() && library == nullptr) {",
        "CudaInjection.ThatOfCuda13_2IsNotCalledBesideADriverThatItDoesNotFit",
    ),
    "table": Rule(
        "the driver is asked for the table that CUPTI starts with",
        "src/base/cupti_start.h",
        "0xa4, 0x84, 0xbe",
        "0xa4, 0x84, 0xbf",
        "CudaInjection.ThatOfCuda13_2IsNotCalledBesideADriverThatItDoesNotFit",
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


class Copy:
    """The sources in a folder of their own, and a build of the recorder there. What is installed for builds is shared."""

    def __init__(self, folder: pathlib.Path, build: pathlib.Path) -> None:
        self.folder, self.tests = folder, build
        for path in ROOT.iterdir():
            if path.name == "src":
                shutil.copytree(path, folder / path.name)
            elif path.name not in ("build", ".git"):
                (folder / path.name).symlink_to(path)
        self.build = folder / "build" / build.name
        self.build.mkdir(parents=True)
        # But for files that name sources: those of the copy are written anew.
        for path in (ROOT / "build").iterdir():
            if path.name != "groups" and not (path / "CMakeCache.txt").exists():
                (folder / "build" / path.name).symlink_to(path)
        options = ["-DFATHOM_UNITY=ON", "-DFATHOM_UNIT_TESTS=OFF", f"-B{self.build}"]
        words = ["cmake", "--preset", build.name, *options]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    def recorder(self) -> pathlib.Path:
        """Built anew."""
        words = ["cmake", "--build", str(self.build), "--target", "fathom_cuda"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"rules_test: the copy does not build:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        return self.build / "libfathom_cuda.so"

    def run(self, tests: Iterable[str]) -> tuple[bool, str]:
        """Whether these tests pass with the recorder of the copy, and what the fake CUPTI said."""
        program = os.environ.get("FATHOM_CUDA_TEST") or str(self.tests / "tests/cuda_test")
        environment = {**os.environ, "FATHOM_TEST_CUDA_LIBRARY": str(self.recorder())}
        words = [program, f"--gtest_filter={':'.join(tests)}"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=600)
        text = done.stdout + done.stderr
        if not re.search(r"\[  (PASSED|FAILED)  \] [1-9]", text):
            raise SystemExit(f"rules_test: {' '.join(words)} ran no test:\n{text[-2000:]}")
        said = [line for line in text.splitlines() if line.startswith("fake CUPTI: ")]
        return done.returncode == 0, said[0].removeprefix("fake CUPTI: ") if said else ""

    def run_broken(self, rule: Rule) -> tuple[bool, str]:
        source = self.folder / rule.file
        kept = source.read_text()
        source.write_text(kept.replace(rule.right, rule.wrong))
        try:
            return self.run([rule.test])
        finally:
            source.write_text(kept)


def main() -> int:
    build, names = pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:] or list(RULES)
    if unknown := [name for name in names if name not in RULES]:
        raise SystemExit(f"rules_test: no rule {unknown[0]!r}; there are {', '.join(RULES)}")
    with tempfile.TemporaryDirectory(prefix="rules_") as folder:
        copy = Copy(pathlib.Path(folder), build)
        whole, said = copy.run(dict.fromkeys(RULES[name].test for name in names))
        print(f"with no rule broken: {len(names)} rules' tests {'pass' if whole else f'fail: {said}'}", flush=True)
        unnoticed = 0
        for name in names:
            passes, said = copy.run_broken(RULES[name])
            unnoticed += passes
            print(f"{name}: {RULES[name].test} {'passes' if passes else 'fails'}{said and ': ' + said}", flush=True)
    return 0 if whole and not unnoticed else 1


if __name__ == "__main__":
    sys.exit(main() if sys.argv[1:2] == ["--break"] else unittest.main())
