"""What tools/eval publishes of the labels of another reader, and of leaving one source out, as markdown."""

from __future__ import annotations

from collections import Counter

from held_out import (
    BUILT_IN,
    Sample,
    Thresholds,
    by_confidence,
    by_source,
    chosen_without,
    false_high,
    held_out_high,
    held_out_points,
    held_out_rules,
    points,
)
from illness_parts import table
from illness_score import percent
from independent_score import Judged, Totals, share, wilson
from independent_sums import Compared, by_rule


def independent_part(all_judged: list[Judged]) -> str:
    return f"{len(all_judged)} traces.\n\n" + table(("", "fathom"), list(Totals.of(all_judged).rows()))


def held_out_part(tuned: list[Sample], others: list[Sample]) -> str:
    samples = tuned + others
    count, rules = len(samples), held_out_rules(samples)
    chosen = chosen_without(samples)
    reproduced = sum(bool(each.families) for each in samples)
    true, false = sum(rule.true for rule in rules), sum(rule.false for rule in rules)
    kept_true, kept_false = sum(rule.kept_true for rule in rules), sum(rule.kept_false for rule in rules)
    rows = [
        (f"verdict right, {name}", share(points(of, BUILT_IN), len(of)), share(held_out_points(of, chosen), len(of)))
        for name, of in (("all", samples), ("of another reader's traces", others))
    ] + [
        ("judged findings that are true", share(true, true + false), share(kept_true, kept_true + kept_false)),
        ("true findings that are made", share(true, true), share(kept_true, true)),
    ]
    text = f"{count} traces of {len(by_source(samples))} sources.\n\n"
    text += table(("", "built-in thresholds", "chosen without the source"), rows)
    best, times = Counter(chosen.values()).most_common(1)[0]
    text += (
        f"\nThe model of the verdict gives the program's own for {share(reproduced, count)}; others keep the program's. Built in:"
        f" {words(BUILT_IN)}. Chosen most often, for {times} of {len(chosen)} sources: {words(best)}.\n\n"
    )
    changed = [
        (f"`{rule.name}`", rule.sources, rule.raised, f"{rule.true} of {rule.true + rule.false}",
         f"{rule.kept_true} of {rule.kept_true + rule.kept_false}")
        for rule in rules
        if rule.raised
    ]  # fmt: skip
    if changed:
        text += "Rules whose least share another one is chosen for:\n\n"
        text += table(("rule", "sources", "of them with another share", "true", "true, chosen without the source"), changed)
    return text


def calibration_part(tuned: list[Sample], others: list[Sample]) -> str:
    both = tuned + others
    rows = [
        (name, *(counted(by_confidence(of)[key]) for key in ("high", "lower")), counted(held_out_high(of)))
        for name, of in (("tuned on, relabelled", tuned), ("labelled by another reader", others), ("all", both))
    ]
    head = ("findings that are true", "high confidence", "medium or low", "high, chosen without the source")
    text = table(head, rows) + "\nIn brackets: Wilson's 95 % interval.\n"
    false = ", ".join(f"`{rule}` ({some} of {every})" for rule, (some, every) in false_high(both).items())
    return text + (f"Of high confidence and false: {false}.\n" if false else "")


def sums_part(compared: list[Compared]) -> str:
    rows = [
        (f"`{rule}`", f"{agreeing} of {count}" if not bounded else "", f"{agreeing} of {count}" if bounded else "")
        for rule, bounded, agreeing, count in by_rule(compared)
    ]
    sums = [each for each in compared if not each.bounded]
    right = sum(each.agrees for each in sums)
    return table(("rule", "within 2 % of the sum", "at most what events sum to"), rows) + f"\n{share(right, len(sums))} within 2 %.\n"


def words(by: Thresholds) -> str:
    return (
        f"a loss of {by.loss:g} % of the step and {by.weight:g} of what the device computes, {by.unexplained:g} % without a cause,"
        f" {by.computing:g} % computing"
    )


def counted(of: tuple[int, int]) -> str:
    true, every = of
    if every == 0:
        return "–"
    low, high = wilson(true, every)
    return f"{share(true, every)} [{percent(low)} to {percent(high)}]"
