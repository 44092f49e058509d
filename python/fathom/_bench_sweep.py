"""Results over several values: sweeps and crossovers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fathom import _core
from fathom._bench_result import BenchResult


class BenchSweep:
    """A result for each point of a sweep, in the order in which the values were given.

    `rounds` has the median of each point in each round, in nanoseconds: in a round all points are
    measured, in random order.
    """

    def __init__(
        self,
        points: Sequence[tuple[dict[str, Any], BenchResult]],
        per: str | None,
        resolution: float,
        rounds: Sequence[Sequence[float]],
    ) -> None:
        self.points = tuple(points)
        self.per = per
        self.resolution = resolution
        self.rounds = tuple(tuple(each) for each in rounds)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], BenchResult]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def paired(self) -> bool:
        """Was it measured against something?"""
        return any(result.metrics and result.base for _, result in self.points)

    def cost(self, place: int) -> float | None:
        """The median of the new at that point; with `per`, by its value. In nanoseconds."""
        values, result = self.points[place]
        if not result.metrics:
            return None
        return result.new.median / float(values[self.per]) if self.per else result.new.median

    def _costs(self, place: int, times: Sequence[float]) -> list[float]:
        values, result = self.points[place]
        if not result.metrics:
            return []
        by = float(values[self.per]) if self.per else 1.0
        return [time / by for time in times]

    def _found(self) -> tuple[_core.Knee, dict[int, str]] | None:
        if not self.points or len(self.points[0][0]) != 1 or self.paired:
            return None
        given = [next(iter(point.values())) for point, _ in self.points]
        if not all(isinstance(value, (int, float)) for value in given):
            return None
        values = [float(value) for value in given]
        complete = min(map(len, self.rounds))
        costs = [self._costs(place, each[:complete]) for place, each in enumerate(self.rounds)]
        knee = _core.find_knee(values, costs, self.resolution)
        forbidden = self._forbidden(knee)
        knee.withhold(list(forbidden), values)
        return knee, forbidden

    def _forbidden(self, found: _core.Knee) -> dict[int, str]:
        """By place: why clocks do not allow to say how it stands against the best."""
        if found.best is None:
            return {}
        best = self.points[found.best][1]
        costs = [
            self._costs(place, result.values()[1]) for place, (_, result) in enumerate(self.points)
        ]
        forbidden = {}
        for place, (_, result) in enumerate(self.points):
            standing = found.standing(place)
            if standing is None:
                continue
            why = result.clocks_forbid(
                costs[place], best, costs[found.best], standing, self.resolution
            )
            if why:
                forbidden[place] = why
        return forbidden

    @property
    def clocks(self) -> tuple[tuple[dict[str, Any], str], ...]:
        """Values whose result is unknown, as the device had other clocks than at the best."""
        found = self._found()
        if found is None:
            return ()
        return tuple((self.points[place][0], why) for place, why in found[1].items())

    @property
    def knee(self) -> dict[str, Any] | None:
        """The smallest value that is certainly as good as the best within the resolution.

        Of one function and one swept name whose values are numbers; else None. So it is where the
        best has fewer than 6 rounds.
        """
        found = self._found()
        knee = None if found is None else found[0].knee
        return None if knee is None else self.points[knee][0]

    @property
    def perhaps(self) -> tuple[dict[str, Any], ...]:
        """Smaller values than the knee for which that is unknown."""
        found = self._found()
        return () if found is None else tuple(self.points[place][0] for place in found[0].perhaps)

    def verdicts(self) -> list[str | None]:
        """Of each point, at a false discovery rate of 5 % over all of them; None where none is."""
        judged = [
            place
            for place, (_, result) in enumerate(self.points)
            if result.metrics and result.verdict is not None
        ]
        results = [self.points[place][1] for place in judged]
        found = _core.judge_together(
            [str(result.verdict) for result in results],
            [result.headline.p for result in results],
        )
        by_place = dict(zip(judged, found, strict=True))
        return [by_place.get(place) for place in range(len(self.points))]

    def to_dict(self) -> list[dict[str, Any]]:
        return [{"values": values, "result": result.to_dict()} for values, result in self.points]

    def rows(self) -> list[list[str]]:
        """The cells of the table, its head first."""
        names = list(self.points[0][0]) if self.points else []
        paired = self.paired
        verdicts = self.verdicts()
        head = [*names, *(["base"] if paired else []), "new"]
        head += [f"new per {self.per}"] if self.per else []
        rows = [[*head, *(["verdict"] if paired else [])]]
        for place, (values, result) in enumerate(self.points):
            row = [str(value) for value in values.values()]
            if not result.metrics:
                rows.append([*row, "–"])
                continue
            if paired and result.base:
                row.append(_core.value_text(result.base.median))
            row.append(_core.value_text(result.new.median))
            cost = self.cost(place)
            row += [_core.value_text(cost)] if self.per and cost is not None else []
            rows.append([*row, *([self._claim(place, verdicts[place])] if paired else [])])
        return rows

    def _claim(self, place: int, verdict: str | None) -> str:
        result = self.points[place][1]
        if verdict == result.verdict:
            return result.claim()
        return f"cannot tell; of {len(self.points)} rows one may look so by chance"

    def _knee_text(self) -> str:
        knee = self.knee
        if knee is None:
            return ""
        (name, value), *_ = knee.items()
        text = f"knee: {name}={value}"
        perhaps = ", ".join(str(each[name]) for each in self.perhaps)
        text += f"; unknown for {perhaps}" if perhaps else ""
        clocks = "; ".join(f"at {name}={each[name]} {why}" for each, why in self.clocks)
        return f"{text}; clocks differ: {clocks}" if clocks else text

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in itertools.zip_longest(*rows, fillvalue="")]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
            for row in rows
        ]
        knee = self._knee_text()
        return "\n".join([*lines, knee] if knee else lines)

    def _repr_html_(self) -> str:
        from html import escape

        head, *rows = self.rows()
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        knee = self._knee_text()
        below = f"<p>{escape(knee)}</p>" if knee else ""
        return f"<table><tr>{cells}</tr>{body}</table>{below}"


@dataclass(frozen=True)
class BenchCrossover:
    """At which size the new began to cost no more, and all that was measured on the way, by size.

    `slower_up_to` and `faster_from` are by the medians: the largest size that was measured at which
    it still cost more, and the smallest at which it did not. Certain, at a false discovery rate of
    5 % over all sizes, is that it costs more at `surely_slower` and less at `surely_faster`.
    `with_copies` is the same of what copies its data too, where that was given.
    """

    slower_up_to: int | None
    faster_from: int | None
    surely_slower: int | None
    surely_faster: int | None
    points: tuple[tuple[int, BenchResult], ...]
    with_copies: BenchCrossover | None = None

    def __str__(self) -> str:
        if self.with_copies is None:
            return self._text()
        return f"without copies\n{self._text()}\nwith copies\n{self.with_copies}"

    def _text(self) -> str:
        lines = [f"n={size}: {result.claim()}" for size, result in self.points]
        if not self.points:
            return "nothing was measured"
        if self.faster_from is None:
            more = self.surely_slower
            certain = "nothing of it is certain" if more is None else f"certain: more at {more}"
            all_sizes = "the new costs more at all sizes that were measured, by the medians"
            return "\n".join([*lines, f"{all_sizes}; {certain}"])
        found = f"the new costs no more from {self.faster_from} on"
        if self.slower_up_to is not None:
            found += f"; at {self.slower_up_to} it still does"
        sure = [
            f"{word} at {size}"
            for word, size in (("more", self.surely_slower), ("less", self.surely_faster))
            if size is not None
        ]
        certain = f"certain: {', '.join(sure)}" if sure else "nothing of it is certain"
        return "\n".join([*lines, f"{found}, by the medians; {certain}"])
