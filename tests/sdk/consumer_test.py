#!/usr/bin/env python3
"""The SDK as other projects meet it: installed, as a part of their build, and by their compilers."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow")
STANDARDS = ("c++17", "c++20", "c++2b")
WITHOUT = ((), ("-fno-exceptions", "-fno-rtti"))
# Several files at a time: that each compiles alone is what tools/check_alone asks.
UNITY = "-DFATHOM_UNITY=ON"

# All that is inline or a template is used at least once.
EVERYTHING = """
#include <fathom/fathom.h>
void everything() {
  fathom::annotate scope("literal");
  const fathom::annotate named{std::string_view("named")};
  fathom::instant("literal");
  fathom::instant(std::string_view("named"));
  static const fathom::counter queue("queue", "batches");
  queue.set(1);
  fathom::profile profile(fathom::schedule{1, 1, 1, 0, 0});
  profile.step();
  fathom::step();
  fathom::frame("frame");
}
"""

BENCHMARK = """
#include <fathom/benchmark.h>
int doubled(int value) { return 2 * value; }
int tripled() { return 3 * 7; }
void benchmark() {
  fathom::BenchOptions options;
  options.runs = 8;
  const auto alone = fathom::bench([] { return doubled(3); }, options);
  const auto two = fathom::bench_against([] {}, [] { return doubled(3); }, options);
  (void)fathom::bench(tripled, options);
  (void)fathom::bench_against(&tripled, tripled, options);
  fathom::keep(alone.side().median + two.base().median + two.ratio());
}
"""

# A function is measured by its name, and a time beyond all bounds is no short one.
FUNCTION = """
#include <fathom/benchmark.h>
int tripled() { return 3 * 7; }
int main() {
  fathom::BenchOptions options;
  options.runs = 3;
  options.seconds = 1e300;
  return fathom::bench(tripled, options).pairs() == 3 ? 0 : 1;
}
"""

INSTALLED = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(fathom 0.1 REQUIRED)
add_executable(train train.cc)
target_link_libraries(train PRIVATE fathom::sdk)
add_executable(bench bench.cc)
target_link_libraries(bench PRIVATE fathom::benchmark)
"""

INSIDE = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(fathom SOURCE_DIR "{root}")
FetchContent_MakeAvailable(fathom)
add_executable(train train.cc)
target_link_libraries(train PRIVATE fathom::sdk)
add_executable(bench bench.cc)
target_link_libraries(bench PRIVATE fathom::benchmark)
if(TARGET simdjson OR TARGET fathom)
  message(FATAL_ERROR "more than the SDK would be built")
endif()
"""


def run(*words: object) -> str:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def records(test: unittest.TestCase, program: Path, session: Path) -> None:
    session.mkdir()
    done = subprocess.run([program], env={"FATHOM_SESSION": str(session)}, check=False)
    test.assertEqual(done.returncode, 0)
    files = list(session.glob("process-*.fathom"))
    test.assertEqual(len(files), 1)
    test.assertIn(b"forward", files[0].read_bytes())


def measures(test: unittest.TestCase, program: Path, result: Path) -> None:
    printed = run(program, result)
    test.assertIn("four at a time", printed)
    found = json.loads(result.read_text())
    test.assertEqual(found["schema"], "fathom.bench/1")
    test.assertEqual((found["base"], found["new"]), (["one after the other"], ["four at a time"]))
    headline = found["metrics"][0]
    test.assertIn(headline["verdict"], ("faster", "slower", "same", "cannot_tell"))
    test.assertEqual(headline["new"]["count"], found["pairs"])
    test.assertEqual(len(found["runs"]), 2 * found["pairs"])
    test.assertGreaterEqual(found["function"]["calls"]["new"], 1)


class Headers(unittest.TestCase):
    def test_compile_without_a_warning_by_each_standard_and_without_exceptions(self) -> None:
        compilers = [found for name in ("g++", "clang++") if (found := shutil.which(name))]
        if not compilers:
            self.skipTest("neither g++ nor clang++ is there")
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "everything.cc")
            source.write_text(EVERYTHING + BENCHMARK)
            for compiler, standard, without in itertools.product(compilers, STANDARDS, WITHOUT):
                with self.subTest(compiler=compiler, standard=standard, without=without):
                    run(
                        *(compiler, f"-std={standard}", *WARNINGS, "-Werror", *without),
                        *("-fsyntax-only", f"-I{ROOT}/include", source),
                    )


@unittest.skipIf(shutil.which("cmake") is None, "cmake is not there")
class Consumers(unittest.TestCase):
    def consumer(self, folder: Path, lists: str, *options: str) -> Path:
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(lists)
        for name in ("train.cc", "bench.cc"):
            shutil.copy(ROOT / "examples/sdk" / name, folder)
        run("cmake", "-S", folder, "-B", folder / "build", *options)
        run("cmake", "--build", folder / "build", "-j2", "--target", "train", "bench")
        return folder / "build"

    def test_find_it_in_the_prefix_that_it_was_installed_into(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            build, prefix = Path(folder, "build"), Path(folder, "prefix")
            run("cmake", "-S", ROOT, "-B", build, "-DFATHOM_SDK_ONLY=ON", UNITY)
            run("cmake", "--build", build, "-j2")
            run("cmake", "--install", build, "--prefix", prefix)
            found = f"-DCMAKE_PREFIX_PATH={prefix}"
            programs = self.consumer(Path(folder, "consumer"), INSTALLED, found)
            records(self, programs / "train", Path(folder, "session"))
            measures(self, programs / "bench", Path(folder, "result.json"))
            Path(folder, "function.cc").write_text(FUNCTION)
            (library,) = prefix.rglob("libfathom_benchmark.a")
            compiler = os.environ.get("CXX", "c++")
            run(compiler, "-std=c++17", f"-I{prefix}/include", f"{folder}/function.cc", library, "-o", f"{folder}/function")
            run(f"{folder}/function")

    def test_build_it_as_a_part_of_theirs_and_nothing_else(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            programs = self.consumer(Path(folder, "consumer"), INSIDE.format(root=ROOT), UNITY)
            records(self, programs / "train", Path(folder, "session"))
            measures(self, programs / "bench", Path(folder, "result.json"))


if __name__ == "__main__":
    unittest.main()
