"""fathom compare on pairs that are hard to compare: what is matched, what is withheld, and what is reported."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_test import turn

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
RECORDED = ROOT / "tests/illness/recorded"
COMPILED = ROOT / "tests/data/compiled"
GPU = ROOT / "tests/data/traces/hta_alexnet.json.gz"
MICROSECONDS = 1000


class Loop:
    """A made training loop on one GPU: each step launches the same operators' kernels, one after the other."""

    def __init__(self, operators, steps=10, shapes=True, ranges=()):
        self.events = []
        self.correlation = 0
        at = 1000.0
        for step in range(steps):
            begin = at
            at += 1  # inside of the ranges around a step
            device = at + 20
            for name, kernels in operators:
                launch = at
                for kernel, length in kernels:
                    self.launch(launch + 1, device, kernel, length)
                    launch += 4
                    device += length
                arguments = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]} if shapes else {}
                self.add("cpu_op", name, 1, at, launch - at + 2, **arguments)
                at = launch + 4
            at = max(at, device) + 10
            self.add("cuda_runtime", "cudaDeviceSynchronize", 1, begin + 0.9 * (at - begin), 0.09 * (at - begin), correlation=0)
            for name in ranges:
                self.add("cpu_op", name, 1, begin + 0.1, at - begin - 0.2)
            self.add("user_annotation", f"ProfilerStep#{step}", 1, begin, at - begin)
            at += 1

    def add(self, category, name, thread, at, length, **arguments):
        device = category == "kernel"
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if device else 1, "tid": 7 if device else thread,
                            "ts": round(at, 3), "dur": round(length, 3), "args": arguments})

    def launch(self, at, device, kernel, length):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", 1, at, 2, correlation=self.correlation)
        # What NCCL's kernels say of a collective of 1000 elements.
        collective = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "BFloat16", "Group size": 2} if kernel.startswith("nccl") else {}
        self.add("kernel", kernel, 7, device, length, correlation=self.correlation, device=0, stream=7, grid=[64, 1, 1], block=[256, 1, 1], **collective)

    def write(self, path, started=None):
        document = {"schemaVersion": 1, **({} if started is None else {"baseTimeNanoseconds": started}), "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 40 << 30}],
                    "traceEvents": self.events}
        with gzip.open(path, "wt") as file:
            json.dump(document, file)
        return path


EAGER = [("aten::mm", [("sgemm", 400)]), ("aten::mul", [("vectorized_elementwise_kernel<mul>", 100)]),
         ("aten::tanh", [("vectorized_elementwise_kernel<tanh>", 100)]), ("aten::add", [("vectorized_elementwise_kernel<add>", 100)])]


