"""What tools/eval prints: tables of scores, rules, pairs and failures, as markdown."""

from __future__ import annotations

import collections
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from illness_changes import Change
from illness_score import Judgement, Pair, Score, percent, quantile, ratio


def table(head: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    text = [tuple(str(value).replace("|", "\\|") for value in row) for row in [head, *rows]]
    lines = ["| " + " | ".join(row) + " |" for row in text]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in head) + " |", *lines[1:]]) + "\n"


def summary_part(columns: dict[str, list[Judgement]]) -> str:
    scores = {name: Score.of(judgements) for name, judgements in columns.items()}
    some = next(iter(scores.values()))
    rows: list[tuple[object, ...]] = []

    def row(name: str, value: Callable[[Score], object]) -> None:
        rows.append((name, *(value(score) for score in scores.values())))

    row("verdict right", lambda s: f"{s.verdicts} of {s.traces} ({percent(ratio(s.verdicts, s.traces))})")
    row("required findings that were made (recall)", lambda s: f"{s.met} of {s.demanded} ({percent(s.recall)})")
    rows.append(("the same among the first three", f"{some.among_first} of {some.demanded} ({percent(some.first_recall)})", "–", "–"))
    row(
        "judged findings that are true, number included (precision)",
        lambda s: f"{s.true} of {s.true + s.false} ({percent(s.precision)})",
    )
    row("findings that no label judges", lambda s: s.unjudged)
    row("precision if those count as wrong", lambda s: percent(s.strict_precision))
    rows.append(("times that are what their events sum to, or within its bounds", f"{some.numbers_right} of {some.numbers}", "–", "–"))
    rows.append(("one cause as two of the first three findings", some.twice, "–", "–"))
    rows.append(("fixes that change results or do not apply", some.harmful, "–", "–"))
    return f"{some.traces} labelled traces.\n\n" + table(("", *scores), rows)


def rules_part(judgements: list[Judgement]) -> str:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    seen: dict[str, set[str]] = collections.defaultdict(set)
    for each in judgements:
        for result in each.answer.document.get("rules", []):
            counts[result["rule"]][result["outcome"]] += 1
            if result["outcome"] == "found":
                seen[result["rule"]].add(each.name)
        for rule in each.label["must"]:
            counts[rule]["asked"] += 1
            counts[rule]["met"] += rule in each.answer.found
        for rule in each.true:
            counts[rule]["true"] += 1
        for rule in each.false:
            counts[rule]["false"] += 1
        for rule in each.unjudged:
            counts[rule]["unjudged"] += 1
    rows = [
        (
            f"`{rule}`",
            c["found"],
            c["silent"],
            c["abstained"],
            f"{c['met']} of {c['asked']}" if c["asked"] else "–",
            c["true"],
            c["false"],
            c["unjudged"],
            "" if c["found"] else "never seen on real data",
        )
        for rule, c in sorted(counts.items())
    ]
    return table(("rule", "found", "silent", "abstained", "required", "true", "false", "unjudged", ""), rows)


def spread(errors: list[float]) -> str:
    sizes = [abs(error) for error in errors]
    return (
        f"the error's median is {percent(statistics.median(sizes))}, its 90th percentile {percent(quantile(sizes, 0.9))}"
    )


def changes_part(changes: list[Change], made: list[Pair]) -> str:
    rows = [
        (
            each.about,
            f"{each.before_ns / 1e6:.2f} ms",
            f"{each.predicted_ns / 1e6:.2f} ms",
            f"{each.measured_ns / 1e6:.2f} ms",
            f"{100 * each.error:+.1f} %",
        )
        for each in changes
    ]
    if not rows:
        return "None.\n"
    errors = [each.error for each in changes] + [each.error for each in made]
    text = table(("change", "before", "predicted", "recorded", "error"), rows)
    return text + f"\nThese and the training pairs together, {len(errors)} predictions: {spread(errors)}.\n"


def residuals_part(judgements: list[Judgement]) -> str:
    found = [
        (each.name, each.answer.document)
        for each in judgements
        if "pair" not in each.label and "replay_residual_percent" in each.answer.document
    ]
    found.sort(key=lambda each: -each[1]["replay_residual_percent"])
    rows = [
        (
            name,
            document["baseline"]["steps"],
            f"{document['baseline']['step_mean_ns'] / 1e6:.2f} ms",
            f"{document['replay_residual_percent']:.2f} %",
        )
        for name, document in found
    ]
    return table(("trace", "steps", "step", "unexplained"), rows)


def pairs_part(made: list[Pair], none: list[str]) -> str:
    rows = [
        (
            each.name,
            percent(each.promised[1]),
            f"{percent(each.promised[0])} … {percent(each.promised[2])}",
            percent(each.recorded),
            f"{100 * each.error:+.0f} %",
            "yes" if each.inside else "no",
            percent(each.promised_unprofiled),
            percent(each.unprofiled),
            "–" if each.unprofiled_error is None else f"{100 * each.unprofiled_error:+.0f} %",
        )
        for each in made
    ]
    text = table(
        (
            "pair",
            "predicted",
            "interval",
            "after, recorded",
            "error",
            "inside",
            "predicted, unprofiled",
            "after, unprofiled",
            "error",
        ),
        rows,
    )
    if made:
        inside = sum(each.inside for each in made)
        unprofiled = [each.unprofiled_error for each in made if each.unprofiled_error is not None]
        text += (
            f"\nStep times as parts of the one before the change. {len(made)} pairs: {spread([each.error for each in made])}; "
            f"{inside} lie inside the interval."
        )
        if unprofiled:
            text += f" Against times without a profiler: {spread(unprofiled)}."
        text += "\n"
    if none:
        text += f"\nNothing was predicted for: {', '.join(sorted(none))}.\n"
    return text


def failures_part(judgements: list[Judgement]) -> str:
    rows = []
    for each in judgements:
        if each.answer.failure:
            rows.append((each.name, "no answer", each.answer.failure))
            continue
        if not each.verdict_right:
            rows.append(
                (
                    each.name,
                    f"is {each.answer.verdict}, not {' or '.join(each.label['verdict'])}",
                    each.label["verdict_reason"],
                )
            )
        rows += [(each.name, f"`{rules}` finds nothing", reason) for rules, reason in each.missed]
        for rule in sorted(each.false):
            by_number = rule in each.wrong_numbers
            what = f"`{rule}` says another time" if by_number else f"`{rule}` finds something"
            rows.append((each.name, what, each.wrong_numbers[rule] if by_number else each.label["must_not"][rule]))
        rows += [(each.name, f"the fix of `{rule}`", reason) for rule, reason in each.harmful]
    return table(("trace", "what is wrong", "what the label says"), rows) if rows else "None.\n"


def made_parts(
    columns: dict[str, list[Judgement]],
    recorded: tuple[list[Pair], list[str]],
    kept: tuple[list[Pair], list[str]],
    gpu: tuple[list[Pair], list[str]],
    changes: list[Change],
) -> dict[str, str]:
    ours = columns["fathom"]
    return {
        "summary": summary_part(columns),
        "rules": rules_part(ours),
        "pairs": pairs_part(*recorded),
        "kept": pairs_part(*kept),
        "gpu": pairs_part(*gpu) if any(gpu) else "None yet: no machine with a GPU was at hand.\n",
        "changes": changes_part(changes, recorded[0]),
        "residuals": residuals_part(ours),
        "failures": failures_part(ours),
    }
