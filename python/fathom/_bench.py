"""fathom.bench(): how long does a function take, and is it faster than another?

What is here asks the engine and holds what it answers. Sampling, statistics and verdicts are the
engine's, the same as of `fathom bench`.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import pathlib
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from fathom import _core
from fathom._bench_facts import facts_of_program, random_states
from fathom._errors import FathomError

__all__ = ["BenchCrossover", "BenchMetric", "BenchResult", "BenchSide", "BenchSweep"]

MODES = ("auto", "device", "events", "wall")
L2 = ("cold", "warm")


@dataclass(frozen=True)
class BenchSide:
    """One side of one metric. A percentile that the sample is too small for is None."""

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

    @staticmethod
    def of(found: Mapping[str, Any]) -> BenchSide:
        interval = found["median_interval"]
        return BenchSide(**{**found, "median_interval": None if interval is None else tuple(interval)})


@dataclass(frozen=True)
class BenchMetric:
    """What was measured, side by side. `base`, `verdict` … are None for a function alone."""

    metric: str
    unit: str
    base: BenchSide | None
    new: BenchSide
    verdict: str | None
    reason: str | None
    ratio: float | None
    ratio_interval: tuple[float, float] | None
    p: float | None

    @staticmethod
    def of(found: Mapping[str, Any]) -> BenchMetric:
        interval = found["ratio_interval"]
        return BenchMetric(
            metric=found["metric"],
            unit=found["unit"],
            base=None if found["base"] is None else BenchSide.of(found["base"]),
            new=BenchSide.of(found["new"]),
            verdict=found["verdict"],
            reason=found["reason"],
            ratio=found["ratio"],
            ratio_interval=None if interval is None else (interval[0], interval[1]),
            p=found["p"],
        )


class BenchResult:
    """What fathom.bench() measured. Printed, it is one screen; a notebook shows a table."""

    def __init__(self, measured: _core.Measured) -> None:
        self._measured = measured
        self._summary: dict[str, Any] = json.loads(measured.json(runs=False))
        self.metrics: tuple[BenchMetric, ...] = tuple(
            BenchMetric.of(each) for each in self._summary["metrics"]
        )

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
        """Why nothing can be told; else empty."""
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
        """cold or warm before each call; None where no device was used, or it was not controlled."""
        found: str | None = self._summary["function"]["l2"]
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
        below = "" if self.not_faster_at is None else f", not known to be faster at {self.not_faster_at}"
        return "\n".join([*lines, f"the new is faster from {self.faster_from} on{below}"])


def _name_of(function: Any) -> str:
    if isinstance(function, functools.partial):
        words = [f"{name}={value!r}" for name, value in function.keywords.items()]
        return f"{_name_of(function.func)}({', '.join(words)})"
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or function)


def _refuse(text: str) -> FathomError:
    return FathomError(text, "invalid_argument")


def _check(function: Any, measure: str, l2: str | None, items: bool) -> None:
    if not callable(function):
        raise _refuse(f"{function!r} cannot be called")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise _refuse(
            f"{_name_of(function)} is async: a call runs nothing of it. "
            "Measure one that runs it, as lambda: asyncio.run(function())"
        )
    if measure not in MODES:
        raise _refuse(f"measure={measure!r}; there are: {', '.join(MODES)}")
    if measure == "device":
        raise FathomError(
            'measure="device" needs the activities that CUPTI delivers, which no bench reads yet: '
            'measure="events", or `fathom run` and the table `kernels`',
            "unsupported",
        )
    if l2 is not None and l2 not in L2:
        raise _refuse(f"l2={l2!r}; there are: {', '.join(L2)}")
    if items and measure == "events":
        raise _refuse('items are timed as the program gets them: measure="wall"')


def _gives_items(functions: Iterable[Any], items: bool | None) -> bool:
    found = {inspect.isgeneratorfunction(inspect.unwrap(each)) for each in functions}
    if items is not None:
        return items
    if len(found) > 1:
        raise _refuse("one side yields items and the other does not: items=False times whole calls")
    return found.pop()


def _stream_of_torch() -> int:
    """torch's current stream, where it uses a device; else the default stream."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return 0
    return int(torch.cuda.current_stream().cuda_stream)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"fathom: {text}", file=sys.stderr)