class Cases(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-compare-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def compare(self, base, new):
        done = subprocess.run([FATHOM, "compare", "--json", base, new], capture_output=True, text=True, timeout=120, check=True)
        answer = json.loads(done.stdout)
        for pair in answer["pairs"]:
            self.sums_are_exact(pair)
        return answer

    def sums_are_exact(self, pair):
        self.assertEqual(sum(bucket["change_ns"] for bucket in pair["buckets"]), pair["mean_change_ns"] if pair["buckets"] else 0)
        if pair["rows"]:
            self.assertEqual(sum(row["change_ns"] for row in pair["rows"]), pair["mean_change_ns"])
            self.assertEqual(sum(group["change_ns"] for group in pair["causes"]), pair["mean_change_ns"])
            self.assertEqual(sum(phase["change_ns"] for phase in pair["phases"]), pair["mean_change_ns"])
            for phase in pair["phases"]:
                self.assertEqual(sum(module["change_ns"] for module in phase["modules"]), phase["change_ns"])
                for module in phase["modules"]:
                    self.assertEqual(sum(pair["rows"][row]["change_ns"] for row in module["rows"]), module["change_ns"])
            for row in pair["rows"]:
                for level in ("kernels", "occurrences"):
                    if row[level]:
                        self.assertEqual(sum(each["change_ns"] for each in row[level]), row["change_ns"])

    def test_what_machines_allow_is_a_condition(self):
        first = self.folder / "first"
        program = "for _ in range(3): sum(range(1000))"
        subprocess.run([FATHOM, "run", "-o", first, "--", sys.executable, "-c", program], capture_output=True, timeout=120, check=True)
        second = shutil.copytree(first, self.folder / "second")
        for folder, cpus, watts, load in ((first, 2, [300, 300], 0.5), (second, 1.5, [250, 250], 40)):
            manifest = json.loads((folder / "manifest.json").read_text())
            manifest["host"] |= {"cgroup": {"cpus": cpus}, "cores": 8, "load": [load, 0, 0]}
            manifest["gpus"] = [{"name": "A100", "power_limit_w": each} for each in watts]
            (folder / "manifest.json").write_text(json.dumps(manifest))
        differs = {each["id"]: (each["base"], each["new"]) for each in self.compare(first, second)["pairs"][0]["differs"]}
        self.assertEqual(differs["host.cgroup.cpus"], ("2", "1.5"))
        self.assertEqual(differs["power_limit"], ("300 W", "250 W"))
        self.assertEqual(differs["load"], ("at most half of the cores", "40 on 8 cores"))

    def test_of_equal_operators_the_one_that_changed_is_named(self):
        layer = ("aten::mm", [("sgemm", 100)])
        slow = ("aten::mm", [("sgemm", 300)])
        pair = self.loops([layer] * 4, [layer, layer, slow, layer])
        row = next(row for row in pair["rows"] if row["what"] == "aten::mm" and row["bucket"] == "compute")
        self.assertEqual((row["alignment"], row["calls_in_step"]), ("module_operator_shapes", 4))
        self.assertEqual([each["number"] for each in row["occurrences"]][0], 3)
        self.assertEqual({each["number"] for each in row["occurrences"]}, {1, 2, 3, 4})
        self.assertEqual(row["occurrences"][0]["change_ns"], 200 * MICROSECONDS)
        self.assertEqual(row["occurrences"][0]["base_calls"], pair["base"]["steps"])
        self.assertAlmostEqual(pair["aligned_by_occurrence"], 1)
        text = subprocess.run([FATHOM, "compare", "--all", self.folder / "base.json.gz", self.folder / "new.json.gz"],
                              capture_output=True, text=True, timeout=120, check=True).stdout
        self.assertIn("call 3 of 4 in a step", text)
        self.assertIn("by the same call of a step", " ".join(text.split()))

    def test_a_call_that_launches_another_kernel_or_a_copy_keeps_its_number(self):
        layer = ("aten::mm", [("sgemm", 100)])
        pair = self.loops([layer] * 4, [layer, ("aten::mm", [("ampere_sgemm", 150), ("splitKreduce", 150)]), layer, layer])
        row = next(row for row in pair["rows"] if row["what"] == "aten::mm" and row["bucket"] == "compute")
        self.assertEqual({each["number"]: each["change_ns"] for each in row["occurrences"]},
                         {1: 0, 2: 200 * MICROSECONDS, 3: 0, 4: 0})
        steps = pair["new"]["steps"]
        self.assertEqual({each["number"]: each["new_calls"] for each in row["occurrences"]}, {1: steps, 2: 2 * steps, 3: steps, 4: steps})

    def loops(self, base, new, **settings):
        first = Loop(base).write(self.folder / "base.json.gz")
        second = Loop(new, **settings).write(self.folder / "new.json.gz")
        return self.compare(first, second)["pairs"][0]

    def test_a_renamed_kernel_is_the_same_operator_with_another_kernel(self):
        renamed = [("aten::mm", [("ampere_sgemm_128x64_tn", 300)]), *EAGER[1:]]
        pair = self.loops(EAGER, renamed)
        row = next(row for row in pair["rows"] if row["what"] == "aten::mm" and row["bucket"] == "compute")
        self.assertEqual((row["alignment"], row["cause"]), ("module_operator_shapes", "kernel"))
        self.assertEqual(sorted(kernel["name"] for kernel in row["kernels"]), ["ampere_sgemm_128x64_tn", "sgemm"])
        self.assertEqual(row["change_ns"], -100 * MICROSECONDS)

    def test_idle_time_without_causes_on_one_side_is_no_cause_that_went_away(self):
        without = Loop(EAGER)
        without.events = [event for event in without.events if event["cat"] != "cuda_runtime"]
        pair = self.compare(Loop(EAGER).write(self.folder / "base.json.gz"), without.write(self.folder / "new.json.gz"))["pairs"][0]
        idle = [row for row in pair["rows"] if row["bucket"] not in ("compute", "communication", "memcpy", "memset")]
        self.assertTrue(idle)
        one_sided = [row for row in idle if row["alignment"] in ("base_only", "new_only")]
        self.assertTrue(one_sided)
        self.assertEqual({row["cause"] for row in one_sided if row["change_ns"] != 0}, {"not_recorded"})

    def test_a_fused_graph_is_what_replaced_its_operators(self):
        compiled = [EAGER[0], ("triton_poi_fused_add_mul_tanh_0", [("triton_poi_fused_add_mul_tanh_0", 120)])]
        pair = self.loops(EAGER, compiled, ranges=("Torch-Compiled Region: 0/0",))
        self.assertIn("work", {each["id"] for each in pair["differs"]}, "one side is compiled")
        self.assertEqual(pair["comparability"], "comparable")
        replaced = [row for row in pair["rows"] if row["alignment"] == "fused" and row["bucket"] == "compute"]
        self.assertEqual(len(replaced), 1)
        self.assertIn("→ triton_poi_fused_add_mul_tanh_0", replaced[0]["what"])
        for operator in ("aten::mul", "aten::tanh", "aten::add"):
            self.assertIn(operator, replaced[0]["what"].split("→")[0])
        self.assertEqual((replaced[0]["change_ns"], replaced[0]["cause"]), (-180 * MICROSECONDS, "replaced"))
        self.assertGreater(pair["aligned"]["fused"], 0)

    def test_of_a_real_compiled_model_the_graph_is_what_replaced_its_operators(self):
        for program, bucket in (("infer", "other operators"), ("train", "forward"), ("train", "backward")):
            eager, compiled = (COMPILED / f"{program}_{kind}.json.gz" for kind in ("eager", "compiled"))
            for base, new, sign in ((eager, compiled, -1), (compiled, eager, 1)):
                pair = self.compare(base, new)["pairs"][0]
                self.assertEqual(pair["comparability"], "comparable")
                self.assertIn("work", {each["id"] for each in pair["differs"]}, "one side is compiled")
                (graph,) = [row for row in pair["rows"] if row["alignment"] == "fused" and row["bucket"] == bucket]
                self.assertEqual((graph["cause"], graph["change_ns"] * sign > 0), ("replaced", True))
                operators, graphs = graph["what"].split(" → ")[::-sign]
                self.assertIn("aten::mul", operators)
                self.assertIn("## Call CompiledFxGraph", graphs)
                if program == "train":
                    self.assertEqual(pair["causes"][0]["cause"], "replaced", "it is what saves the time")
                # Compiled code hands the result in: the inputs are what they were.
                for row in pair["rows"]:
                    if row["what"] in ("aten::mm", "aten::addmm"):
                        self.assertEqual(row["alignment"], "module_operator_shapes")
                        self.assertNotEqual(row["cause"], "shape_or_dtype")

    def test_different_numbers_of_steps_are_compared_per_step(self):
        pair = self.loops(EAGER, EAGER, steps=23)
        self.assertEqual((pair["base"]["steps"] < pair["new"]["steps"], pair["change_ns"]), (True, 0))
        self.assertEqual([counter["id"] for counter in pair["counters"] if not counter["equal"]], [])

    def test_a_side_without_shapes_is_matched_by_module_and_operator(self):
        pair = self.loops(EAGER, EAGER, shapes=False)
        self.assertEqual(pair["comparability"], "comparable", "the same times are not the same recording where arguments differ")
        row = next(row for row in pair["rows"] if row["what"] == "aten::mm" and row["bucket"] == "compute")
        self.assertEqual(row["alignment"], "module_operator")
        self.assertNotEqual(row["cause"], "shape_or_dtype", "shapes that were not recorded did not change")
        self.assertIsNone(next((each for each in pair["counters"] if each["id"] == "flops" and each["new"] is not None), None))
        self.assertIn("types", {each["id"] for each in pair["differs"]})

    def test_a_rank_that_is_missing_is_named_and_left_out(self):
        some = self.folder / "some"
        some.mkdir()
        first, *_ = sorted((RECORDED / "late_rank.ill").iterdir())
        shutil.copy(first, some)
        for base, new, side in ((RECORDED / "late_rank.ill", some, "new"), (some, RECORDED / "late_rank.ill", "base")):
            answer = self.compare(base, new)
            self.assertEqual(len(answer["pairs"]), 1)
            self.assertEqual(answer["pairs"][0]["comparability"], "same_recording")
            self.assertEqual(len(answer["notes"]), 1)
            self.assertRegex(answer["notes"][0], f"Rank 1, .* has no counterpart in the {side} recordings")

    def test_of_a_cpu_and_a_gpu_only_what_both_have_is_compared(self):
        pair = self.compare(RECORDED / "fp64.ill.trace.json.gz", GPU)["pairs"][0]
        self.assertEqual(pair["comparability"], "different_devices")
        self.assertEqual((pair["buckets"], pair["rows"], pair["causes"]), ([], [], []))
        self.assertNotEqual(pair["change_ns"], 0)
        self.assertIn("device", {each["id"] for each in pair["differs"]})
        self.assertTrue(any("cannot be compared" in note for note in pair["notes"]))

    def test_several_runs_a_side_are_one_with_the_interval_of_their_pairs(self):
        base = [Loop([("aten::mm", [("sgemm", 400 + 40 * run)]), *EAGER[1:]]).write(self.folder / f"base{run}.json.gz", turn(run, False)) for run in range(6)]
        new = [Loop([("aten::mm", [("sgemm", 420 + 42 * run)]), *EAGER[1:]]).write(self.folder / f"new{run}.json.gz", turn(run, True)) for run in range(6)]
        done = subprocess.run([FATHOM, "compare", "--json", "--base", *base, "--new", *new], capture_output=True, text=True, timeout=120, check=True)
        answer = json.loads(done.stdout)
        self.assertEqual(len(answer["pairs"]), 1)
        pair = answer["pairs"][0]
        self.sums_are_exact(pair)
        self.assertEqual(pair["base"]["steps"], 6 * json.loads(subprocess.run([FATHOM, "compare", "--json", base[0], new[0]], capture_output=True, text=True, check=True).stdout)["pairs"][0]["base"]["steps"])
        self.assertIn("over 6 pairs of runs", pair["ratio_note"])
        self.assertGreater(pair["ratio_interval"][0], 1)
        # Folders of recordings are the same runs.
        for side, files in (("b", base), ("n", new)):
            (self.folder / side).mkdir()
            for file in files:
                shutil.copy(file, self.folder / side)
        again = self.compare(self.folder / "b", self.folder / "n")["pairs"][0]
        self.assertEqual(again["change_ns"], pair["change_ns"])
        self.assertEqual(again["ratio_interval"], pair["ratio_interval"])

    def counter(self, pair, name):
        """Per step, on both sides."""
        found = next((each for each in pair["counters"] if each["id"] == name), None)
        return found and tuple(each if each is None else each / pair[side]["steps"] for side, each in (("base", found["base"]), ("new", found["new"])))

    def test_graph_breaks_are_counted_exactly(self):
        whole, broken = ("Torch-Compiled Region: 0/0",), ("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 1/0", "Torch-Compiled Region: 2/0")
        first = Loop(EAGER, ranges=whole).write(self.folder / "base.json.gz")
        pair = self.compare(first, Loop(EAGER, ranges=broken).write(self.folder / "new.json.gz"))["pairs"][0]
        self.assertEqual(self.counter(pair, "graph_breaks"), (0, 2))
        pair = self.compare(first, Loop(EAGER).write(self.folder / "new.json.gz"))["pairs"][0]
        self.assertEqual(self.counter(pair, "graph_breaks"), (0, None), "what is not compiled has none to count")

    def test_bytes_of_collectives_are_counted_exactly(self):
        reduce = ("c10d::allreduce_", [("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 50)])
        pair = self.loops([*EAGER, reduce], [*EAGER, reduce, reduce])
        self.assertEqual((self.counter(pair, "collectives"), self.counter(pair, "collective_bytes")), ((1, 2), (2000, 4000)))
        phases = {phase["phase"] for phase in pair["phases"]}
        self.assertIn("communication", phases)

    def test_what_is_replaced_between_the_same_siblings_is_told_apart(self):
        def loop(first, second):
            return [("aten::relu", [("relu", 50)]), first, EAGER[0], second, ("aten::sum", [("sum", 50)])]

        pair = self.loops(loop(("my::a", [("a", 100)]), ("my::b", [("b", 200)])), loop(("my::x", [("x", 90)]), ("my::y", [("y", 150)])))
        replaced = {row["what"]: row["change_ns"] for row in pair["rows"] if row["alignment"] == "siblings" and row["bucket"] == "compute"}
        self.assertEqual(replaced, {"my::a → my::x": -10 * MICROSECONDS, "my::b → my::y": -50 * MICROSECONDS})

    def test_different_work_is_withheld(self):
        other = [("aten::convolution", [("conv", 300)]), ("aten::sort", [("radix", 500)])]
        pair = self.loops([EAGER[0]], other)
        self.assertEqual(pair["comparability"], "different_work")
        self.assertEqual((pair["rows"], pair["phases"], pair["causes"]), ([], [], []))
        self.assertNotEqual(pair["buckets"], [])
        self.assertIn("Different work", " ".join(pair["notes"]))

    def test_a_recording_in_which_nothing_takes_time_cannot_be_compared(self):
        cut_off = self.folder / "cut_off.json"
        cut_off.write_text('{"traceEvents": [{"ph"')
        for command in (["compare", cut_off, cut_off], ["check", cut_off, "--against", cut_off, "--budget", "launches+0"]):
            done = subprocess.run([FATHOM, *command], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 3, "the command line is right")
            self.assertIn("nothing in it takes time", done.stderr)

    def test_both_sides_are_named_or_none(self):
        for words in (("--base", GPU), ("--new", GPU), (GPU, "--base", GPU, "--new", GPU), (GPU,), ()):
            done = subprocess.run([FATHOM, "compare", *words], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
