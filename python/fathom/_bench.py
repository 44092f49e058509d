"""fathom.bench(): how long does a function take, and is it faster than another?

What is here asks the engine and holds what it answers. Sampling, statistics and verdicts are the
engine's, the same as of `fathom bench`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import random
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, overload

from fathom import _core
from fathom._bench_facts import facts_of_program, random_states
from fathom._bench_result import BenchResult
from fathom._bench_sweep import BenchCrossover, BenchSweep
from fathom._errors import FathomError

MODES = ("auto", "device", "events", "wall")
L2 = ("cold", "warm")
LAUNCHES = ("seen", "hidden")


def _name_of(function: Any) -> str:
    if isinstance(function, functools.partial):
        words = [f"{name}={value!r}" for name, value in function.keywords.items()]
        return f"{_name_of(function.func)}({', '.join(words)})"
    return str(
        getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or function
    )


def _refuse(text: str) -> FathomError:
    return FathomError(text, "invalid_argument")


def _check(function: Any, measure: str, l2: str | None, launches: str, items: bool) -> None:
    if not callable(function):
        raise _refuse(f"{function!r} cannot be called")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise _refuse(
            f"{_name_of(function)} is async: a call runs nothing of it. "
            "Measure one that runs it, as lambda: asyncio.run(function())"
        )
    if measure not in MODES:
        raise _refuse(f"measure={measure!r}; there are: {', '.join(MODES)}")
    if l2 is not None and l2 not in L2:
        raise _refuse(f"l2={l2!r}; there are: {', '.join(L2)}")
    if launches not in LAUNCHES:
        raise _refuse(f"launches={launches!r}; there are: {', '.join(LAUNCHES)}")
    if launches == "hidden" and (items or measure not in ("auto", "events")):
        raise _refuse('launches="hidden" is for measure="events"')
    if items and measure in ("device", "events"):
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
    launches: str,
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
        _check(each, measure, l2, launches, takes_items)
    states = random_states()
    measured = _core.bench(
        function,
        against,
        setup,
        name=_name_of(function),
        against_name="" if against is None else _name_of(against),
        mode=measure,
        l2=l2,
        launches=launches,
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
        error.__notes__ = [*getattr(error, "__notes__", []), note]
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
    launches: str = "seen",
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
    launches: str = "seen",
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
    launches: str = "seen",
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
        _once, measure=measure, l2=l2, launches=launches, runs=runs, time=time,
        resolution=resolution, warmup=warmup, calls=calls, items=items, stream=stream, nvml=nvml,
    )  # fmt: skip
    if sweep is None:
        if per is not None:
            raise _refuse("per= is of a sweep")
        return once(fn, against, setup=setup, seed=seed)
    return _sweep(once, fn, against, setup, sweep, per, resolution, seed)


# In how many rounds the values of a sweep are measured, each with all of them in random order: what
# the machine does meanwhile is so no value's alone. Ten signs can tell one value among many.
_ROUNDS = 10


def _sweep(
    once: functools.partial[BenchResult],
    fn: Function,
    against: Function | None,
    setup: Function | None,
    sweep: Mapping[str, Iterable[Any]],
    per: str | None,
    resolution: float | None,
    seed: int | None,
) -> BenchSweep:
    points = [dict(zip(sweep, each, strict=True)) for each in itertools.product(*sweep.values())]
    if not sweep or not points:
        raise _refuse("sweep has no values")
    if per is not None and per not in sweep:
        raise _refuse(f"per={per!r} is not swept")
    drawn = random.Random(seed)
    parts = [{}] if against is not None or len(points) == 1 else _parts(once.keywords)
    results: dict[int, BenchResult] = {}
    rounds: dict[int, list[float]] = {place: [] for place in range(len(points))}

    def found() -> BenchSweep:
        measured = sorted(results)
        return BenchSweep(
            [(points[place], results[place]) for place in measured],
            per,
            0.01 if resolution is None else resolution,
            [rounds[place] for place in measured],
        )

    for part in parts:
        order = list(range(len(points)))
        drawn.shuffle(order)
        for place in order:
            # As in its first round: all blocks of a point have as many calls.
            calls = {"calls": results[place].calls[1]} if place in results else {}
            try:
                here = functools.partial(once, **part, **calls)
                result = _at(here, fn, against, setup, points[place], seed)
            except BaseException as error:
                error.result = found()  # type: ignore[attr-defined]  # as bench() does
                raise
            if result.metrics:
                rounds[place].append(result.new.median)
            results[place] = results[place]._joined(result) if place in results else result
    return found()


def _parts(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs or the time of each round."""
    runs, time = options["runs"], options["time"]
    if runs is not None:
        count = min(runs, _ROUNDS)
        return [{"runs": runs // count + (place < runs % count)} for place in range(count)]
    each = {"time": (10 if time is None else time) / _ROUNDS}
    if time is None and options["resolution"] is None:
        each["resolution"] = 0.01
    return [each] * _ROUNDS


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
    with_copies: Function | None = None,
    name: str = "n",
    resolution: float = 0.05,
    **options: Any,
) -> BenchCrossover:
    """From which size on `fn` costs no more than `against`: sizes are doubled, then halved between.

    The size is given as the argument `name` to `setup`, or without one to both functions. It is
    found to one, or to the resolution. `with_copies` does what `fn` does, and copies what it works
    on to the device and its result back: it is sought for in the same way. Other options are those
    of bench().
    """
    if not 1 <= least <= most:
        raise _refuse(f"sizes from {least} to {most}")
    _check_numbers(None, None, resolution, 1, None)
    if with_copies is not None:
        copied = crossover(
            with_copies, against, least=least, most=most, setup=setup, name=name,
            resolution=resolution, **options,
        )  # fmt: skip
        resident = crossover(
            fn, against, least=least, most=most, setup=setup, name=name, resolution=resolution,
            **options,
        )  # fmt: skip
        return dataclasses.replace(resident, with_copies=copied)
    search = _core.CrossoverSearch(least, most, resolution)
    options["resolution"] = resolution
    found: dict[int, BenchResult] = {}
    once = functools.partial(_crossing, fn, against, setup, name, options)
    while (size := search.next()) is not None:
        try:
            found[size] = once(size)
        except BaseException as error:
            error.result = _crossing_found(search, found)  # type: ignore[attr-defined]
            raise
        clocks_differ = any(each.clocks_differ for each in found[size].metrics[:1])
        search.add(*found[size].values(), certain=not clocks_differ)
    return _crossing_found(search, found)


def _crossing_found(
    search: _core.CrossoverSearch, found: Mapping[int, BenchResult]
) -> BenchCrossover:
    return BenchCrossover(
        search.slower_up_to,
        search.faster_from,
        search.surely_slower,
        search.surely_faster,
        tuple(sorted(found.items())),
    )


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
        setup = functools.partial(setup, **values)
    else:
        fn, against = functools.partial(fn, **values), functools.partial(against, **values)
    result: BenchResult = bench(fn, against, setup=setup, **options)
    return result
