"""Results over several values: sweeps and crossovers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fathom import _core
from fathom._bench_result import BenchResult


class BenchSweep:
    """A result for each point of a sweep, in the order in which the values were given."""

    def __init__(
        self,
        points: Sequence[tuple[dict[str, Any], BenchResult]],
        per: str | None,
        resolution: float,
    ) -> None:
        self.points = tuple(points)
        self.per = per
        self.resolution = resolution

    def __iter__(self) -> Iterator[tuple[dict[str, Any], BenchResult]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def cost(self, place: int) -> float | None:
        """The median of the new at that point; with `per`, by its value. In nanoseconds."""
        values, result = self.points[place]
        if not result.metrics:
            return None
        return result.new.median / float(values[self.per]) if self.per else result.new.median

    @property
    def knee(self) -> dict[str, Any] | None:
        """The smallest value whose cost is not worse than the best within the resolution.

        Of one swept name whose values are numbers; else None.
        """
        if not self.points or len(self.points[0][0]) != 1:
            return None
        values = [next(iter(point.values())) for point, _ in self.points]
        if not all(isinstance(value, (int, float)) for value in values):
            return None
        costs = [self.cost(place) for place in range(len(self.points))]
        found = _core.knee([float(value) for value in values], costs, self.resolution)
        return None if found is None else self.points[found][0]

    def to_dict(self) -> list[dict[str, Any]]:
        return [{"values": values, "result": result.to_dict()} for values, result in self.points]

    def rows(self) -> list[list[str]]:
        """The cells of the table, its head first."""
        names = list(self.points[0][0]) if self.points else []
        paired = any(result.metrics and result.base for _, result in self.points)
        head = [*names, *(["base"] if paired else []), "new"]
        head += [f"new per {self.per}"] if self.per else []
        rows = [[*head, *(["verdict"] if paired else [])]]
        for place, (values, result) in enumerate(self.points):
            row = [str(value) for value in values.values()]
            if not result.metrics:
                rows.append([*row, "–"])
                continue
            if paired and result.base:
                row.append(_core.value_text(result.base.median, "ns"))
            row.append(_core.value_text(result.new.median, "ns"))
            cost = self.cost(place)
            row += [_core.value_text(cost, "ns")] if self.per and cost is not None else []
            rows.append([*row, *([result.claim()] if paired else [])])
        return rows

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in itertools.zip_longest(*rows, fillvalue="")]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
            for row in rows
        ]
        knee = self.knee
        if knee is not None:
            (name, value), *_ = knee.items()
            lines.append(f"knee: {name}={value}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        head, *rows = self.rows()
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        knee = "" if self.knee is None else f"<p>knee: {escape(str(self.knee))}</p>"
        return f"<table><tr>{cells}</tr>{body}</table>{knee}"


@dataclass(frozen=True)
class BenchCrossover:
    """At which size the new became faster, and all that was measured on the way, by size."""

    faster_from: int | None
    not_faster_at: int | None
    points: tuple[tuple[int, BenchResult], ...]

    def __str__(self) -> str:
        lines = [f"n={size}: {result.claim()}" for size, result in self.points]
        if self.faster_from is None:
            return "\n".join([*lines, "the new is not faster at any size that was measured"])
        below = (
            ""
            if self.not_faster_at is None
            else f", not known to be faster at {self.not_faster_at}"
        )
        return "\n".join([*lines, f"the new is faster from {self.faster_from} on{below}"])
