#!/usr/bin/env python3
"""Named arguments in the fixes of rules exist in the libraries that are installed. `make
test-torch` runs this."""

from __future__ import annotations

import ast
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
from typing import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("FATHOM_TORCH_PYTHON") or str(ROOT / "build/torch/bin/python")
WANTED = os.environ.get("FATHOM_TEST_TORCH") == "1"

# How fixes name what stands elsewhere; with a dot before it a method of any object.
WHERE = {
    "BatchSampler": "torch.utils.data.BatchSampler",
    "DataLoader": "torch.utils.data.DataLoader",
    "DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "FSDP": "torch.distributed.fsdp.FullyShardedDataParallel",
    "LLM": "vllm.LLM",
    "Pool": "multiprocessing.pool.Pool",
    "SGD": "torch.optim.SGD",
    "checkpoint": "torch.utils.checkpoint.checkpoint",
    "profile": "torch.profiler.profile",
    "schedule": "torch.profiler.schedule",
    "F.scaled_dot_product_attention": "torch.nn.functional.scaled_dot_product_attention",
    "dist_cp.async_save": "torch.distributed.checkpoint.async_save",
    "zero_grad": "torch.optim.Optimizer.zero_grad",
    ".imap_unordered": "multiprocessing.pool.Pool.imap_unordered",
    ".map": "datasets.Dataset.map",
    ".register_buffer": "torch.nn.Module.register_buffer",
    ".to": "torch.Tensor.to",
    ".copy_": "torch.Tensor.copy_",
    ".add_": "torch.Tensor.add_",
    ".backward": "torch.Tensor.backward",
    ".clamp": "torch.Tensor.clamp",
    ".zero_grad": "torch.optim.Optimizer.zero_grad",
}
# Calls of the program's own, and of Python.
OTHERS = {"train", "sorted", ".wait"}
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
CALL = re.compile(r"\.?[A-Za-z_][\w.]*\(")


def texts(source: str) -> Iterator[str]:
    """Texts of a C++ file: neighbouring literals are joined, and what is put in between is `X`."""
    code = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("//", "#")))
    text, end = "", None
    for literal in LITERAL.finditer(code):
        between = code[end : literal.start()] if end is not None else ";"
        if not between.strip():
            pass
        elif re.fullmatch(r"[\s+\w:.()>-]*\+[\s+\w:.()>-]*", between):
            text += "X"
        else:
            yield text
            text = ""
        text += literal[1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
        end = literal.end()
    yield text


def call_at(text: str, begin: int, opened: int) -> ast.Call | None:
    """The call whose bracket opens there, where it is whole and Python."""
    depth = 0
    for at in range(opened, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if depth == 0:
            try:
                found = ast.parse(("it" if text[begin] == "." else "") + text[begin : at + 1], mode="eval").body
            except SyntaxError:
                return None
            return found if isinstance(found, ast.Call) else None
    return None


def calls(text: str) -> Iterator[tuple[str, set[str]]]:
    """Names of calls and of their named arguments."""
    for start in CALL.finditer(text):
        call = call_at(text, start.start(), start.end() - 1)
        named = {each.arg for each in call.keywords if each.arg and each.arg != "X"} if call else set()
        name = re.sub("^X(?=[a-z])", "", start[0][:-1])
        if named and not name.endswith(".X"):  # its name is put in by the rule
            yield name, named


def path_of(name: str) -> str | None:
    """Where an object lies that a fix calls; None of the program's own."""
    last = "." + name.rpartition(".")[2]
    if name in WHERE:
        return WHERE[name]
    if name.startswith("nn."):
        return "torch." + name
    if name.startswith(("torch.", "bitsandbytes.")):
        return name
    if "." in name and last in WHERE:
        return WHERE[last]
    if name in OTHERS or last in OTHERS:
        return None
    raise AssertionError(f"{name}: neither in WHERE nor in OTHERS")


# Run by the Python that has the libraries: which arguments are not there, which libraries are not.
ASK = r"""
import importlib, inspect, json, re, sys
missing, absent, seen = [], set(), 0
def find(path):
    words = path.split(".")
    for end in range(len(words) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(words[:end]))
        except ModuleNotFoundError:
            continue
        for word in words[end:]:
            found = getattr(found, word)
        return found
    return None
for path, named in json.load(sys.stdin):
    found = find(path)
    if found is None:
        absent.add(path)
        continue
    text = found.__doc__ or ""
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):  # written in C: its signatures are in its text
        parameters = {}
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in getattr(parameters, "values", list)()):
        text += str(inspect.signature(found))
    for name in named:
        seen += 1
        first = "\n".join(line for line in text.splitlines() if "->" in line or "(" in line)
        if name not in parameters and (parameters or not re.search(r"\b%s\b" % name, first)):
            missing.append(path + ": " + name)
print(json.dumps({"missing": missing, "absent": sorted(absent), "seen": seen}))
"""


def ask(wanted: list[tuple[str, list[str]]]) -> dict[str, object]:
    done = subprocess.run([PYTHON, "-c", ASK], input=json.dumps(wanted), capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def wanted() -> list[tuple[str, list[str]]]:
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "src/rules").rglob("*.cc")):
        if path.name.endswith("_test.cc"):
            continue
        for text in texts(path.read_text()):
            for name, named in calls(text):
                where = path_of(name)
                if where is not None:
                    found.setdefault(where, set()).update(named)
    return [(where, sorted(named)) for where, named in sorted(found.items())]


class Reading(unittest.TestCase):
    def test_calls_are_found_in_joined_texts(self) -> None:
        (text,) = filter(None, texts('f("DataLoader(dataset, " "num_workers=" + std::to_string(n) + ", pin_memory=True)");'))
        self.assertEqual(list(calls(text)), [("DataLoader", {"num_workers", "pin_memory"})])
        self.assertEqual(list(calls("x.to(device, non_blocking=True)")), [("x.to", {"non_blocking"})])
        self.assertEqual(path_of("x.to"), "torch.Tensor.to")
        with self.assertRaises(AssertionError):
            path_of("Trainer")


@unittest.skipUnless(WANTED, "make test-torch runs these")
class Arguments(unittest.TestCase):
    def test_those_of_fixes_exist(self) -> None:
        asked = ask(wanted())
        self.assertEqual(asked["missing"], [])
        self.assertGreater(asked["seen"], 20)
        # What is not installed is reported, not passed over.
        for path in asked["absent"]:  # type: ignore[attr-defined]
            print(f"not installed, so not checked: {path}", file=sys.stderr)
            self.assertFalse(path.startswith("torch."), path)

    def test_those_that_do_not_exist_are_told(self) -> None:
        wrong = [("torch.zeros", ["dtype", "devise"]), ("torch.utils.data.DataLoader", ["workers"]), ("torch.optim.SGD", ["fused"])]
        self.assertEqual(ask(wrong)["missing"], ["torch.zeros: devise", "torch.utils.data.DataLoader: workers"])

    def test_optimizers_have_the_implementations_that_the_rule_names(self) -> None:
        source = (ROOT / "src/rules/kernels/unfused_optimizer.cc").read_text()
        rows = re.findall(r'\{"(\w+)", (true|false)(?:, false)?\}', source[source.index("kImplementations =") :])
        self.assertIn("Adafactor", [name for name, _ in rows])
        asked = [(f"torch.optim.{name}", ["foreach", *(["fused"] if fused == "true" else [])]) for name, fused in rows]
        self.assertEqual(ask(asked)["missing"], [])


if __name__ == "__main__":
    unittest.main()
