"""Each file of the inputs is opened once, whatever is made of them: reading it is what takes long."""
import collections
import ctypes
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

import page_file_test
import viewer

RUN = viewer.ROOT / "tests/data/runs/two_ranks"
RANK_PID = 5772
RANKS = 6
TRACE = "hta_alexnet.json.gz"
LARGER = "tl_h100_bert_small.json.gz"
IN_CLOSE, IN_OPEN, IN_OVERFLOW = 0x18, 0x20, 0x4000
LIBC = ctypes.CDLL(None, use_errno=True)


class Opens:
    """Counts the opens of each file of some folders, as the kernel sees them."""

    def __init__(self, *folders):
        self.queue = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # Closing is watched, too, because equal events that follow each other become one.
        self.folders = {LIBC.inotify_add_watch(self.queue, str(folder).encode(), IN_OPEN | IN_CLOSE): folder for folder in folders}

    def end(self):
        os.close(self.queue)

    def take(self):
        """By file, since the last time."""
        counts = collections.Counter()
        while True:
            try:
                events = os.read(self.queue, 1 << 16)
            except BlockingIOError:
                return counts
            while events:
                watch, mask, _, length = struct.unpack_from("iIII", events)
                if mask & IN_OVERFLOW:
                    raise AssertionError("too many events")
                if mask & IN_OPEN and length:
                    name = events[16:16 + length].rstrip(b"\0").decode()
                    counts[f"{pathlib.Path(self.folders[watch]).name}/{name}"] += 1
                events = events[16 + length:]


def write_session(folder, late=1):
    """A session folder of ranks with five files each; all of them are one recorded rank, but for the late one."""
    manifest = json.loads((RUN / "manifest.json").read_text())
    main, recorded = manifest["processes"][0], next(each for each in manifest["processes"] if each["pid"] == RANK_PID)
    process = json.loads((RUN / f"process-{RANK_PID}.json").read_text())
    traces = [gzip.decompress((RUN / f"torch-{pid}-1.pt.trace.json.gz").read_bytes()).decode() for pid in (RANK_PID, RANK_PID + 1)]
    manifest["processes"] = [main]
    for rank in range(RANKS):
        pid = 10_000 + rank
        manifest["processes"].append(recorded | {"pid": pid, "rank": rank})
        (folder / f"process-{pid}.json").write_text(json.dumps(process | {"pid": pid, "rank": rank}))
        for part in ("process", "nvtx", "cuda"):
            shutil.copy(RUN / f"process-{RANK_PID}.fathom", folder / f"{part}-{pid}.fathom")
        own = rank == late
        trace = traces[own].replace(str(RANK_PID + own), str(pid))
        for spaces in ("", " "):
            trace = trace.replace(f'"rank":{spaces}{int(own)}', f'"rank":{spaces}{rank}')
            trace = trace.replace(f'"world_size":{spaces}2', f'"world_size":{spaces}{RANKS}')
        with gzip.open(folder / f"torch-{pid}-1.pt.trace.json.gz", "wt", compresslevel=1) as file:
            file.write(trace)
    shutil.copy(RUN / "monitor.fathom", folder)
    (folder / "manifest.json").write_text(json.dumps(manifest))


