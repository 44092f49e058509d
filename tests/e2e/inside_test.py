"""fathom run with programs that say what they do: NVTX from C++ and Python, and the SDK. Their ranges are in the
session's tables, and the options of run hold for them.

Skips what was not built: NVTX without its headers, all of it with sanitizers; Python's NVTX needs the package `nvtx`.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
BUILD = pathlib.Path(FATHOM).parent
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "240"}
LIMIT = 120
NVTX = "ranges and marks of NVTX"
PROGRAM = """
import nvtx
@nvtx.annotate("decorated", color="blue")
def work(count):
    with nvtx.annotate("inner", domain="library", category="io", payload=count):
        pass
for count in (3, 5):
    work(count)
nvtx.mark("a mark")
"""


def python_with_nvtx() -> str | None:
    for python in (os.environ.get("FATHOM_NVTX_PYTHON", ""), sys.executable, str(ROOT / "build/nvtx/bin/python")):
        try:
            if python and not subprocess.run([python, "-c", "import nvtx"], capture_output=True, check=False).returncode:
                return python
        except OSError:
            pass
    return None


class Sandbox(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-inside-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.session = self.folder / "session"

    def fathom(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([FATHOM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT,
                              check=False, env={**ENVIRONMENT, **settings}, stdin=subprocess.DEVNULL)

    def record(self, *command: str, options: tuple[str, ...] = (), **settings: str) -> subprocess.CompletedProcess[str]:
        return self.fathom("run", "-q", "--no-diagnose", "--telemetry", "0", "-o", "session", *options, "--", *command,
                           **settings)

    def capture(self, *command: str, options: tuple[str, ...] = (), **settings: str) -> None:
        done = self.record(*command, options=options, **settings)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rows(self, report: str, *options: str) -> list[dict[str, object]]:
        done = self.fathom(report, "--json", *options, "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def ranges(self) -> dict[str, dict[str, object]]:
        return {str(row["name"]): row for row in self.rows("ranges")}

    def not_recorded(self) -> dict[str, str]:
        said = json.loads((self.session / "manifest.json").read_text())["not_recorded"]
        return {each["what"]: each["why"] for each in said}


class Nvtx(Sandbox):
    def setUp(self) -> None:
        super().setUp()
        self.program = str(BUILD / "nvtx_program")
        if not os.path.exists(self.program):
            self.skipTest("built without the headers of NVTX")

    def record(self, *command: str, options: tuple[str, ...] = (), **settings: str) -> subprocess.CompletedProcess[str]:
        """The program says by its exit status that nobody listened."""
        done = super().record(*command, options=options, **settings)
        if done.returncode != 0:
            self.needs_injection()
        return done

    def needs_injection(self) -> None:
        if NVTX in self.not_recorded():
            self.skipTest(self.not_recorded()[NVTX])

    def test_ranges_of_a_program_are_in_the_tables_with_what_it_said_of_them(self) -> None:
        self.capture(self.program, "attributed")
        self.needs_injection()
        ranges = self.ranges()
        registered = ranges["registered"]
        self.assertEqual((registered["domain"], registered["category"]), ("library", "kernels"))
        self.assertEqual((registered["payload_mean"], registered["color"]), (-5.0, "#ff00ff80"))
        self.assertEqual((ranges["read"]["domain"], ranges["read"]["category"]), (None, "io"))
        self.assertEqual(ranges["read"]["payload_mean"], 0.25)
        self.assertEqual((ranges["started there"]["kind"], ranges["started there"]["category"]), ("range", "9"))
        self.assertIn("registered", {row["name"] for row in self.rows("ops")})

    def test_only_this_user_may_touch_what_the_program_loads(self) -> None:
        self.capture(self.program, "ranges")
        self.needs_injection()
        self.assertEqual((self.session / "lib").stat().st_mode & 0o777, 0o700)

    def test_another_tool_keeps_its_injection_and_that_is_said(self) -> None:
        show = 'echo "$NVTX_INJECTION64_PATH" > path'
        self.capture("sh", "-c", show, NVTX_INJECTION64_PATH="/opt/tool/other.so")
        self.assertEqual((self.folder / "path").read_text(), "/opt/tool/other.so\n")
        self.assertIn("/opt/tool/other.so", self.not_recorded()[NVTX])

    def test_a_run_in_a_run_takes_over(self) -> None:
        inner = (FATHOM, "run", "-q", "--no-diagnose", "--telemetry", "0", "-o", "inner", "--", self.program, "ranges")
        self.capture(*inner)
        self.needs_injection()
        self.assertEqual(len(list((self.folder / "inner").glob("nvtx-*.fathom"))), 1)
        self.assertEqual(list(self.session.glob("nvtx-*.fathom")), [])

    def test_the_binary_alone_is_enough(self) -> None:
        alone = self.folder / "alone"
        shutil.copy(FATHOM, alone)
        done = subprocess.run([str(alone), "run", "-q", "--no-diagnose", "-o", "session", "--", self.program, "ranges"],
                              cwd=self.folder, capture_output=True, timeout=LIMIT, check=False, env=ENVIRONMENT)
        self.needs_injection()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ranges()["outer"]["calls"], 1)

    def test_python_s_ranges_are_in_the_tables(self) -> None:
        python = python_with_nvtx()
        if python is None:
            self.skipTest("needs a Python with the package nvtx")
        self.capture(python, "-c", PROGRAM)
        self.needs_injection()
        ranges = self.ranges()
        self.assertEqual((ranges["decorated"]["calls"], ranges["decorated"]["kind"]), (2, "annotation"))
        inner = ranges["inner"]
        self.assertEqual((inner["calls"], inner["domain"], inner["category"]), (2, "library", "io"))
        self.assertEqual((inner["payload_min"], inner["payload_max"]), (3.0, 5.0))
        self.assertEqual(ranges["a mark"]["kind"], "mark")
        self.assertLessEqual(inner["total_ns"], ranges["decorated"]["total_ns"])


class Sdk(Sandbox):
    def setUp(self) -> None:
        super().setUp()
        self.program = str(BUILD / "sdk_program")
        if not os.path.exists(self.program):
            self.skipTest("built without tests")

    def steps(self) -> list[object]:
        return [row["step"] for row in self.rows("steps")]

    def test_a_program_records_into_the_session_as_it_is(self) -> None:
        self.capture(self.program, "steps", "5")
        self.assertEqual(len(list(self.session.glob("process-*.fathom"))), 1)
        self.assertEqual(self.steps(), [0, 1, 2, 3, 4])
        self.assertEqual(self.ranges()["work 4"]["calls"], 1)

    def test_steps_are_those_that_were_asked_for(self) -> None:
        self.capture(self.program, "steps", "9", options=("--steps", "wait=2,warmup=1,active=2,repeat=1"))
        self.assertEqual(self.steps(), [3, 4])
        self.assertEqual(set(self.ranges()), {"work 3", "work 4"})

    def test_a_range_leaves_out_what_is_outside_of_it(self) -> None:
        self.capture(self.program, "ranges", options=("--range", "wanted"))
        self.assertNotIn("outside", self.ranges())
        self.assertEqual(self.ranges()["elsewhere"]["calls"], 4)

    def test_recording_waits_for_the_delay(self) -> None:
        self.capture(self.program, "delayed", options=("--delay", "300ms"))
        self.assertEqual(self.ranges()["in time"]["calls"], 1)

    def test_recording_ends_with_the_duration(self) -> None:
        self.capture(self.program, "outlasts", options=("--duration", "300ms"))
        self.assertNotIn("late", self.ranges())

    def test_a_program_may_begin_the_recording_itself(self) -> None:
        self.capture(self.program, "nothing", options=("--profile-from-start", "off"))
        self.assertEqual(list(self.session.glob("process-*.fathom")), [])

    def test_a_size_is_kept_and_what_is_beyond_is_counted(self) -> None:
        self.capture(self.program, "threads", options=("--max-size", "100KiB", "--max-memory", "4MiB"))
        (file,) = self.session.glob("process-*.fathom")
        self.assertLess(file.stat().st_size, 200 << 10)
        repairs = self.fathom("digest", "--repairs", str(file)).stdout
        self.assertIn("dropped_records", repairs)

    def test_the_newest_stretch_alone_is_a_recording(self) -> None:
        self.capture(self.program, "steps", "3", options=("--last", "30s"))
        self.assertEqual(self.steps(), [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