def _once(
    function: Callable[..., object],
    against: Callable[..., object] | None,
    *,
    setup: Callable[..., object] | None,
    measure: str,
    l2: str | None,
    runs: int | None,
    time: float | None,
    resolution: float | None,
    warmup: int,
    calls: int | None,
    seed: int | None,
    items: bool | None,
    stream: int | None,
    nvml: str,
) -> BenchResult:
    functions = [function] if against is None else [function, against]
    takes_items = _gives_items(functions, items)
    for each in functions:
        _check(each, measure, l2, takes_items)
    states = random_states()
    measured = _core.bench(
        function,
        against,
        setup,
        name=_name_of(function),
        against_name="" if against is None else _name_of(against),
        mode=measure,
        l2=l2,
        stream=_stream_of_torch() if stream is None else stream,
        runs=runs,
        seconds=time,
        resolution=resolution,
        warmup=warmup,
        calls=calls,
        seed=seed,
        items=takes_items,
        nvml=nvml,
        say=_say,
    )
    drawn = [name for name, state in random_states().items() if states.get(name) != state]
    notes = (
        [f"Random numbers were drawn ({', '.join(drawn)}): no two calls work on the same ones."]
        if drawn
        else []
    )
    measured.add_facts(facts_of_program(), notes)
    result = BenchResult(measured)
    error = measured.take_raised()
    if isinstance(error, BaseException):
        raise _placed(error, measured.place, result)
    return result


def _placed(error: BaseException, place: str, result: BenchResult) -> BaseException:
    """What a call raised, with where it was; Ctrl-C keeps what was measured."""
    note = f"fathom.bench: raised {place}"
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:
        error.__notes__ = [*getattr(error, "__notes__", []), note]  # type: ignore[attr-defined]
    error.result = result  # type: ignore[attr-defined]
    return error


def _check_numbers(
    runs: int | None, time: float | None, resolution: float | None, warmup: int, calls: int | None
) -> None:
    if runs is not None and runs < 1:
        raise _refuse(f"runs={runs}: at least 1")
    if time is not None and not time > 0:
        raise _refuse(f"time={time}: more than 0 seconds")
    if resolution is not None and not 0.00001 <= resolution <= 1:
        raise _refuse(f"resolution={resolution}: a share from 0.00001 to 1, as 0.01 for 1 %")
    if warmup < 0:
        raise _refuse(f"warmup={warmup}: at least 0")
    if calls is not None and calls < 1:
        raise _refuse(f"calls={calls}: at least 1")


Function = Callable[..., object]


@overload
def bench(
    fn: Function,
    against: Function | None = None,
    *,
    setup: Function | None = None,
    sweep: None = None,
    per: None = None,
    measure: str = "auto",
    l2: str | None = None,
    runs: int | None = None,
    time: float | None = None,
    resolution: float | None = None,
    warmup: int = 1,
    calls: int | None = None,
    seed: int | None = None,
    items: bool | None = None,
    stream: int | None = None,
    nvml: str = "",
) -> BenchResult: ...


@overload
def bench(
    fn: Function,
    against: Function | None = None,
    *,
    setup: Function | None = None,
    sweep: Mapping[str, Iterable[Any]],
    per: str | None = None,
    measure: str = "auto",
    l2: str | None = None,
    runs: int | None = None,
    time: float | None = None,
    resolution: float | None = None,
    warmup: int = 1,
    calls: int | None = None,
    seed: int | None = None,
    items: bool | None = None,
    stream: int | None = None,
    nvml: str = "",
) -> BenchSweep: ...


