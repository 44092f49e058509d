#!/usr/bin/env python3
"""Chooses the numbers that order findings once more for each source, by the labels of all others.

    tools/order_left_out.py [LABELS…]     our labels, and those of such files with the traces beside them

The order is made anew from what `fathom diagnose --json` says of each finding, as src/engine/diagnosis/cards.cc does:
by what it saves by itself, and a part of what it saves after the others; low confidence counts less; what is
next to nothing is ordered by severity. Prints, of the required findings, how many are among the first three: with
the built-in numbers, and for each source with those that are best on the others. FATHOM names the binary.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import itertools
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import every_finding  # noqa: E402
import held_out  # noqa: E402
import illness_score  # noqa: E402
import independent_score  # noqa: E402
import independent_traces  # noqa: E402


class Numbers(NamedTuple):
    after: float  # the part of what is saved after the others
    unsure: float  # what a low confidence counts
    tie: float  # percent of the step below which severity orders


BUILT_IN = Numbers(0.25, 0.5, 0.5)
GRID = [Numbers(*each) for each in itertools.product((0, 0.25, 0.5, 0.75, 1), (0.25, 0.5, 0.75, 1), (0, 0.5, 1))]
SEVERITY = ("critical", "warning", "note")


class Trace(NamedTuple):
    source: str
    document: dict[str, Any]
    demands: list[tuple[list[str], str]]  # rules, and what one of them has to say


def alone(finding: dict[str, Any]) -> float:
    after = finding["predicted_step_ns"]
    return float(finding["step_ns"] - after["likely"] if after else finding["upper_bound_ns"])


def ordered(document: dict[str, Any], numbers: Numbers) -> list[dict[str, Any]]:
    """Cards keep their findings; what stands first whatever it saves has no number."""

    def sure(card: dict[str, Any]) -> float:
        return numbers.unsure if card["confidence"] == "low" else 1

    def key(card: dict[str, Any]) -> tuple[float, int, float]:
        last = card["saves_after_others_ns"]
        now = alone(card)
        worth = sure(card) * (now if last is None else (1 - numbers.after) * now + numbers.after * last)
        worth = worth if worth >= numbers.tie / 100 * card["step_ns"] else 0
        return -worth, SEVERITY.index(card["severity"]), -card["upper_bound_ns"]

    cards = every_finding.shown(document)
    gains = sorted((card for card in cards if card["part"] == "gain"), key=key)
    if gains:
        gains.insert(0, gains.pop(gains.index(max(gains, key=lambda card: sure(card) * alone(card)))))
    where = next((i for i, card in enumerate(cards) if card["part"] == "gain"), 0)
    rest = [card for card in cards if card["part"] != "gain"]
    return rest[:where] + gains + rest[where:]


def among_first(trace: Trace, numbers: Numbers) -> int:
    first = ordered(trace.document, numbers)[: independent_score.FIRST]
    said = [finding for card in first for finding in every_finding.of_card(card)]
    named = trace.document["verdict"]["id"]
    said += [each for each in every_finding.of(trace.document) if each["rule"] == named]
    texts = [(each["rule"], independent_score.claim_text(each) + independent_score.fix_text(each)) for each in said]
    return sum(any(rule in rules and re.search(match, text) for rule, text in texts) for rules, match in trace.demands)


def traces(files: list[Path]) -> list[Trace]:
    loader = importlib.machinery.SourceFileLoader("eval_tool", str(ROOT / "tools/eval"))
    spec = importlib.util.spec_from_loader("eval_tool", loader)
    assert spec is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules["eval_tool"] = tool
    loader.exec_module(tool)
    sources = held_out.sources(ROOT / "tests/data/SOURCES.md")
    made = []
    for each in tool.judge(tool.labelled()[0], tool.diagnose):
        source = sources.get(Path(each.label["trace"]).name, held_out.OWN)
        demands = [(sorted(rules), "") for _, _, rules in illness_score.demands(each.label)]
        made.append(Trace(source, each.answer.document, demands))
    for file in [tool.INDEPENDENT, *files]:
        labels = independent_traces.load(file)
        folders = tool.FOLDERS if file == tool.INDEPENDENT else [file.parent / "kineto", file.parent]
        for each in independent_traces.judge_all(labels, folders, tool.fathom, [])[0]:
            # Traces of one source have names that begin with the same word.
            word = each.name.split("_")[0]
            source = next((sources[name] for name in sources if name.startswith(word)), word)
            demands = [(must["rules"], must.get("match", "")) for must in each.label["must"]]
            made.append(Trace(source, each.document, demands))
    return [each for each in made if each.document and each.demands]


def main() -> int:
    known = traces([Path(name) for name in sys.argv[1:]])
    counts = {numbers: [among_first(trace, numbers) for trace in known] for numbers in {*GRID, BUILT_IN}}
    demanded = [len(trace.demands) for trace in known]
    kept, chosen = 0, []
    for source in sorted({trace.source for trace in known}):
        out = [i for i, trace in enumerate(known) if trace.source == source]
        # Of equally good numbers, those nearest to the middle of the grid.
        best = max(GRID, key=lambda n: (sum(counts[n]) - sum(counts[n][i] for i in out), -abs(n.after - 0.5), -abs(n.unsure - 0.5)))
        kept += sum(counts[best][i] for i in out)
        chosen.append(best)
        print(f"{source}: {sum(counts[best][i] for i in out)} of {sum(demanded[i] for i in out)}, built in {sum(counts[BUILT_IN][i] for i in out)}; {tuple(best)}")
    print(f"{len(known)} traces of {len(chosen)} sources, {sum(demanded)} required findings.")
    print(f"among the first three: built in {sum(counts[BUILT_IN])}, chosen without the source {kept}")
    plain = Numbers(0, 1, 0)
    print(f"by what each saves by itself alone: {sum(counts[plain])}")
    common = max(set(chosen), key=chosen.count)
    print(f"chosen most often, for {chosen.count(common)} of {len(chosen)} sources: {common}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
