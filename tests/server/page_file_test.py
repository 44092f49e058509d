"""A page in a file says what the command line says, loads nothing, keeps its size, and can be written without names."""
import base64
import gzip
import hashlib
import json
import pathlib
import re
import resource
import struct
import subprocess
import tempfile
import unittest
import urllib.parse

import viewer

TRACE = "tests/data/traces/hta_alexnet.json.gz"
LARGER = "tests/data/traces/tl_h100_bert_small.json.gz"
# Long enough to be read by several threads, which meet its names in an order of their own.
BY_THREADS = "tests/data/traces/luatil_rtx3060_compile_triton.json.gz"
SECRETS = ("zanzibar", "quokka", "/home/wombat", "numbat-7", "hunter2", "bandicoot")


def secretive():
    """A recording with a secret wherever one may stand."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python zanzibar.py --password hunter2"}},
              {"ph": "M", "name": "process_labels", "pid": 1, "args": {"labels": "numbat-7"}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "quokka thread"}}]
    for step in range(4):
        begin = step * 1000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin, "dur": 990})
        events.append({"ph": "X", "cat": "user_annotation", "name": "step device memory", "pid": 1, "tid": 1, "ts": begin + 1, "dur": 980})
        events.append({"ph": "X", "cat": "python_function", "name": "/home/wombat/zanzibar.py(12): quokka", "pid": 1, "tid": 1,
                       "ts": begin + 2, "dur": 970, "args": {"Python id": step + 1, "Python parent id": None}})
        events.append({"ph": "X", "cat": "cpu_op", "name": "quokka::zanzibar_forward", "pid": 1, "tid": 1, "ts": begin + 10, "dur": 300,
                       "args": {"External id": step, "Input Dims": [[3, 4]], "Call stack": "/home/wombat/zanzibar.py(9): main",
                                "Module Hierarchy": "Bandicoot", "note": "bandicoot"}})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": begin + 20, "dur": 5,
                       "args": {"correlation": step, "External id": step}})
        events.append({"ph": "X", "cat": "kernel", "name": "void quokka::native::zanzibar_kernel<bandicoot, 4>(float*)", "pid": 0,
                       "tid": 7, "ts": begin + 40, "dur": 400,
                       "args": {"correlation": step, "External id": step, "device": 0, "stream": 7}})
    return {"traceEvents": events, "hostname": "numbat-7", "trace_name": "/home/wombat/zanzibar.json",
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1, "master_addr": "10.11.12.13"},
            "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}]}


def texts_of(trace):
    """Names of events, and texts among their arguments."""
    events = json.loads(gzip.decompress((viewer.ROOT / trace).read_bytes()))["traceEvents"]
    texts = {event.get("name") for event in events}
    for event in events:
        texts |= {value for value in event.get("args", {}).values() if isinstance(value, str)}
    return {text for text in texts if isinstance(text, str)}


def taken_apart(html):
    """The page without its answers, their bytes, and where each is."""
    carried = re.search(r'<script type="application/octet-stream" id="fathom-answers">([A-Za-z0-9+/=]*)</script>', html)
    data = gzip.decompress(base64.b64decode(carried[1]))
    place, = struct.unpack("<Q", data[-8:])
    return html.replace(carried[1], ""), data, json.loads(data[place:-8])


class PageFile:
    """A written file, taken apart."""

    def __init__(self, case, *arguments, command="view"):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "page.html"
        self.said = viewer.fathom(command, "--html", self.path, *arguments)
        self.bytes = self.path.read_bytes()
        self.html = self.bytes.decode()
        self.frame, self.data, index = taken_apart(self.html)
        self.places, self.left_out = index["answers"], index["left_out"]

    def raw(self, question):
        at, size, *status = self.places[question]
        return self.data[at:at + size] if not status else None

    def ask(self, question):
        return json.loads(self.raw(question))


class Export(unittest.TestCase):

    def test_numbers_are_those_of_the_command_line(self):
        page = PageFile(self, TRACE)
        self.assertEqual(page.raw("api/diagnosis"), viewer.fathom("diagnose", "--json", TRACE))
        reports = page.ask("api/reports")["reports"]
        self.assertGreater(len(reports), 20)
        for report in reports:
            with self.subTest(report=report["id"]):
                expected = viewer.fathom(report["id"], "--limit", "5000", "--json", TRACE)
                self.assertEqual(page.raw(f"api/reports/{report['id']}?limit=5000"), expected)
        grouped = viewer.fathom("kernels", "--group-by", "op", "--limit", "5000", "--json", TRACE)
        self.assertEqual(page.raw("api/reports/kernels?group-by=op&limit=5000"), grouped)
        name = page.ask("api/diagnosis")["baseline"]["operators"][0]["name"]
        slider = page.ask(f"api/whatif?scale={name.replace(':', '%3A')}%3D0.5")
        expected = json.loads(viewer.fathom("whatif", "--scale", f"{name}=0.5", "--json", TRACE))
        self.assertEqual(slider["best"], expected["best"])

    def test_tiles_and_lanes_are_those_of_the_server(self):
        page = PageFile(self, TRACE)
        server = viewer.Viewer(TRACE)
        self.addCleanup(server.end)
        digest = server.session()["digest"]
        tracks = [track["id"] for group in page.ask("api/tracks")["groups"] for track in group["tracks"]
                  if track["kind"] not in ("accounting", "counter")]
        finest = {}
        tiles = [question for question in page.places if question.startswith("api/tiles/")]
        self.assertGreater(len(tiles), 8)
        for question in tiles:
            told = viewer.parse_tile(page.raw(question))
            served = {}
            for begin in range(0, len(tracks), 64):
                _, _, body = server.get(question + "&tracks=" + ",".join(map(str, tracks[begin:begin + 64])))
                served |= viewer.parse_tile(body)
            self.assertEqual(told, {track: block for track, block in served.items() if block["boxes"]}, question)
            level = int(re.search(r"level=(\d+)", question)[1])
            finest[level] = finest.get(level, 0) + len(told)
        self.assertIn(f"api/tiles/{digest}?level={max(finest)}&tile=0", page.places)
        names = {name for question in tiles for block in viewer.parse_tile(page.raw(question)).values()
                 for name in (box["name"] for box in block["boxes"])}
        for name in names:
            self.assertIn(f"api/names?count=1024&first={name // 1024 * 1024}", page.places)

    def test_every_slice_of_a_small_recording_is_told_apart(self):
        page = PageFile(self, TRACE)
        single = set()
        for question in page.places:
            if question.startswith("api/tiles/"):
                for block in viewer.parse_tile(page.raw(question)).values():
                    single |= {box["slice"] for box in block["boxes"] if box["slice"] != 0xffffffff}
        self.assertEqual(len(single), page.ask("api/session")["slices"])
        self.assertFalse([sentence for sentence in page.left_out if "sums up shorter ones" in sentence])

    def test_nothing_is_loaded_and_only_its_own_script_runs(self):
        page = PageFile(self, TRACE)
        self.assertEqual(set(re.findall(r'<(\w+)[^>]*\s(?:src|href)=', page.frame.split("<style>")[0])), {"link"})
        self.assertEqual(re.findall(r'href="([^",]*)', page.frame.split("<style>")[0]), ["data:image/svg+xml;base64"])
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page.frame)[1]
        self.assertTrue(policy.startswith("default-src 'none'; "))
        script = page.html.rpartition("<script>")[2].partition("</script>")[0]
        style = page.html.partition("<style>")[2].partition("</style>")[0]
        for kind, text in (("script", script), ("style", style)):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{kind}-src 'sha256-{digest}';", policy)

    def test_a_size_is_kept_and_what_is_left_out_is_said(self):
        whole, small = PageFile(self, LARGER), PageFile(self, "--size", "700kB", LARGER)
        self.assertLessEqual(len(small.bytes), 700_000)
        self.assertGreater(len(whole.bytes), 700_000)
        self.assertLess(len(small.places), len(whole.places))
        self.assertTrue([sentence for sentence in small.left_out if "timeline" in sentence.lower()])
        self.assertEqual(small.raw("api/diagnosis"), whole.raw("api/diagnosis"))

    def test_the_same_recording_gives_the_same_bytes(self):
        for arguments in ([], ["--redact"]):
            pages = [PageFile(self, "--no-cache", "--threads", "4", *arguments, BY_THREADS) for _ in range(4)]
            told = PageFile(self, *arguments, "--threads", "1", BY_THREADS)
            for page in pages:
                different = [question for question in told.places if page.raw(question) != told.raw(question)]
                self.assertEqual(different, [])
                self.assertEqual(page.bytes, told.bytes)

    def test_what_does_not_fit_is_an_error(self):
        for arguments, words in ((["--size", "100kB", "--html", "/dev/null"], "--size"), (["--redact"], "--html")):
            done = subprocess.run([viewer.FATHOM, "view", *arguments, TRACE], capture_output=True, check=False, cwd=viewer.ROOT,
                                  stdin=subprocess.DEVNULL, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_the_page_of_diagnose_is_the_same(self):
        for options in ([], ["--steps", "0-1"]):
            with tempfile.TemporaryDirectory() as folder:
                written = []
                for command in ("view", "diagnose"):  # with one thread: several find names in an order of their own
                    path = pathlib.Path(folder) / command
                    viewer.fathom(command, "--threads", "1", "--html", path, *options, TRACE)
                    written.append(path.read_bytes())
                self.assertEqual(written[0], written[1])

    def test_a_diagnosis_with_options_of_its_own_is_the_one_shown(self):
        options = ["--focus", "forward", "--exclude-warmup"]
        page = PageFile(self, *options, TRACE, command="diagnose")
        self.assertEqual(page.raw("api/diagnosis?focus=forward"), viewer.fathom("diagnose", "--json", *options, TRACE))
        self.assertEqual(page.ask("api/session")["scope"], {"focus": "forward"})
        self.assertTrue([sentence for sentence in page.left_out if "--exclude-warmup" in sentence])
        name = json.loads(viewer.fathom("diagnose", "--json", TRACE))["baseline"]["operators"][0]["name"]
        redacted = PageFile(self, "--focus", name, "--redact", TRACE, command="diagnose")
        focus = redacted.ask("api/session")["scope"]["focus"]
        self.assertIn("api/diagnosis?focus=" + urllib.parse.quote(focus, safe=""), redacted.places)

    def test_standard_input_is_read_once(self):
        with tempfile.TemporaryDirectory() as folder, gzip.open(viewer.ROOT / TRACE) as trace:
            path = pathlib.Path(folder) / "page.html"
            done = subprocess.run([viewer.FATHOM, "diagnose", "-", "--html", path], input=trace.read(), capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"fathom-answers", path.read_bytes())

    def test_two_files_of_a_folder_are_not_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.json").write_bytes(gzip.decompress((viewer.ROOT / TRACE).read_bytes()))
            (pathlib.Path(folder) / "b.json").write_text('{"none": 1}')
            page = PageFile(self, folder)
        self.assertEqual([sentence for sentence in page.left_out if "compared" in sentence or "could not be read" in sentence], [])
        self.assertTrue([sentence for sentence in page.left_out if "not of the other recordings" in sentence])

    def test_an_input_that_cannot_be_read_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            bad, page = pathlib.Path(folder) / "bad.json", pathlib.Path(folder) / "page.html"
            bad.write_text("hello\n")
            for inputs, written in (([TRACE, bad], True), ([bad, TRACE], False)):
                done = subprocess.run([viewer.FATHOM, "view", "--html", page, *inputs], capture_output=True, check=False, cwd=viewer.ROOT,
                                      stdin=subprocess.DEVNULL, text=True)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, r"\Afathom: .*bad\.json: not a trace that Fathom reads.*\n\Z")
                self.assertEqual("; the page is written without it" in done.stderr, written)
                self.assertEqual(page.exists(), written)
                page.unlink(missing_ok=True)

    @unittest.skipIf(b"__asan_init" in pathlib.Path(viewer.FATHOM).read_bytes(), "sanitizers need more address space than there is memory")
    def test_memory_that_runs_out_is_an_error(self):
        """Whatever the limit: the page of two inputs is whole, or an error names what is missing."""
        limit, failures = 18 << 20, 0
        while True:
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "page.html"
                done = subprocess.run([viewer.FATHOM, "view", "--threads", "1", "--html", page, TRACE, LARGER], capture_output=True,
                                      check=False, cwd=viewer.ROOT, stdin=subprocess.DEVNULL, text=True,
                                      env={**viewer.ENVIRONMENT, "FATHOM_CACHE": "off"},
                                      preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
                if done.returncode == 0:
                    _, _, index = taken_apart(page.read_text())
                    break
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("out of memory", done.stderr)
            failures += 1
            limit = limit * 21 // 20
        self.assertGreater(failures, 5)
        self.assertEqual(done.stderr, "")
        self.assertFalse([sentence for sentence in index["left_out"] if "could not be read" in sentence or "other recordings" in sentence])

    def test_two_inputs_are_compared(self):
        page = PageFile(self, TRACE, LARGER)
        self.assertIn("api/compare", page.places)
        server = viewer.Viewer(TRACE, LARGER)
        self.addCleanup(server.end)
        server.session()  # until it is read
        digests = {}
        for suffix in ("", "?input=1"):
            session = page.ask("api/session" + suffix)
            self.assertEqual(session["digest"], server.ask("api/session" + suffix)["digest"])
            digests[suffix] = session["digest"]
            self.assertGreater(len(page.ask("api/tracks" + suffix)["groups"]), 0)
        # Both timelines are there, each down to single slices of its median step.
        for suffix, own in (("", False), ("?input=1", True)):
            tiles = [question for question in page.places if question.startswith(f"api/tiles/{digests[suffix]}?")]
            self.assertGreater(len(tiles), 4)
            self.assertEqual({"input=1" in question for question in tiles}, {own})
        steps = [step for step in page.ask("api/session?input=1")["steps"] if step["counted"]]
        self.assertIn(f"api/flame?begin={steps[0]['begin_ns']}&end={steps[-1]['end_ns']}&input=1", page.places)
        secret = PageFile(self, "--redact", TRACE, LARGER).data.decode(errors="replace")
        self.assertNotIn("tl_h100", secret)


class Redacted(unittest.TestCase):

    def write(self, name="zanzibar-quokka.json"):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / name
        path.write_text(json.dumps(secretive()))
        return path

    @staticmethod
    def own_words():
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "words.cc"
            subprocess.run([viewer.ROOT / "tools/embed_words", viewer.ROOT / "src", source], check=True)
            return set(re.findall(r'^    "(.*)",$', source.read_text(), re.MULTILINE))

    def test_no_secret_is_in_the_file(self):
        path = self.write()
        for page, there in ((PageFile(self, path), True), (PageFile(self, "--redact", path), False)):
            for text in (page.data.decode(errors="replace").lower(), page.html.lower()):
                for secret in SECRETS if not there else ():
                    self.assertNotIn(secret, text)
                if not there:
                    self.assertNotIn("10.11.12.13", text)
                    self.assertNotIn("step device memory", text)
                    self.assertNotIn(str(path.parent), text)
            found = [secret for secret in SECRETS if secret in page.data.decode(errors="replace").lower()]
            self.assertEqual(bool(found), there)

    def test_tiles_and_diagnosis_are_where_the_page_asks_for_them(self):
        window = ["--window", "1ms:3ms"]
        page = PageFile(self, "--redact", *window, self.write())
        session = page.ask("api/session")
        self.assertEqual(session["scope"], {"window": "1ms:3ms"})
        self.assertIn("api/diagnosis?window=1ms%3A3ms", page.places)
        tiles = [question for question in page.places if question.startswith("api/tiles/")]
        self.assertGreater(len(tiles), 0)
        self.assertEqual({question.partition("?")[0] for question in tiles}, {f"api/tiles/{session['digest']}"})

    def test_names_of_each_rank_go(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for rank in range(3):
            recording = secretive()
            recording["distributedInfo"] |= {"rank": rank, "world_size": 3}
            for event in recording["traceEvents"]:
                if rank == 2 and event.get("cat") == "cpu_op":
                    event["name"] = "loader kernel time"  # words of the program's own, the name is not
            (pathlib.Path(folder.name) / f"rank{rank}.json").write_text(json.dumps(recording))
        told = PageFile(self, folder.name).ask("api/diagnosis?input=2")
        self.assertEqual(told["baseline"]["operators"][0]["name"], "loader kernel time")
        self.assertFalse(b"loader kernel time" in PageFile(self, "--redact", folder.name).data)

    def test_numbers_stay_and_names_can_be_followed(self):
        path = self.write()
        told, redacted = PageFile(self, path), PageFile(self, "--redact", path)
        for table in ("ops", "kernels", "steps", "accounting"):
            question = f"api/reports/{table}?limit=5000"
            rows, hidden = told.ask(question)["rows"], redacted.ask(question)["rows"]
            self.assertEqual([{key: value for key, value in row.items() if not isinstance(value, str)} for row in rows],
                             [{key: value for key, value in row.items() if not isinstance(value, str)} for row in hidden])
        operator = redacted.ask("api/diagnosis")["baseline"]["operators"][0]["name"]
        self.assertRegex(operator, r"^n\d+$")
        self.assertIn(operator, [row["name"] for row in redacted.ask("api/reports/ops?limit=5000")["rows"]])
        self.assertIn(f"api/whatif?scale={operator}%3D0.5", redacted.places)
        self.assertEqual(redacted.ask("api/session")["state"], "ready")
        self.assertEqual(sorted(told.ask("api/diagnosis")), sorted(redacted.ask("api/diagnosis")))

    def test_names_of_recordings_go_but_for_words_of_the_program(self):
        own = self.own_words()
        for trace in (TRACE, LARGER):
            told, redacted = PageFile(self, trace), PageFile(self, "--redact", trace)
            names = {name for question in told.places if question.startswith("api/names") for name in told.ask(question)["names"]}
            self.assertGreater(len(names), 50)
            names |= texts_of(trace)
            text = redacted.data.decode(errors="replace")
            words = set(re.split(r"[^\w:./-]+", text))
            kept = {name for name in names if re.fullmatch(r"[\w:./-]*[A-Za-z][\w:./-]*", name) and name in words}
            # What stays are words of the program's own texts.
            self.assertEqual(kept - own, set())
            self.assertGreater(len(names), 100)


if __name__ == "__main__":
    unittest.main()
