"""A trace that was opened before: every table is the same from what was kept of it."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import tempfile
import time
import unittest

import program

TRACES = ["examples/resnet50_v100.pt.trace.json.gz", "tests/data/traces/hta_alexnet.json.gz"]


def reports() -> list[str]:
    """The commands that print a table, by the reference."""
    text = program.fathom("reference").stdout.decode()
    return re.findall(r"^## (\S+)$", text, re.MULTILINE)


class SecondLook(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = self.folder / "cache"
        self.kept = {"FATHOM_CACHE": str(self.cache), "FATHOM_CACHE_FROM": "0"}

    def copy(self, trace: str) -> str:
        """Old enough that a further change would show in its times."""
        file = self.folder / pathlib.Path(trace).name
        shutil.copyfile(program.ROOT / trace, file)
        while time.time_ns() - os.stat(file).st_ctime_ns < 30_000_000:
            pass
        return str(file)

    def test_every_table_and_the_diagnosis_are_byte_for_byte_the_same(self):
        for trace in TRACES:
            file = self.copy(trace)
            first = program.fathom("info", file, **self.kept)
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertEqual(len(list(self.cache.glob("*.trace"))), TRACES.index(trace) + 1)
            for command in [*reports(), "diagnose"]:
                with self.subTest(trace=trace, command=command):
                    anew = program.fathom(command, file, "--json", "--no-cache", **self.kept)
                    kept = program.fathom(command, file, "--json", **self.kept)
                    self.assertEqual((kept.returncode, kept.stdout, kept.stderr),
                                     (anew.returncode, anew.stdout, anew.stderr))

    def diagnose(self, file: str, *options: str, **environment: str) -> bytes:
        done = program.fathom("diagnose", file, *options, **{**self.kept, **environment})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def answers(self) -> set[pathlib.Path]:
        return set(self.cache.glob("*.answer"))

    def test_a_diagnosis_is_kept_by_all_that_it_depends_on(self):
        file = self.copy(TRACES[1])
        commands = [["--json"], [], ["--all"], ["--color", "always"], ["--wide"], ["--steps", "0"],
                    ["--device", "0"], ["--focus", "aten::copy_"], ["--exclude-warmup"],
                    ["--window", "10ms:"], ["--window", "10ms:", "--json"], ["--price", "0.3"],
                    ["--carbon", "300"]]
        anew = [self.diagnose(file, "--no-cache", *options) for options in commands]
        self.assertEqual(self.answers(), set())
        for round in range(2):
            kept = [self.diagnose(file, *options) for options in commands]
            self.assertEqual(kept, anew)
        wide = self.diagnose(file, COLUMNS="140")
        self.assertEqual(wide, self.diagnose(file, "--no-cache", COLUMNS="140"))
        self.assertEqual(wide, self.diagnose(file, COLUMNS="140"))
        # Another name of the same file stands in what is printed.
        other = str(pathlib.Path(file).parent / "." / ".." / self.folder.name / pathlib.Path(file).name)
        self.assertIn(other.encode(), self.diagnose(other, "--json"))

    def test_the_second_diagnosis_is_what_was_kept(self):
        file = self.copy(TRACES[1])
        first = self.diagnose(file, "--json")
        (answer,) = self.answers()
        self.assertIn(first, answer.read_bytes())
        os.utime(answer, (1, 1))
        used = answer.stat()
        self.assertEqual(self.diagnose(file, "--json"), first)
        again = answer.stat()
        self.assertEqual(again.st_ino, used.st_ino, "nothing was computed and kept anew")
        self.assertGreater(again.st_mtime, 1, "it was used")
        # Without the trace the answer is there all the same.
        for trace in self.cache.glob("*.trace"):
            trace.unlink()
        self.assertEqual(self.diagnose(file, "--json"), first)
        self.assertEqual(list(self.cache.glob("*.trace")), [])

    def test_a_damaged_or_foreign_diagnosis_is_made_anew(self):
        file = self.copy(TRACES[1])
        first = self.diagnose(file, "--json")
        (answer,) = self.answers()
        whole = answer.read_bytes()
        chosen = random.Random(5)
        for round in range(12):
            bytes = bytearray(whole)
            if round % 3 == 0:
                del bytes[chosen.randrange(len(bytes)) :]
            else:
                bytes[chosen.randrange(len(bytes))] ^= 1 << chosen.randrange(8)
            answer.write_bytes(bytes)
            self.assertEqual(self.diagnose(file, "--json"), first)
            self.assertEqual(answer.read_bytes(), whole, "kept anew")
        # What was kept of other options is not believed under this name.
        self.diagnose(file, "--json", "--window", "10ms:")
        (other,) = self.answers() - {answer}
        answer.write_bytes(other.read_bytes())
        self.assertEqual(self.diagnose(file, "--json"), first)

    def test_a_diagnosis_of_several_inputs_or_of_a_changed_file_is_not_taken_from_the_cache(self):
        file = self.copy(TRACES[1])
        first = self.diagnose(file, "--json")
        both = self.diagnose(file, file, "--json")
        self.assertEqual(both, self.diagnose(file, file, "--json", "--no-cache"))
        self.assertNotEqual(both, first)
        shutil.copyfile(program.ROOT / TRACES[0], file)
        while time.time_ns() - os.stat(file).st_ctime_ns < 30_000_000:
            pass
        changed = self.diagnose(file, "--json")
        self.assertEqual(changed, self.diagnose(file, "--json", "--no-cache"))
        self.assertNotEqual(changed, first)

    def test_what_is_kept_of_diagnoses_is_within_the_bound(self):
        file = self.copy(TRACES[1])
        self.diagnose(file, "--json", FATHOM_CACHE_SIZE="1000")
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_many_at_once_say_the_same(self):
        file = self.copy(TRACES[1])
        alone = program.fathom("kernels", file, "--no-cache", **self.kept)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            several = [pool.submit(program.fathom, "kernels", file, **self.kept) for _ in range(18)]
        for one in several:
            done = one.result()
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, alone.stdout, b""))
        self.assertEqual([path.suffix for path in self.cache.iterdir()], [".trace"])

    def test_damage_of_any_kind_changes_no_answer(self):
        file = self.copy(TRACES[1])
        alone = program.fathom("kernels", file, "--no-cache", **self.kept)
        self.assertEqual(program.fathom("info", file, **self.kept).returncode, 0)
        (kept,) = self.cache.iterdir()
        whole = kept.read_bytes()
        chosen = random.Random(3)
        for round in range(30):
            bytes = bytearray(whole)
            if round % 3 == 0:
                del bytes[chosen.randrange(len(bytes)) :]
            else:
                for _ in range(chosen.randrange(1, 4)):
                    bytes[chosen.randrange(len(bytes))] ^= 1 << chosen.randrange(8)
            kept.write_bytes(bytes)
            done = program.fathom("kernels", file, **self.kept)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, alone.stdout, b""))
            self.assertNotEqual(kept.read_bytes(), bytes, "kept anew")

    def test_nothing_is_kept_of_small_files_of_pipes_and_where_it_is_not_wanted(self):
        file = self.copy(TRACES[0])
        content = pathlib.Path(file).read_bytes()
        self.assertEqual(program.fathom("info", file, FATHOM_CACHE=str(self.cache)).returncode, 0)
        self.assertEqual(program.fathom("info", file, "--no-cache", **self.kept).returncode, 0)
        self.assertEqual(program.fathom("info", "-", stdin=content, **self.kept).returncode, 0)
        self.assertEqual(program.fathom("info", file, **{**self.kept, "FATHOM_CACHE": "off"}).returncode, 0)
        self.assertFalse(self.cache.exists())

    def test_a_cache_that_cannot_be_written_is_no_error(self):
        file = self.copy(TRACES[0])
        for place in ("/proc/nowhere", str(pathlib.Path(file))):
            done = program.fathom("info", file, **{**self.kept, "FATHOM_CACHE": place})
            self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
