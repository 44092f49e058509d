"""What fathom.bench() measured, as Python has it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathom import _core
from fathom._errors import FathomError


@dataclass(frozen=True)
class BenchSide:
    """One side of one metric. A percentile that the sample is too small for is None.

    Where `steadiness` is "never_steady" there is no one level, and so no interval of the median and
    no percentile. Where another level came before the one that lasts, that one has `steady_median`.
    """

    count: int
    median: float
    median_interval: tuple[float, float] | None
    mean: float
    stddev: float
    min: float
    max: float
    p95: float | None
    p95_reason: str
    p99: float | None
    p99_reason: str
    outliers: int
    autocorrelation: float
    steadiness: str | None
    steady_after: int | None
    steady_median: float | None

    @staticmethod
    def of(found: Mapping[str, Any]) -> BenchSide:
        interval = found["median_interval"]
        return BenchSide(
            **{**found, "median_interval": None if interval is None else tuple(interval)}
        )


@dataclass(frozen=True)
class BenchMetric:
    """What was measured, side by side. `base`, `verdict` … are None for a function alone."""

    metric: str
    unit: str
    definition: str | None  # what it is, where its name does not say it all
    base: BenchSide | None
    new: BenchSide
    verdict: str | None
    reason: str | None
    ratio: float | None
    ratio_interval: tuple[float, float] | None
    p: float | None
    clocks_differ: bool  # of GPUs, and cycles do not say the same: nothing is claimed

    @staticmethod
    def of(found: Mapping[str, Any]) -> BenchMetric:
        interval = found["ratio_interval"]
        return BenchMetric(
            metric=found["metric"],
            unit=found["unit"],
            definition=found["definition"],
            base=None if found["base"] is None else BenchSide.of(found["base"]),
            new=BenchSide.of(found["new"]),
            verdict=found["verdict"],
            reason=found["reason"],
            ratio=found["ratio"],
            ratio_interval=None if interval is None else (interval[0], interval[1]),
            p=found["p"],
            clocks_differ=found["clocks_differ"],
        )


class BenchResult:
    """What fathom.bench() measured. Printed, it is one screen; a notebook shows a table."""

    def __init__(self, measured: _core.Measured) -> None:
        self._measured = measured
        self._summary: dict[str, Any] = json.loads(measured.json(runs=False))
        self.metrics: tuple[BenchMetric, ...] = tuple(
            BenchMetric.of(each) for each in self._summary["metrics"]
        )

    def _joined(self, later: BenchResult) -> BenchResult:
        """With what was measured of the same function later. This one is used up by it."""
        self._measured.join(later._measured)
        return BenchResult(self._measured)

    @property
    def headline(self) -> BenchMetric:
        """The metric that decides. Raises where nothing was complete."""
        if not self.metrics:
            raise FathomError("nothing was measured completely", "not_found")
        return self.metrics[0]

    def __getitem__(self, metric: str) -> BenchMetric:
        for each in self.metrics:
            if each.metric == metric:
                return each
        names = ", ".join(each.metric for each in self.metrics)
        raise KeyError(f"{metric}; there are: {names}")

    @property
    def new(self) -> BenchSide:
        return self.headline.new

    @property
    def base(self) -> BenchSide | None:
        return self.headline.base

    @property
    def verdict(self) -> str | None:
        """faster, slower, same or cannot_tell; None for a function alone."""
        return self.headline.verdict

    @property
    def reason(self) -> str | None:
        """Why the result is unknown; else empty."""
        return self.headline.reason

    @property
    def ratio(self) -> float | None:
        """The new by the base."""
        return self.headline.ratio

    @property
    def ratio_interval(self) -> tuple[float, float] | None:
        return self.headline.ratio_interval

    @property
    def mode(self) -> str:
        """events or wall: how it was timed."""
        return str(self._summary["function"]["mode"])

    @property
    def l2(self) -> str | None:
        """cold or warm before each call; None without a device, or where it was left alone."""
        found: str | None = self._summary["function"]["l2"]
        return found

    @property
    def launches(self) -> str | None:
        """seen or hidden, where events timed; else None."""
        found: str | None = self._summary["function"]["launches"]
        return found

    @property
    def first_call_ns(self) -> tuple[float | None, float | None]:
        """Of base and new; not counted in anything else."""
        found = self._summary["function"]["first_call_ns"]
        return found["base"], found["new"]

    @property
    def calls(self) -> tuple[int | None, int]:
        """Of base and new, in each sample."""
        found = self._summary["function"]["calls"]
        return found["base"], found["new"]

    @property
    def pairs(self) -> int:
        return int(self._summary["pairs"])

    @property
    def seed(self) -> int:
        return int(self._summary["plan"]["seed"])

    @property
    def stopped(self) -> str:
        """runs, time, precise, undecidable or interrupted."""
        return str(self._summary["stopped"])

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._summary["function"]["notes"])

    def clocks_forbid(
        self,
        costs: list[float],
        best: BenchResult,
        best_costs: list[float],
        standing: str,
        resolution: float,
    ) -> str:
        """Why these costs cannot stand so against the best of a sweep; empty where they can."""
        return _core.clocks_forbid(
            best._measured, best_costs, self._measured, costs, standing, resolution
        )

    def values(self) -> tuple[list[float], list[float]]:
        """Nanoseconds per call of complete pairs: of the base (empty without one), of the new."""
        return self._measured.values()

    def claim(self) -> str:
        """The verdict as a line; empty for a function alone."""
        return self._measured.claim()

    def to_dict(self) -> dict[str, Any]:
        """Schema fathom.bench/1, as of `fathom bench --json`, and `function`."""
        found: dict[str, Any] = json.loads(self._measured.json())
        return found

    def to_json(self) -> str:
        return self._measured.json()

    def save(self, path: str | pathlib.Path) -> None:
        pathlib.Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def to_text(self, width: int = 100) -> str:
        return self._measured.text(width)

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def __repr__(self) -> str:
        return f"<fathom bench: {self.claim() or f'{self.pairs} samples'}>"

    def _repr_html_(self) -> str:
        return self._measured.html()