def bench(
    fn: Function,
    against: Function | None = None,
    *,
    setup: Function | None = None,
    sweep: Mapping[str, Iterable[Any]] | None = None,
    per: str | None = None,
    measure: str = "auto",
    l2: str | None = None,
    runs: int | None = None,
    time: float | None = None,
    resolution: float | None = None,
    warmup: int = 1,
    calls: int | None = None,
    seed: int | None = None,
    items: bool | None = None,
    stream: int | None = None,
    nvml: str = "",
) -> BenchResult | BenchSweep:
    """How long `fn` takes, and whether it is faster than `against`.

    Both are called in blocks, taken in pairs of random order until a difference of `resolution`
    (0.01) would be decided, or 10 seconds have passed; `runs` pairs or `time` seconds where these
    are given. `setup` is called before each block; what it returns, unless None, is the argument.
    With `sweep={"n": [1, 2, 4]}` the values go to `setup`, or without one to both functions.
    """
    _check_numbers(runs, time, resolution, warmup, calls)
    once = functools.partial(
        _once, measure=measure, l2=l2, runs=runs, time=time, resolution=resolution, warmup=warmup,
        calls=calls, items=items, stream=stream, nvml=nvml,
    )  # fmt: skip
    if sweep is None:
        if per is not None:
            raise _refuse("per= is of a sweep")
        return once(fn, against, setup=setup, seed=seed)
    return _sweep(once, fn, against, setup, sweep, per, resolution, seed)


def _sweep(
    once: Callable[..., BenchResult],
    fn: Function,
    against: Function | None,
    setup: Function | None,
    sweep: Mapping[str, Iterable[Any]],
    per: str | None,
    resolution: float | None,
    seed: int | None,
) -> BenchSweep:
    points = [dict(zip(sweep, each, strict=True)) for each in itertools.product(*sweep.values())]
    if not points:
        raise _refuse("sweep has no values")
    if per is not None and per not in sweep:
        raise _refuse(f"per={per!r} is not swept")
    order = list(range(len(points)))
    random.Random(seed).shuffle(order)
    results: dict[int, BenchResult] = {}
    for place in order:
        results[place] = _at(once, fn, against, setup, points[place], seed)
    return BenchSweep(
        [(point, results[place]) for place, point in enumerate(points)],
        per,
        0.01 if resolution is None else resolution,
    )


def _at(
    once: Callable[..., BenchResult],
    fn: Function,
    against: Function | None,
    setup: Function | None,
    values: Mapping[str, Any],
    seed: int | None,
) -> BenchResult:
    """At one point: its values go to the setup, or to both functions."""
    if setup is not None:
        return once(fn, against, setup=functools.partial(setup, **values), seed=seed)
    here = None if against is None else functools.partial(against, **values)
    return once(functools.partial(fn, **values), here, setup=None, seed=seed)


def crossover(
    fn: Function,
    against: Function,
    *,
    least: int = 1,
    most: int,
    setup: Function | None = None,
    name: str = "n",
    **options: Any,
) -> BenchCrossover:
    """At which size `fn` becomes faster than `against`: sizes are doubled, then halved between.

    The size is given as the argument `name` to `setup`, or without one to both functions. Other
    options are those of bench().
    """
    if not 1 <= least <= most:
        raise _refuse(f"sizes from {least} to {most}")
    search = _core.CrossoverSearch(least, most)
    found: dict[int, BenchResult] = {}
    once = functools.partial(_crossing, fn, against, setup, name, options)
    while (size := search.next()) is not None:
        found[size] = once(size)
        search.add(found[size].verdict or "cannot_tell")
    return BenchCrossover(search.faster_from, search.not_faster_at, tuple(sorted(found.items())))


def _crossing(
    fn: Function,
    against: Function,
    setup: Function | None,
    name: str,
    options: Mapping[str, Any],
    size: int,
) -> BenchResult:
    values = {name: size}
    if setup is not None:
        return bench(fn, against, setup=functools.partial(setup, **values), **options)
    return bench(functools.partial(fn, **values), functools.partial(against, **values), **options)
