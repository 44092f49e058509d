"""What another build of the program says otherwise about labelled traces, and whether that is better. For tools/eval --against."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Standing:
    """What is right and wrong about one trace."""

    trace: str
    verdict: str
    points: float  # 1: right, 0.5: arguable
    wrong: set[str] = field(default_factory=set)  # false findings, missed ones, harmful fixes: a line each


KINDS = ("verdict", "false", "missing", "not among the first", "harmful fix")


def kind_of(line: str) -> str:
    """Of what a line says: a verdict, or one of the kinds of errors."""
    return next((kind for kind in KINDS[1:] if f" {kind}: " in line), KINDS[0])


def counts(lines: list[str]) -> str:
    """The changes by kind, as a table of markdown."""
    rows = ["| | worse | better |", "| --- | --- | --- |"]
    for kind in KINDS:
        of = [line for line in lines if kind_of(line) == kind]
        worse, better = (sum(line.startswith(f"{how}: ") for line in of) for how in ("worse", "better"))
        rows.append(f"| {kind} | {worse} | {better} |")
    return "\n".join(rows)


def differences(before: list[Standing], after: list[Standing]) -> list[str]:
    """A line for each change, those for the worse first."""
    earlier = {each.trace: each for each in before}
    worse, better, other = [], [], []
    for now in after:
        then = earlier[now.trace]
        if now.verdict != then.verdict:
            lines = worse if now.points < then.points else better if now.points > then.points else other
            lines.append(f"{now.trace}: verdict {then.verdict} ({then.points:g}) is now {now.verdict} ({now.points:g})")
        worse += [f"{now.trace}: now {line}" for line in sorted(now.wrong - then.wrong)]
        better += [f"{now.trace}: no longer {line}" for line in sorted(then.wrong - now.wrong)]
    named = [("worse", worse), ("better", better), ("neither", other)]
    lines = [f"{name}: {line}" for name, of in named for line in of]
    return [*lines, counts(lines), ", ".join(f"{len(of)} {name}" for name, of in named)]
