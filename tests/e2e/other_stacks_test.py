"""Stacks that other profilers sampled: what Fathom says of them is what a plain reader of the files says."""
import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

FATHOM = os.environ["FATHOM"]
DATA = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"]) / "tests/data/profiles"
FOLDED = DATA / "pyspy.folded"
SPEEDSCOPE = DATA / "pyspy.speedscope.json"
PERF = DATA / "perf_script.txt.gz"
PPROF = DATA / "pyspy.pb.gz"


def fathom(*words):
    return subprocess.run([FATHOM, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


def table(report, path, *options):
    done = fathom(report, path, "--json", "--limit", "0", *options)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    answer = json.loads(done.stdout)
    return answer["rows"], answer.get("notes", [])


def folded_stacks(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        stacks[stack] += int(weight)
    return stacks


def own_by_function(stacks):
    own = collections.Counter()
    for stack, weight in stacks.items():
        own[re.sub(r" \([^;]*\)$", "", stack.split(";")[-1])] += weight
    return own


def speedscope_stacks():
    document = json.loads(SPEEDSCOPE.read_text())
    frames = document["shared"]["frames"]
    stacks = collections.Counter()
    for profile in document["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            if stack:
                names = [f"{frames[i]['name']} ({frames[i]['file']}:{frames[i]['line']})" for i in stack]
                stacks[";".join(names)] += round(weight * 1e9)
    return stacks


def perf_stacks():
    stacks = collections.Counter()
    for block in gzip.open(PERF, "rt").read().split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        period = int(re.search(r"\d+\.\d+:\s+(\d+) cpu-clock", lines[0])[1])
        frames = []
        for line in reversed(lines[1:]):
            symbol, module = re.match(r"\s*[0-9a-f]+ (.*) \(([^()]*)\)$", line).groups()
            frames.append(re.sub(r"\+0x[0-9a-f]+$", "", symbol) + f" ({module})")
        stacks[";".join(frames)] += period
    return stacks


def proto_fields(data):
    """(field, value) of a message of Protocol Buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size


def pprof_stacks(data, value):
    texts = [part.decode() for field, part in proto_fields(data) if field == 6]
    functions, locations = {}, {}
    for field, part in proto_fields(data):
        if field == 5:
            function = dict(proto_fields(part))
            functions[function[1]] = (texts[function.get(2, 0)], texts[function.get(4, 0)])
        if field == 4:
            location = dict(proto_fields(part))
            line = dict(proto_fields(location[4]))
            locations[location[1]] = (line[1], line.get(2, -1))
    stacks = collections.Counter()
    for field, part in proto_fields(data):
        if field != 2:
            continue
        ids = [number for key, number in proto_fields(part) if key == 1]
        values = [number for key, number in proto_fields(part) if key == 2]
        names = []
        for function, line in (locations[each] for each in reversed(ids)):
            name, file = functions[function]
            names.append(f"{name} ({file}:{line})" if line > 0 else f"{name} ({file})" if file else name)
        stacks[";".join(names)] += values[value]
    return stacks


class Sums(unittest.TestCase):
    def test_folded_stacks_come_back_as_they_were(self):
        done = fathom("stacks", FOLDED, "--folded")
        self.assertEqual(folded_stacks(done.stdout), folded_stacks(FOLDED.read_text()))

    def test_functions_have_their_own_weights_and_no_times(self):
        rows, notes = table("hot", FOLDED)
        own = collections.Counter()
        for row in rows:
            own[row["function"]] += row["samples"]
            self.assertIsNone(row["self_ns"])
            self.assertIsNone(row["blocked_ns"])
        truth = own_by_function(folded_stacks(FOLDED.read_text()))
        self.assertEqual(+own, truth)
        shares = {row["function"]: row["self_percent"] for row in rows if row["samples"]}
        self.assertAlmostEqual(shares["a"], 100 * truth["a"] / sum(truth.values()), places=9)
        self.assertTrue(any("without a unit" in note for note in notes), notes)
        self.assertEqual(rows[0]["function"], "a")

    def test_a_speedscope_profile_has_times_and_threads(self):
        rows, _ = table("stacks", SPEEDSCOPE)
        self.assertEqual({row["stack"]: row["total_ns"] for row in rows}, dict(speedscope_stacks()))
        threads, notes = table("threads", SPEEDSCOPE)
        self.assertEqual(sum(row["on_cpu_ns"] for row in threads), sum(speedscope_stacks().values()))
        self.assertEqual({row["blocked_ns"] for row in threads}, {None})
        self.assertTrue(any("waited for" in note for note in notes), notes)

    def test_text_of_perf_has_the_periods_of_its_clock(self):
        rows, _ = table("stacks", PERF)
        self.assertEqual({row["stack"]: row["total_ns"] for row in rows}, dict(perf_stacks()))
        threads, _ = table("threads", PERF)
        self.assertEqual(len(threads), 2)

    def test_a_profile_of_pprof_is_that_of_its_stacks(self):
        rows, _ = table("stacks", PPROF)
        self.assertEqual({row["stack"]: row["total_ns"] for row in rows},
                         {stack: 10_000_000 * count for stack, count in folded_stacks(FOLDED.read_text()).items()})

    def test_what_is_written_for_others_reads_the_same(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        for source in (FOLDED, SPEEDSCOPE, PERF, PPROF):
            rows, _ = table("stacks", source)
            truth = {row["stack"]: (row["total_ns"], row["percent"]) for row in rows}
            for name in ("a.folded", "a.speedscope.json", "a.pb.gz"):
                done = fathom("export", source, "-o", folder / name)
                self.assertEqual(done.returncode, 0, done.stderr)
                again, _ = table("stacks", folder / name)
                timed = name != "a.folded"
                for row in again:
                    time, percent = truth[row["stack"]]
                    self.assertEqual(row["total_ns"], time if timed else None, (source, name))
                    self.assertAlmostEqual(row["percent"], percent, places=6)
                self.assertEqual(len(again), len(truth))

    def test_another_reader_finds_the_same_in_a_profile_for_pprof(self):
        path = pathlib.Path(tempfile.mkdtemp()) / "a.pb.gz"
        self.assertEqual(fathom("export", SPEEDSCOPE, "-o", path).returncode, 0)
        self.assertEqual(pprof_stacks(gzip.open(path).read(), 1), speedscope_stacks())


class Damage(unittest.TestCase):
    def test_lines_that_are_no_stacks_are_counted(self):
        path = pathlib.Path(tempfile.mkdtemp()) / "a.folded"
        path.write_text("main;work 3\n" + "x;y 1\n" * 1000 + "no weight\nmain;work 4\n")
        rows, _ = table("stacks", path)
        self.assertEqual({row["stack"]: row["calls"] for row in rows}, {"main;work": 7, "x;y": 1000})
        self.assertIn("malformed", fathom("health", path).stdout)

    def test_a_cut_file_says_so_or_keeps_what_it_has(self):
        for source in (FOLDED, SPEEDSCOPE, PERF, PPROF):
            data = gzip.open(source).read() if source.suffix == ".gz" else source.read_bytes()
            path = pathlib.Path(tempfile.mkdtemp()) / "cut"
            for size in range(40, len(data), max(1, len(data) // 12)):
                path.write_bytes(data[:size])
                done = fathom("hot", path, "--json")
                self.assertIn(done.returncode, (0, 3), (source, size, done.stderr))
                self.assertTrue(done.returncode == 0 or done.stderr.startswith("fathom: "), done.stderr)

    def test_no_verdict_is_made_of_it(self):
        done = fathom("diagnose", SPEEDSCOPE, "--json")
        self.assertEqual(json.loads(done.stdout)["verdict"]["id"], "cannot-tell")
        for samples in (SPEEDSCOPE, PERF):
            said = json.loads(fathom("diagnose", samples, "--json").stdout)["verdict"]["sentence"]
            self.assertIn("samples of stacks say where a program was found", said)
        self.assertIn("fathom hot", fathom("diagnose", SPEEDSCOPE).stdout)


if __name__ == "__main__":
    unittest.main()
