"""The page's server says what the command line says, byte by byte."""
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import viewer

TRACE = "tests/data/traces/hta_alexnet.json.gz"
EXAMPLE = "examples/resnet50_v100.pt.trace.json.gz"


def address(route, options):
    return route + ("?" + urllib.parse.urlencode(options) if options else "")


def words(options):
    """As command line: a switch has the value "1"."""
    line = []
    for name, value in options:
        line += [f"--{name}"] if value == "1" else [f"--{name}", value]
    return line


class SameAsTheCommandLine(unittest.TestCase):

    def view(self, *inputs):
        server = viewer.Viewer(*inputs)
        self.addCleanup(server.end)
        return server

    def same(self, server, trace, route, command, options):
        self.assertEqual(server.text(address(route, options)), viewer.fathom(*command, *words(options), "--json", trace),
                         (route, options))

    def test_every_table_of_several_recordings(self):
        for name in ("hta_alexnet", "tl_h100_bert_small", "hta_amd_mi250_minitoy", "ptbench_a100_memcpy_only"):
            trace = f"tests/data/traces/{name}.json.gz"
            server = self.view(trace)
            for report in server.ask("api/reports")["reports"]:
                with self.subTest(trace=name, report=report["id"]):
                    self.same(server, trace, "api/reports/" + report["id"], [report["id"]], [])

    def test_options_of_tables(self):
        server = self.view(TRACE)
        for report, options in (
                ("ops", [("sort", "calls"), ("limit", "5")]), ("ops", [("filter", "name~conv"), ("filter", "calls>1")]),
                ("ops", [("columns", "name,calls")]), ("ops", [("torch", "1")]), ("kernels", [("limit", "0")]),
                ("kernels", [("group-by", "op")]), ("kernels", [("device", "0"), ("window", "1ms:4ms")]),
                ("accounting", [("group-by", "class")]), ("roofline", [("peaks", "A100 SXM 80GB")])):
            self.same(server, TRACE, "api/reports/" + report, [report], options)

    def test_diagnosis(self):
        server = self.view(TRACE)
        for options in ([], [("window", "1ms:4ms")], [("focus", "forward")], [("exclude-warmup", "1")]):
            self.same(server, TRACE, "api/diagnosis", ["diagnose"], options)

    def test_what_if_and_the_command_that_says_the_same(self):
        server = self.view(TRACE)
        for options in ([("scale", "aten::conv2d=0.5")], [("remove-syncs", "1"), ("launch-once", "1")],
                        [("scale", "aten::conv2d=0.5"), ("scale", "kernel:.*=0.9")]):
            answer = server.ask(address("api/whatif", options))
            command = answer.pop("command")
            printed = viewer.fathom("whatif", *words(options), "--json", TRACE)
            self.assertEqual(answer, json.loads(printed))
            again = subprocess.run(command.replace("fathom", viewer.FATHOM, 1) + " --json", shell=True, capture_output=True,
                                   check=True, cwd=viewer.ROOT)
            self.assertEqual(again.stdout, printed)

    def test_a_finding_is_replayed_as_it_was_predicted(self):
        server = self.view(EXAMPLE)
        server.session()
        findings = [finding for finding in server.ask("api/diagnosis")["findings"] if finding["predicted_step_ns"]]
        self.assertGreater(len(findings), 2)
        for finding in findings:
            answer = server.ask(address("api/whatif", [("finding", finding["id"])]))
            saved = answer["before"]["step_mean_ns"] - answer["best"]["step_mean_ns"]
            self.assertEqual(saved, finding["step_ns"] - finding["predicted_step_ns"]["likely"], finding["id"])
            self.assertIn(" --finding ", answer["command"])
        self.assertEqual(server.get("api/whatif?finding=none")[0], 400)

    def test_the_graph_of_what_if_is_prepared_for_steps_that_there_are(self):
        server = self.view(TRACE)
        server.session()
        self.assertEqual(server.ask("api/whatif?prepare=true"), {"prepared": True})
        self.assertEqual(server.get("api/whatif?prepare=true&steps=900")[0], 400)
        self.assertEqual(server.get("api/whatif?prepare=true&scale=aten%3A%3Amm%3D0.5")[0], 400)

    def test_mistakes_have_the_same_words(self):
        server = self.view(TRACE)
        server.session()
        status, _, body = server.get("api/reports/ops?steps=900")
        done = subprocess.run([viewer.FATHOM, "ops", "--steps", "900", TRACE], capture_output=True, check=False, cwd=viewer.ROOT)
        self.assertEqual(status, 400)
        self.assertEqual("fathom: " + json.loads(body)["error"]["message"] + "\n", done.stderr.decode())

    def test_ranks_of_one_program_are_diagnosed_together(self):
        recording = json.loads(gzip.decompress((viewer.ROOT / TRACE).read_bytes()))
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(2):
                recording["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
                (pathlib.Path(folder) / f"rank{rank}.json").write_text(json.dumps(recording))
            server = self.view(folder)
            session = server.session()
            self.assertEqual(len(session["inputs"]), 2)
            both = server.text("api/diagnosis")
            self.assertEqual(both, viewer.fathom("diagnose", "--json", folder))
            second = str(pathlib.Path(folder) / "rank1.json")
            self.assertEqual(server.text("api/diagnosis?input=1"), viewer.fathom("diagnose", "--json", second))
            self.assertEqual(server.text("api/reports/ops?input=1"), viewer.fathom("ops", "--json", second))

    def test_two_inputs_are_compared(self):
        other = "tests/data/traces/hta_amd_mi250_minitoy.json.gz"
        server = self.view(TRACE, other)
        self.assertEqual(server.text("api/compare"), viewer.fathom("compare", "--json", TRACE, other))
        self.assertEqual(server.get("api/compare?nothing=1")[0], 400)

    def test_accounting_lane_is_the_accounting_of_a_window(self):
        chosen = random.Random(1)
        for trace in (TRACE, "tests/data/traces/tl_h100_bert_small.json.gz"):
            server = self.view(trace)
            span = server.session()["span"]
            length = span["end_ns"] - span["begin_ns"]
            for _ in range(8):
                begin, end = sorted(chosen.sample(range(length), 2))
                lane = server.ask(f"api/accounting?begin={span['begin_ns'] + begin}&end={span['begin_ns'] + end}")
                table = json.loads(viewer.fathom("accounting", "--json", "--device", str(lane["device"]), "--window",
                                                 f"{begin}ns:{end}ns", trace))
                # What has no time is left out of both.
                expected = {row["bucket"]: row["time_ns"] for row in table["rows"]}
                self.assertEqual({bucket["id"]: bucket["ns"] for bucket in lane["buckets"]}, expected)
                sums = {}
                at = span["begin_ns"] + begin
                for segment in lane["segments"]:
                    self.assertEqual(segment["begin_ns"], at)
                    at = segment["end_ns"]
                    parts = segment.get("parts", [{"id": segment["bucket"], "ns": segment["end_ns"] - segment["begin_ns"]}])
                    self.assertEqual(sum(part["ns"] for part in parts), segment["end_ns"] - segment["begin_ns"])
                    for part in parts:
                        sums[part["id"]] = sums.get(part["id"], 0) + part["ns"]
                self.assertEqual(sums, expected)


class Timeline(viewer.ViewerCase):
    arguments = ("tests/data/traces/tl_h100_bert_small.json.gz",)

    def tracks(self):
        return [track for group in self.viewer.ask("api/tracks")["groups"] for track in group["tracks"]]

    def lanes(self):
        return [track for track in self.tracks() if track["kind"] in ("host", "stream", "annotations")]

    def test_every_slice_is_in_a_track(self):
        self.assertEqual(sum(track["slices"] for track in self.lanes()), self.viewer.session()["slices"])

    def test_the_tile_over_everything_covers_what_tracks_cover(self):
        session = self.viewer.session()
        level = 0
        while 512 << level < session["range"]["end_ns"]:
            level += 1
        for track in self.lanes():
            status, fields, content = self.viewer.get(f"api/tiles/{session['digest']}?level={level}&tile=0&tracks={track['id']}")
            self.assertEqual(status, 200)
            self.assertIn("immutable", fields["Cache-Control"])
            block = viewer.parse_tile(content)[track["id"]]
            self.assertEqual(sum(block["covered"]), track["covered_ns"])
            self.assertEqual(len(block["covered"]), track["lanes"])

    def test_a_kernel_knows_its_launch_and_operator_and_back(self):
        found = self.viewer.ask("api/search?q=gemm&limit=5")
        self.assertGreater(found["slices"], 0)
        self.assertEqual(sum(found["density"]), found["slices"])
        kernel = self.viewer.ask(f"api/slice?id={found['first'][0]}")
        self.assertEqual(kernel["kind"], "kernel")
        self.assertIn("grid", kernel["launch_config"])
        launch = self.viewer.ask(f"api/slice?id={kernel['links']['launch']}")
        self.assertIn(kernel["id"], launch["links"]["kernels"])
        operator = self.viewer.ask(f"api/slice?id={kernel['links']['operator']}")
        self.assertEqual(operator["kind"], "cpu_op")
        flows = self.viewer.ask(f"api/flows?id={kernel['id']}")["flows"]
        self.assertIn({"from": launch["id"], "to": kernel["id"], "kind": "launch"}, flows)
        self.assertLessEqual(operator["begin_ns"], launch["begin_ns"])

    def test_an_area_is_summed_up(self):
        session = self.viewer.session()
        streams = [track for track in self.lanes() if track["kind"] == "stream"]
        ids = ",".join(str(track["id"]) for track in streams)
        whole = self.viewer.ask(f"api/selection?tracks={ids}")
        self.assertEqual(sum(row["total_ns"] for row in whole["rows"]), sum(track["covered_ns"] for track in streams))
        self.assertEqual(whole["slices"], sum(track["slices"] for track in streams))
        middle = (session["range"]["begin_ns"] + session["range"]["end_ns"]) // 2
        halves = [self.viewer.ask(f"api/selection?tracks={ids}&group=category&{half}={middle}") for half in ("end", "begin")]
        self.assertEqual(sum(row["total_ns"] for half in halves for row in half["rows"]),
                         sum(row["total_ns"] for row in whole["rows"]))
        flame = self.viewer.ask(f"api/flame?tracks={ids}")
        self.assertEqual(flame["total_ns"], sum(row["total_ns"] for row in whole["rows"]))

    def test_an_area_has_the_accounting_of_exactly_its_time(self):
        span = self.viewer.session()["span"]
        length = span["end_ns"] - span["begin_ns"]
        chosen = random.Random(2)
        for _ in range(4):
            begin, end = sorted(chosen.sample(range(length), 2))
            area = self.viewer.ask(f"api/selection?begin={span['begin_ns'] + begin}&end={span['begin_ns'] + end}")
            self.assertEqual(len(area["accounting"]), len(self.viewer.session()["devices"]))
            for account in area["accounting"]:
                table = json.loads(viewer.fathom("accounting", "--json", "--device", str(account["device"]), "--window",
                                                 f"{begin}ns:{end}ns", *self.arguments))
                buckets = {bucket["id"]: bucket["ns"] for bucket in account["buckets"]}
                self.assertEqual(buckets, {row["bucket"]: row["time_ns"] for row in table["rows"]})
                self.assertEqual(sum(buckets.values()), end - begin)

    def recording_with_modules(self):
        """Three calls of an operator in a module and a function; the backward of the second."""
        events = [{"ph": "X", "cat": "python_function", "name": "train.py(12): step", "pid": 1, "tid": 1, "ts": 0, "dur": 900,
                   "args": {"Python id": 1, "Python parent id": None}}]
        for i, duration in enumerate((100, 150, 50)):
            begin = 10 + 200 * i
            events.append({"ph": "X", "cat": "python_function", "name": f"nn.Module: Linear_{i}", "pid": 1, "tid": 1, "ts": begin,
                           "dur": 180, "args": {"Python id": i + 2, "Python parent id": 1, "Python module id": i}})
            events.append({"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": begin + 5, "dur": duration,
                           "args": {"External id": i + 1, "Sequence number": 7 + i, "Fwd thread id": 0}})
        events.append({"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0", "pid": 1, "tid": 2,
                       "ts": 700, "dur": 90, "args": {"External id": 9, "Sequence number": 8, "Fwd thread id": 1}})
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        path = folder / "modules.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return str(path)

    def test_a_slice_leads_to_module_line_backward_and_its_like(self):
        server = viewer.Viewer(self.recording_with_modules())
        self.addCleanup(server.end)
        server.session()
        linear = server.ask("api/search?q=aten::linear")["first"]
        self.assertEqual(len(linear), 3)
        slices = [server.ask(f"api/slice?id={id}") for id in linear]
        first, second, third = sorted(slices, key=lambda each: each["begin_ns"])
        for i, each in enumerate((first, second, third)):
            self.assertEqual(each["link_names"]["module"], f"nn.Module: Linear_{i}")
            self.assertEqual(each["links"]["slowest"], second["id"])
            self.assertEqual((each["same_name_slices"], each["same_name_ns"]), (3, 300_000))
        self.assertEqual(server.ask(f"api/slice?id={first['links']['module']}")["link_names"]["frame"], "train.py(12): step")
        self.assertEqual([each["links"]["previous"] for each in (first, second, third)], [None, first["id"], second["id"]])
        self.assertEqual([each["links"]["next"] for each in (first, second, third)], [second["id"], third["id"], None])
        self.assertEqual([len(each["links"]["backward"]) for each in (first, second, third)], [0, 1, 0])
        backward = server.ask(f"api/slice?id={second['links']['backward'][0]}")
        self.assertIn("AddmmBackward0", backward["name"])
        self.assertEqual(backward["links"]["forward"], second["id"])
        self.assertEqual(backward["link_names"]["forward"], "aten::linear")

    def recording_with_memory(self):
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": begin, "dur": duration}
                  for name, begin, duration in (("outer", 0, 100), ("inner", 10, 20), ("late", 200, 500))]
        events += [{"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": time,
                    "args": {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": 4096 if abs(size) == 1024 else 65536 * time}}
                   for time, size in ((15, 1024), (40, 4096), (60, -1024), (150, 64))]
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        path = folder / "memory.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return str(path)

    def test_the_flame_graph_has_allocations_and_both_orders(self):
        server = viewer.Viewer(self.recording_with_memory())
        self.addCleanup(server.end)
        server.session()
        flame = server.ask("api/flame?weight=memory")
        self.assertEqual(flame["total_bytes"], 4096 + 1024)
        self.assertEqual([(child["name"], child["total_bytes"]) for child in flame["children"]], [("outer", 4096 + 1024)])
        inner = flame["children"][0]["children"][0]
        self.assertEqual((inner["name"], inner["self_bytes"]), ("inner", 1024))
        self.assertEqual([child["name"] for child in server.ask("api/flame")["children"]], ["late", "outer"])
        self.assertEqual([child["name"] for child in server.ask("api/flame?order=time")["children"]], ["outer", "late"])
        # The first is freed at 60 µs, and what no call allocated is of none.
        self.assertEqual(server.ask("api/flame?weight=memory&alive-at=50000")["total_bytes"], 4096 + 1024)
        self.assertEqual(server.ask("api/flame?weight=memory&alive-at=20000")["total_bytes"], 1024)
        self.assertEqual(server.ask("api/flame?weight=memory&alive-at=160000")["total_bytes"], 4096)
        self.assertEqual(server.get("api/flame?weight=money")[0], 400)

    def test_the_critical_path_fills_the_steps(self):
        session = self.viewer.session()
        step = session["steps"][0]
        path = self.viewer.ask(f"api/critical-path?begin={step['begin_ns']}&end={step['end_ns']}")
        self.assertEqual(path["left_off"], 0)
        covered = sum(min(piece["end_ns"], step["end_ns"]) - max(piece["begin_ns"], step["begin_ns"]) for piece in path["pieces"])
        self.assertEqual(covered, step["end_ns"] - step["begin_ns"])

    def test_a_device_has_its_queue_and_its_utilisation_as_counters(self):
        span = self.viewer.session()["span"]
        groups = self.viewer.ask("api/tracks")["groups"]
        seen = 0
        for group in groups:
            for track in group["tracks"]:
                if track["kind"] != "counter" or group["kind"] != "device":
                    continue
                seen += 1
                path = f"api/counters?track={track['id']}&begin={span['begin_ns']}&end={span['end_ns']}"
                for count in (1, 300):
                    counter = self.viewer.ask(f"{path}&bins={count}")
                    self.assertEqual(counter["title"], track["title"])
                    self.assertEqual(counter["unit"], track["unit"] or "")
                    bins = counter["bins"]
                    ends = [bin["begin_ns"] for bin in bins[1:]] + [span["end_ns"]]
                    area = sum(bin["mean"] * (end - bin["begin_ns"]) for bin, end in zip(bins, ends, strict=True))
                    if not track["title"].startswith("Utilisation"):
                        self.assertGreater(area, 0)
                        continue
                    window = f"begin={span['begin_ns']}&end={span['end_ns']}&device={track['device']}"
                    account = self.viewer.ask(f"api/accounting?{window}")
                    busy = sum(bucket["ns"] for bucket in account["buckets"]
                               if bucket["id"] in ("compute", "communication", "memcpy", "memset"))
                    self.assertAlmostEqual(area / 100, busy, delta=1)
        self.assertEqual(seen, 2)
        ids = [track["id"] for group in groups for track in group["tracks"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.viewer.get(f"api/counters?track={max(ids) + 1}")[0], 404)

    def test_two_pages_at_once_are_told_the_same(self):
        paths = ["api/session", "api/tracks", "api/diagnosis", "api/reports/kernels", "api/search?q=gemm&limit=5",
                 "api/accounting", "api/reports/ops?sort=-calls", "api/critical-path"]
        self.viewer.session()
        alone = {path: self.viewer.get(path)[::2] for path in paths}

        def page(order):
            return {path: self.viewer.get(path)[::2] for path in order}

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            pages = [pool.submit(page, order) for order in (paths, paths[::-1], paths, paths[3:] + paths[:3])]
            for each in pages:
                self.assertEqual(each.result(), alone)

    def test_names_come_in_pages(self):
        first = self.viewer.ask("api/names?count=3")
        self.assertEqual(len(first["names"]), 3)
        second = self.viewer.ask("api/names?first=1&count=2")
        self.assertEqual(second["names"], first["names"][1:])
        self.assertEqual(self.viewer.ask("api/names?ids=2,1")["names"], [first["names"][2], first["names"][1]])
        every = self.viewer.ask("api/names?count=4096")
        self.assertEqual((every["names"][0], len(set(every["names"]))), ("", every["total"]))
        self.assertEqual(self.viewer.ask(f"api/names?ids={every['total']}")["names"], [""])

    def test_overlapping_kernels_both_show(self):
        # As Perfetto drops them: two kernels of a stream of which none is inside the other.
        events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": 10.0,
                   "args": {"device": 0, "stream": 7, "correlation": i + 1}}
                  for i, (name, start) in enumerate((("first", 0.0), ("second", 5.0), ("third", 5.0), ("fourth", 30.0)))]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "overlap.json"
            path.write_text(json.dumps({"traceEvents": events}))
            server = viewer.Viewer(path)
            self.addCleanup(server.end)
            digest = server.session()["digest"]
            tracks = [track for group in server.ask("api/tracks")["groups"] for track in group["tracks"] if track["kind"] == "stream"]
            self.assertEqual([(track["lanes"], track["slices"]) for track in tracks], [(3, 4)])
            boxes = viewer.parse_tile(server.text(f"api/tiles/{digest}?level=7&tile=0&tracks={tracks[0]['id']}"))
            self.assertEqual(sorted(box["slice"] for box in boxes[tracks[0]["id"]]["boxes"]), [0, 1, 2, 3])
            for name in ("first", "second", "third", "fourth"):
                self.assertEqual(server.ask(f"api/search?q={name}")["slices"], 1)


class Life(unittest.TestCase):

    def test_it_ends_with_standard_input_and_with_signals(self):
        self.assertEqual(viewer.Viewer(TRACE).end(), 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = viewer.Viewer(TRACE)
            server.process.send_signal(number)
            self.assertEqual(server.process.wait(viewer.WAIT), 0)
            server.end()

    def test_it_ends_when_nobody_asks(self):
        server = viewer.Viewer("--idle", "1ms", TRACE)
        self.assertEqual(server.process.wait(viewer.WAIT), 0)
        server.end()

    def test_a_link_of_the_page_is_an_input(self):
        server = viewer.Viewer(TRACE + "#v=timeline&t=1-2")
        self.addCleanup(server.end)
        self.assertTrue(server.first.endswith("/#v=timeline&t=1-2"), server.first)
        self.assertEqual(server.session()["input"], TRACE)

    def test_it_prints_how_to_come_from_another_machine(self):
        server = viewer.Viewer(TRACE)
        self.addCleanup(server.end)
        self.assertIn(f"ssh -N -L {server.port}:127.0.0.1:{server.port} ", server.second)

    def test_an_input_that_cannot_be_read_is_said_on_the_page(self):
        server = viewer.Viewer("CONTRIBUTING.md")
        self.addCleanup(server.end)
        session = server.session()
        self.assertEqual(session["state"], "failed")
        self.assertIn("CONTRIBUTING.md", session["message"])
        status, _, body = server.get("api/diagnosis")
        self.assertEqual(status, 422)
        self.assertEqual(json.loads(body)["error"]["message"], session["message"])

    def test_while_it_reads_a_page_need_not_ask_again_and_again(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder) / "trace.json.gz"
            os.mkfifo(pipe)
            server = viewer.Viewer(pipe)
            self.addCleanup(server.end)
            begin = time.monotonic()
            self.assertEqual(json.loads(server.get("api/session")[2])["state"], "reading")
            self.assertGreater(time.monotonic() - begin, 0.1)
            with concurrent.futures.ThreadPoolExecutor() as pool:
                pool.submit(pipe.write_bytes, (viewer.ROOT / TRACE).read_bytes())
                self.assertEqual(server.session()["state"], "ready")

    def test_a_missing_input_is_said_at_once(self):
        done = subprocess.run([viewer.FATHOM, "view", "--no-open", "/nothing/there.json"], capture_output=True, check=False)
        self.assertIn(done.returncode, (2, 3))
        self.assertEqual(done.stdout, b"")

    def test_a_file_that_is_replaced_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json.gz"
            shutil.copy(viewer.ROOT / TRACE, path)
            server = viewer.Viewer(path)
            self.addCleanup(server.end)
            before = server.session()
            self.assertFalse(before["replaced"])
            other = pathlib.Path(folder) / "other"
            shutil.copy(viewer.ROOT / "tests/data/traces/tl_h100_bert_small.json.gz", other)
            os.replace(other, path)
            after = server.session()
            self.assertTrue(after["replaced"])
            self.assertEqual(after["digest"], before["digest"])  # what was read is still what is shown

    def test_what_a_page_asks_first_is_the_same_from_what_was_kept(self):
        """Also where some of it is damaged: that is computed anew."""
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.json.gz"
            shutil.copy(viewer.ROOT / TRACE, trace)
            os.utime(trace, (1, 1))
            cache = pathlib.Path(folder) / "cache"
            kept = {"FATHOM_CACHE": str(cache), "FATHOM_CACHE_FROM": "0"}

            def first_screen(wait_for=0, **settings):
                server = viewer.Viewer(trace, **settings)
                self.addCleanup(server.end)
                session = server.session()
                end = session["range"]["end_ns"]
                level = max(0, (end // 512).bit_length())
                answers = [server.get(path)[2] for path in (
                    "api/tracks", f"api/tiles/{session['digest']}?level={level}&tile=0&tracks=1,2,3",
                    f"api/accounting?begin=0&end={end}", "api/names?first=0&count=9", "api/diagnosis")]
                for _ in range(600):
                    if len(list(cache.glob("*.answer"))) >= wait_for:
                        break
                    time.sleep(0.05)
                return answers

            time.sleep(0.05)  # until its times are old enough to be kept
            anew = first_screen(FATHOM_CACHE="off")
            self.assertEqual(first_screen(wait_for=6, **kept), anew)
            self.assertEqual(len(list(cache.glob("*.answer"))), 6)  # one says which recording it is
            self.assertEqual(len(list(cache.glob("*.trace"))), 1)
            for answer in cache.glob("*.answer"):
                with answer.open("r+b") as file:
                    file.seek(-1, os.SEEK_END)
                    last = file.read(1)
                    file.seek(-1, os.SEEK_END)
                    file.write(bytes([last[0] ^ 1]))
            self.assertEqual(first_screen(**kept), anew)
            self.assertEqual(first_screen(**kept), anew)

    def test_a_recording_has_one_digest(self):
        digests = set()
        for _ in range(2):
            server = viewer.Viewer(TRACE)
            digests.add(server.session()["digest"])
            server.end()
        self.assertEqual(len(digests), 1)

    def test_the_page_is_there(self):
        server = viewer.Viewer(TRACE)
        self.addCleanup(server.end)
        status, fields, body = server.get("")
        self.assertEqual((status, fields["Content-Type"]), (200, "text/html; charset=utf-8"))
        packed = server.get("", Accept_Encoding="gzip")
        self.assertEqual(packed[1]["Content-Encoding"], "gzip")
        self.assertEqual(packed[2], body)
        self.assertEqual(server.get("assets/app.js")[0], 200)

    def test_a_socket_is_for_its_owner_alone_and_goes_with_the_server(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "fathom.sock"
            server = viewer.Viewer("--socket", path, TRACE)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.sendall(f"GET /{server.token}/api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                self.assertEqual(viewer.status_of(viewer.received(client)), 200)
            second = subprocess.run([viewer.FATHOM, "view", "--no-open", "--socket", str(path), TRACE], capture_output=True,
                                    check=False, cwd=viewer.ROOT, stdin=subprocess.DEVNULL)
            self.assertNotEqual(second.returncode, 0)
            self.assertIn(b"in use", second.stderr)
            self.assertEqual(server.end(), 0)
            self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
