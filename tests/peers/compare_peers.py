#!/usr/bin/env python3
"""Compares fathom's tables with what other tools published for the same traces.

    tests/peers/compare_peers.py             every comparable cell; exit code 1 when one differs unexplained
    tests/peers/compare_peers.py --list      also prints the cells on the exceptions list

A cell is equal when the numbers differ by no more than the rounding of the published one. A cell that differs must be
on the list exceptions.json, with the reason; what both tools mean there is recomputed from the trace by explain.py,
and both published and our number must equal what is recomputed. Of the cells where the tools mean the same thing at
most 2 % may be on the list. FATHOM names the binary, FATHOM_DATA the folder of further traces; those that are not
there are left out.
"""
from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import pathlib
import re
import sys

import explain
import hta_cells
import tb_plugin_cells
import tracelens_cells
import tracelens_roofline_cells
from cells import Cell

TOOLS = (tracelens_cells, tracelens_roofline_cells, tb_plugin_cells, hta_cells)
LIST = pathlib.Path(__file__).with_name("exceptions.json")
MOST_EXCEPTIONS = 0.02


def pattern(glob: str) -> re.Pattern[str]:
    """`*` stands for anything; kernel names are full of brackets, which stand for themselves."""
    return re.compile(fnmatch.translate(re.sub(r"([\[?])", r"[\1]", glob)))


class Exceptions:
    def __init__(self) -> None:
        self.entries = json.loads(LIST.read_text(encoding="utf-8"))
        self.patterns = [pattern(entry["cells"]) for entry in self.entries]
        self.used = [0] * len(self.entries)
        self.pairs: dict[str, explain.Pairs] = {}

    def find(self, cell: Cell) -> dict | None:
        for i, matcher in enumerate(self.patterns):
            if matcher.fullmatch(cell.id):
                self.used[i] += 1
                return self.entries[i]
        return None

    def problem(self, cell: Cell, entry: dict) -> str | None:
        """Why the explanation does not hold, or None."""
        name = entry["explained_by"]
        if name is None:
            return None
        if name not in self.pairs:
            self.pairs[name] = explain.EXPLANATIONS[name]()
        if cell.id not in self.pairs[name]:
            return f"{name} does not recompute it"
        for published, recomputed in zip((cell.theirs, cell.ours), self.pairs[name][cell.id], strict=True):
            if recomputed is not None and not Cell(cell.id, published, recomputed, cell.tolerance).equal():
                return f"{name} recomputes {recomputed}, not {published}"
        return None


def judge(cell: Cell, exceptions: Exceptions) -> tuple[str, str]:
    """("equal" | "exception" | "other meaning" | "wrong", why)"""
    if cell.equal():
        return "equal", ""
    entry = exceptions.find(cell)
    if entry is None:
        return "wrong", f"published {cell.theirs}, ours {cell.ours}, tolerance {cell.tolerance}"
    problem = exceptions.problem(cell, entry)
    if problem:
        return "wrong", problem
    return ("exception" if entry["same_meaning"] else "other meaning"), entry["reason"]


def compare(show_list: bool = False) -> int:
    exceptions = Exceptions()
    counts: dict[str, collections.Counter[str]] = {}
    wrong = []
    for tool in TOOLS:
        for cell in tool.cells():
            verdict, why = judge(cell, exceptions)
            counts.setdefault(tool.TOOL, collections.Counter())[verdict] += 1
            if verdict == "wrong":
                wrong.append(f"{cell.id}: {why}")
            elif show_list and verdict != "equal":
                print(f"{verdict}: {cell.id}: published {cell.theirs}, ours {cell.ours}\n    {why}")
    failed = bool(wrong)
    for tool_name, count in counts.items():
        same = count["equal"] + count["exception"] + count["wrong"]
        share = count["exception"] / max(same, 1)
        failed = failed or share > MOST_EXCEPTIONS
        print(f"{tool_name}: {count['equal']} of {same} cells equal, {count['exception']} on the exceptions list "
              f"({100 * share:.2f} %), {count['wrong']} wrong; {count['other meaning']} where the tool means something "
              "else, recomputed")
    for line in wrong[:40]:
        print("WRONG", line)
    if not counts:
        print("no traces to compare on")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--list", action="store_true", help="print the cells on the exceptions list")
    sys.exit(compare(parser.parse_args().list))