class OpensTest(unittest.TestCase):

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def count(self, *folders):
        opens = Opens(*folders)
        self.addCleanup(opens.end)
        some = next(pathlib.Path(folders[0]).iterdir())
        some.read_bytes()
        if not opens.take():
            self.skipTest("this file system does not report what is opened")
        return opens

    def check_once(self, opens, folders, *arguments, answers=(0,)):
        done = subprocess.run([viewer.FATHOM, *map(str, arguments)], capture_output=True, check=False, cwd=viewer.ROOT,
                              env={**viewer.ENVIRONMENT, "FATHOM_CACHE": "off"}, stdin=subprocess.DEVNULL, text=True)
        self.assertIn(done.returncode, answers, done.stderr)
        counts = opens.take()
        expected = {f"{folder.name}/{file.name}": 1 for folder in folders for file in folder.iterdir()}
        self.assertEqual({name: count for name, count in counts.items() if count != 1}, {}, arguments)
        self.assertEqual(set(counts), set(expected), arguments)

    def check_pages(self, folder, *scopes):
        opens = self.count(folder)
        page = self.folder() / "page.html"
        for command in ("view", "diagnose"):
            for options in ([], ["--redact"], *scopes):
                if command == "view" and "--rank" in options:
                    continue
                with self.subTest(command=command, options=options):
                    self.check_once(opens, [folder], command, "--html", page, *options, folder)

    def test_a_page_of_a_session_of_ranks(self):
        for late in (0, RANKS - 1):
            folder = self.folder()
            write_session(folder, late)
            shown = json.loads(viewer.fathom("diagnose", "--json", folder))["ranks"]
            self.assertEqual(len(shown["recordings"]), RANKS)
            self.check_pages(folder, ["--steps", "2-3"], ["--rank", "2"])

    def test_a_page_of_a_folder_of_ranks_and_of_what_cannot_be_read(self):
        folder, session = self.folder(), self.folder()
        write_session(session)
        for rank, file in enumerate(sorted(session.glob("torch-*"))):
            shutil.copy(file, folder / f"rank{rank}.json.gz")
        (folder / "rank9.json").write_text("nothing")
        self.assertEqual(len(json.loads(viewer.fathom("diagnose", "--json", "--quiet", folder))["ranks"]["recordings"]), RANKS)
        self.check_pages(folder)

    def test_the_page_has_the_answers_of_the_server(self):
        folder = self.folder()
        write_session(folder, 3)
        server = viewer.Viewer(folder)
        self.addCleanup(server.end)
        server.session()
        for options in ([], ["--steps", "2-3"]):
            page = page_file_test.PageFile(self, *options, folder)
            questions = [question for question in page.places if question.startswith("api/diagnosis")]
            self.assertEqual(len(questions), 1 + RANKS)
            for question in questions:
                self.assertEqual(page.raw(question), server.get(question)[2], question)

    def test_the_ranks_of_a_page_are_as_the_page_asks_whatever_the_diagnosis_was_made_with(self):
        folder = self.folder()
        write_session(folder, 0)
        page = page_file_test.PageFile(self, folder)
        other = page_file_test.PageFile(self, "--exclude-warmup", "--price", "0.3", folder, command="diagnose")
        self.assertTrue([sentence for sentence in other.left_out if "--exclude-warmup, --price" in sentence])
        for rank in range(RANKS):
            self.assertEqual(other.raw(f"api/diagnosis?input={rank}"), page.raw(f"api/diagnosis?input={rank}"), rank)

    def test_a_page_of_two_inputs(self):
        folder = self.folder()
        for name in (TRACE, LARGER):
            shutil.copy(viewer.TRACES / name, folder)
        opens = self.count(folder)
        for options in ([], ["--redact"]):
            self.check_once(opens, [folder], "view", "--html", self.folder() / "page.html", *options, folder / TRACE, folder / LARGER)

    def test_what_compares_two_files(self):
        folder, saved = self.folder(), self.folder() / "baseline.json"
        for name in (TRACE, LARGER):
            shutil.copy(viewer.TRACES / name, folder)
        base, now = folder / LARGER, folder / TRACE
        finding = json.loads(viewer.fathom("diagnose", "--json", base))["findings"][0]["id"]
        budget = ["--within-runs", "--budget", "step_time+3%"]
        opens = self.count(folder)
        any_answer = (0, 1, 4)
        self.check_once(opens, [folder], "compare", base, now)
        self.check_once(opens, [folder], "check", *budget, "--against", base, now, answers=any_answer)
        self.check_once(opens, [folder], "verify", "--within-runs", finding, base, now, answers=any_answer)
        self.check_once(opens, [folder], "baseline", "save", saved, base, now)
        viewer.fathom("baseline", "save", folder / "baseline.json", base)
        now.unlink()
        opens.take()
        self.check_once(opens, [folder], "compare", folder / "baseline.json", base)
        self.check_once(opens, [folder], "check", *budget, "--against", folder / "baseline.json", base, answers=any_answer)

    def test_what_compares_folders_of_recordings(self):
        one, other = self.folder(), self.folder()
        for folder in (one, other):
            for number in range(3):
                shutil.copy(viewer.TRACES / LARGER, folder / f"run{number}.json.gz")
            (folder / "notes.txt").write_text("nothing")
        finding = json.loads(viewer.fathom("diagnose", "--json", one / "run0.json.gz"))["findings"][0]["id"]
        opens = self.count(one, other)
        self.check_once(opens, [one, other], "compare", one, other)
        self.check_once(opens, [one, other], "verify", "--within-runs", finding, one, other, answers=(0, 1, 4))
        for path in one.glob("run[12]*"):
            path.unlink()
        opens.take()
        self.check_once(opens, [one, other], "verify", "--within-runs", finding, one, other, answers=(0, 1, 4))

    def test_what_compares_sessions_of_ranks(self):
        one, other = self.folder(), self.folder()
        write_session(one)
        write_session(other, 2)
        finding = json.loads(viewer.fathom("diagnose", "--json", one))["findings"][0]["id"]
        opens = self.count(one, other)
        self.check_once(opens, [one, other], "compare", one, other)
        self.check_once(opens, [one, other], "verify", "--within-runs", finding, one, other, answers=(0, 1, 4))
        self.check_once(opens, [one, other], "view", "--html", self.folder() / "page.html", one, other)


if __name__ == "__main__":
    unittest.main()
