"""fathom.bench(): what it claims, what it refuses, and that it says what `fathom bench` says."""

from __future__ import annotations

import json
import pathlib
import random
import types
from collections.abc import Iterator
from typing import Any

import pytest

import fathom


def short() -> int:
    return sum(range(50))


def long() -> int:
    return sum(range(5000))


@pytest.fixture(scope="module")
def slower() -> fathom.BenchResult:
    return fathom.bench(long, against=short, runs=12, seed=3)


def test_a_function_that_does_more_is_slower(slower: fathom.BenchResult) -> None:
    assert slower.verdict == "slower"
    assert slower.ratio_interval is not None and slower.ratio_interval[0] > 1
    assert (slower.pairs, slower.stopped, slower.seed) == (12, "runs", 3)
    assert slower.base is not None and slower.base.count == slower.new.count == 12


def test_a_block_has_as_many_calls_as_the_clock_needs(slower: fathom.BenchResult) -> None:
    base, new = slower.calls
    assert base is not None and base > 1 and new >= 1
    found = slower.to_dict()["function"]
    assert found["least_block_ns"] >= max(20_000, 1000 * found["timer_cost_ns"])


def test_a_percentile_that_few_samples_do_not_have_is_none(slower: fathom.BenchResult) -> None:
    assert slower.new.p95 is None
    assert slower.new.p95_reason == "needs 59 values, has 12"
    many = fathom.bench(short, runs=60)
    assert many.new.p99 is None
    if many.new.steadiness == "never_steady":  # on a busy machine
        assert (many.new.p95, many.new.p95_reason) == (None, "never steady")
    else:
        assert many.new.p95 is not None


def test_below_six_pairs_nothing_is_claimed() -> None:
    few = fathom.bench(long, against=short, runs=5)
    assert few.verdict == "cannot_tell"
    assert few.reason == "5 pairs: below 6 nothing can be claimed at 5 %"


def test_a_time_beyond_all_bounds_is_no_short_one() -> None:
    assert fathom.bench(short, runs=3, time=1e300).pairs == 3


def test_a_function_alone_is_described() -> None:
    alone = fathom.bench(short, runs=8)
    assert alone.verdict is None and alone.base is None and alone.ratio is None
    assert alone.first_call_ns[1] is not None
    assert alone.mode == "wall" and alone.l2 is None


def test_without_options_it_ends_by_precision_or_in_time() -> None:
    assert fathom.bench(short, against=short, resolution=0.5).stopped == "precise"
    assert fathom.bench(short, against=short, time=0.01).stopped == "time"


# What both have; commands may have more.
COMMON = {
    "$": {
        "schema", "base", "new", "plan", "stopped", "pairs", "elapsed_s", "announced", "headline",
        "metrics", "conditions", "runs",
    },
    "$.metrics[0]": {
        "metric", "unit", "base", "new", "verdict", "reason", "ratio", "ratio_interval", "p",
    },
    "$.runs[0]": {
        "side", "warmup", "pair", "begin_ns", "wall_ns", "user_ns", "system_ns", "exit_code",
    },
}  # fmt: skip


# As much of JSON Schema as the page uses.
def check(value: Any, schema: dict[str, Any], where: str = "$") -> None:
    if "anyOf" in schema:
        null = value is None
        chosen = [each for each in schema["anyOf"] if (each.get("type") == "null") == null]
        assert chosen, f"{where}: {value!r}"
        return check(value, chosen[0], where)
    if "const" in schema:
        assert value == schema["const"], where
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: {value!r}"
    kinds = {
        "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
        "number": (int, float), "null": type(None),
    }  # fmt: skip
    kind = schema.get("type")
    if kind:
        assert isinstance(value, kinds[kind]), f"{where}: {value!r}"
    if kind == "array":
        for index, item in enumerate(value):
            check(item, schema["items"], f"{where}[{index}]")
    if kind == "object" and "properties" in schema:
        assert COMMON.get(where, set()) <= set(value) <= set(schema["properties"]), where
        for key in value:
            check(value[key], schema["properties"][key], f"{where}.{key}")
    return None


def items(count: int = 5) -> Iterator[int]:
    for number in range(count):
        sum(range(200))
        yield number


@pytest.mark.parametrize("kind", ["paired", "alone", "items"])
def test_the_document_is_that_of_the_command_and_one_member_more(
    source: pathlib.Path, kind: str
) -> None:
    result = {
        "paired": lambda: fathom.bench(long, against=short, runs=7),
        "alone": lambda: fathom.bench(short, runs=3),
        "items": lambda: fathom.bench(items, against=items, runs=7),
    }[kind]()
    document = result.to_dict()
    check(document, json.loads((source / "docs" / "bench.schema.json").read_text()))
    of_functions = document.pop("function")
    check(document, json.loads((source / "docs" / "bench.schema.json").read_text()))
    schema = json.loads((source / "docs" / "bench-api.schema.json").read_text())
    check(of_functions, schema, "$.function")


def test_the_command_judges_the_same_pairs_the_same() -> None:
    """What the engine says of the values is what the result says."""
    result = fathom.bench(long, against=short, runs=30)
    base, new = result.values()
    assert len(base) == len(new) == 30
    logs = sorted(b / a for a, b in zip(base, new, strict=True))
    assert result.ratio == pytest.approx((logs[14] * logs[15]) ** 0.5)
    # 30 pairs: the sign test keeps the 10th and the 21st.
    assert result.ratio_interval == pytest.approx((logs[9], logs[20]))


def test_the_seed_repeats_the_order_of_the_pairs() -> None:
    def order(seed: int) -> list[str]:
        document = fathom.bench(short, against=short, runs=30, seed=seed).to_dict()
        return [run["side"] for run in document["runs"]]

    assert order(5) == order(5) != order(6)


def test_an_exception_says_in_which_arm_and_where() -> None:
    calls = 0

    def fails() -> None:
        nonlocal calls
        calls += 1
        if calls == 9:
            raise ValueError("the ninth")

    with pytest.raises(ValueError, match="the ninth") as caught:
        fathom.bench(short, against=fails, runs=20, calls=2, warmup=1)
    assert caught.value.__notes__ == ["fathom.bench: raised in pair 4, of the base, call 2 of 2"]
    assert caught.traceback[-1].name == "fails"


def test_an_exception_of_the_setup_comes_out() -> None:
    def setup() -> None:
        raise OSError("no data")

    with pytest.raises(OSError, match="no data"):
        fathom.bench(short, setup=setup, runs=3)


def test_ctrl_c_keeps_the_pairs_that_were_complete() -> None:
    calls = 0

    def interrupted() -> None:
        nonlocal calls
        calls += 1
        if calls == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        fathom.bench(interrupted, runs=1000, calls=1)
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.pairs == 28 and result.stopped == "interrupted"


def test_async_functions_are_refused_before_and_after_the_first_call() -> None:
    async def later() -> None: ...

    with pytest.raises(fathom.FathomError, match="async") as caught:
        fathom.bench(later)
    assert caught.value.code == "invalid_argument"
    with pytest.raises(fathom.FathomError, match="async"):
        fathom.bench(lambda: later(), runs=3)


def test_an_iterator_is_not_taken_for_its_work() -> None:
    with pytest.raises(fathom.FathomError, match="items=True"):
        fathom.bench(lambda: items(), runs=3)
    taken = fathom.bench(lambda: items(), runs=3, items=True)
    assert {each.metric for each in taken.metrics} >= {"first_item", "throughput"}


def test_random_numbers_that_are_drawn_are_noted() -> None:
    assert any("random" in note for note in fathom.bench(random.random, runs=3).notes)
    assert not fathom.bench(short, runs=3).notes


def test_setup_is_called_before_each_block_and_gives_the_argument() -> None:
    made: list[list[int]] = []
    seen: list[int] = []

    def setup() -> list[int]:
        made.append([3, 1, 2])
        return made[-1]

    def use(values: list[int]) -> None:
        seen.append(id(values))
        values.sort()

    fathom.bench(use, setup=setup, runs=4, calls=1, warmup=2)
    assert len(made) == len(seen) == 6
    assert seen == [id(each) for each in made]


def test_items_have_a_first_one_times_and_throughput() -> None:
    result = fathom.bench(items, runs=21)
    names = ["wall", "first_item", "item_time", "inter_item", "throughput"]
    for each in result.metrics:
        assert each.definition and each.definition in " ".join(str(result).split())
    assert [each.metric for each in result.metrics] == names
    wall, first = result["wall"].new.median, result["first_item"].new.median
    assert 0 < first < wall
    assert result["throughput"].unit == "1/s"
    assert result["throughput"].new.median == pytest.approx(5e9 / wall)
    assert result.to_dict()["function"]["gaps_ns"]["new"]["count"] == 84


def test_more_items_a_second_are_faster() -> None:
    def slow() -> Iterator[int]:
        for number in range(5):
            sum(range(20_000))
            yield number

    result = fathom.bench(items, against=slow, runs=20)
    assert result["throughput"].verdict == result["wall"].verdict == "faster"


def test_sides_of_different_kinds_are_refused() -> None:
    with pytest.raises(fathom.FathomError, match="the other does not"):
        fathom.bench(items, against=short)


@pytest.mark.parametrize(
    "options",
    [
        {"runs": 0}, {"time": 0}, {"resolution": 2}, {"warmup": -1}, {"calls": 0},
        {"measure": "guess"}, {"l2": "tepid"}, {"per": "n"}, {"launches": "never"},
        {"launches": "hidden", "measure": "wall"}, {"launches": "hidden", "items": True},
        {"sweep": {}}, {"sweep": {"n": []}},
    ],
)  # fmt: skip
def test_options_without_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(fathom.FathomError) as caught:
        fathom.bench(short, **options)
    assert caught.value.code == "invalid_argument"


def test_without_a_device_events_are_refused_and_auto_is_wall() -> None:
    with pytest.raises(fathom.FathomError) as caught:
        fathom.bench(short, measure="events", runs=3)
    assert caught.value.code == "unsupported"
    cold = fathom.bench(short, measure="auto", l2="cold", runs=3)
    assert cold.mode == "wall" and cold.notes == ("L2 is not touched: no device was used.",)


def test_device_time_without_a_device_is_refused() -> None:
    with pytest.raises(fathom.FathomError) as caught:
        fathom.bench(short, measure="device", runs=3)
    assert caught.value.code == "unsupported"
    assert "no driver of CUDA is loaded" in str(caught.value)


def test_items_have_no_device_time() -> None:
    with pytest.raises(fathom.FathomError, match='measure="wall"'):
        fathom.bench(lambda: iter([1]), measure="device", items=True, runs=3)


def test_a_sweep_has_a_row_for_each_value() -> None:
    seen: list[int] = []
    sweep = fathom.bench(
        lambda n: seen.append(n), against=lambda n: None, sweep={"n": [1, 2, 4]}, runs=8, seed=1
    )
    assert [values for values, _ in sweep] == [{"n": 1}, {"n": 2}, {"n": 4}]
    assert set(seen) == {1, 2, 4}
    assert sweep.knee is None, "two functions are compared at each value"
    assert str(sweep).splitlines()[0].split() == ["n", "base", "new", "verdict"]
    assert len(str(sweep).splitlines()) == 4
    assert "<table>" in sweep._repr_html_()


class Made:
    """As much of a result as a sweep looks at: eight values around the median."""

    metrics = (None,)
    base = None
    verdict = None

    def __init__(self, median: float, spread: float = 0.0) -> None:
        self.new = types.SimpleNamespace(median=median)
        self._values = [median * (1 + spread * place) for place in (-4, -3, -2, -1, 1, 2, 3, 4)]

    def values(self) -> tuple[list[float], list[float]]:
        return [], self._values

    def clocks_forbid(self, *_: Any) -> str:
        return ""


def made_sweep(per: str | None, *made: Made) -> fathom.BenchSweep:
    points = [({"n": 2**place}, each) for place, each in enumerate(made)]
    rounds = [each.values()[1] for each in made]
    return fathom.BenchSweep(points, per, 0.01, rounds)  # type: ignore[arg-type]


def test_the_knee_is_the_smallest_value_as_good_as_the_best() -> None:
    def knee(per: str | None, *medians: float) -> dict[str, Any] | None:
        return made_sweep(per, *map(Made, medians)).knee

    assert knee(None, 9.0, 5.02, 5.0, 5.3) == {"n": 2}
    assert knee("n", 9.0, 10.0, 12.0, 24.1) == {"n": 4}
    assert fathom.BenchSweep([({"n": "a"}, Made(1))], None, 0.01, [[1.0]]).knee is None  # type: ignore[list-item]


def test_a_value_of_which_it_cannot_be_told_is_no_knee_but_named() -> None:
    sweep = made_sweep(None, Made(9.0), Made(5.02, spread=0.02), Made(5.0))
    assert sweep.knee == {"n": 4}
    assert sweep.perhaps == ({"n": 2},)
    assert "knee: n=4; unknown for 2" in str(sweep)


def test_values_of_a_sweep_are_measured_in_rounds() -> None:
    seen: list[int] = []
    sweep = fathom.bench(
        lambda n: seen.append(n), sweep={"n": [1, 2, 4]}, runs=23, calls=1, warmup=0, seed=1
    )
    assert [len(result.values()[1]) for _, result in sweep] == [23, 23, 23]
    assert [len(each) for each in sweep.rounds] == [10, 10, 10]
    changes = sum(a != b for a, b in zip(seen, seen[1:], strict=False))
    assert changes >= 19, "each of ten rounds has all three values"
    rows = sweep.points[0][1].to_dict()["runs"]
    assert [row["pair"] for row in rows] == list(range(23))
    assert [row["begin_ns"] for row in rows] == sorted(row["begin_ns"] for row in rows)


def test_what_ends_a_sweep_has_what_was_measured_before() -> None:
    def work(n: int) -> None:
        if n == 2 and len(calls) > 20:
            raise KeyboardInterrupt
        calls.append(n)

    calls: list[int] = []
    with pytest.raises(KeyboardInterrupt) as raised:
        fathom.bench(work, sweep={"n": [1, 2]}, runs=50, calls=1, seed=1)
    found = raised.value.result  # type: ignore[attr-defined]
    assert isinstance(found, fathom.BenchSweep)
    assert sum(len(result.values()[1]) for _, result in found) > 10


def test_a_crossover_of_which_nothing_is_certain_says_so() -> None:
    one = types.SimpleNamespace(claim=lambda: "cannot tell")
    text = str(fathom.BenchCrossover(None, None, None, None, ((1, one),)))  # type: ignore[arg-type]
    assert text.endswith("by the medians; nothing of it is certain")


def test_verdicts_of_a_sweep_are_judged_together() -> None:
    def judged(p: float) -> list[str | None]:
        one = types.SimpleNamespace(
            metrics=(None,), verdict="faster", base=None, headline=types.SimpleNamespace(p=p)
        )
        rest = types.SimpleNamespace(
            metrics=(None,), verdict="same", base=None, headline=types.SimpleNamespace(p=0.9)
        )
        points = [({"n": place}, one if place == 0 else rest) for place in range(4)]
        return fathom.BenchSweep(points, None, 0.01, [[]] * 4).verdicts()  # type: ignore[arg-type]

    assert judged(0.04) == ["cannot_tell", "same", "same", "same"], "0.05 by 4 rows is 0.0125"
    assert judged(0.01)[0] == "faster"


def test_a_sweep_per_value_asks_for_the_time_of_one() -> None:
    def batch(n: int) -> int:
        return sum(range(2000)) + sum(range(100 * n))

    sweep = fathom.bench(batch, sweep={"n": [1, 64]}, per="n", runs=15)
    assert sweep.knee == {"n": 64}
    assert "new per n" in str(sweep)


def test_values_of_a_sweep_go_to_the_setup() -> None:
    seen = set()
    sweep = fathom.bench(
        lambda data: seen.add(len(data)), setup=lambda n: bytes(n), sweep={"n": [3, 5]}, runs=2
    )
    assert seen == {3, 5} and len(sweep) == 2


def test_a_crossover_is_found_by_doubling_and_halving() -> None:
    def grows(n: int) -> int:
        return sum(range(100 * n))

    found = fathom.crossover(lambda n: sum(range(5000)), grows, most=4096, runs=15, resolution=0.2)
    assert found.faster_from is not None and found.slower_up_to is not None
    assert found.slower_up_to < found.faster_from
    sizes = [size for size, _ in found.points]
    assert sizes == sorted(sizes) and {1, 2, 4} <= set(sizes)
    assert "costs no more from" in str(found)


def test_a_crossover_is_sought_with_copies_too() -> None:
    seen = set()

    def resident(n: int) -> None:
        seen.add(("resident", n))

    def copied(n: int) -> None:
        seen.add(("copied", n))

    found = fathom.crossover(resident, lambda n: None, most=2, runs=6, with_copies=copied)
    assert found.with_copies is not None and found.with_copies.with_copies is None
    assert ("resident", 1) in seen and ("copied", 1) in seen
    lines = str(found).splitlines()
    assert lines[0] == "without copies" and "with copies" in lines


def test_a_crossover_says_what_is_certain() -> None:
    from fathom import _core

    search = _core.CrossoverSearch(1, 64, 0.05)
    while (size := search.next()) is not None:
        assert search.add([10.0] * 8, [10.0 + (20 - size) / 10] * 8)
    assert (search.slower_up_to, search.faster_from) == (19, 20)
    assert (search.surely_slower, search.surely_faster) == (19, 24)


def test_a_screen_and_a_table(slower: fathom.BenchResult) -> None:
    text = str(slower)
    for part in (
        "Base          short",
        "New           long",
        "slower: +",
        "Timed by",
        "Conditions",
    ):
        assert part in text
    assert len(text.splitlines()) <= 30
    assert max(map(len, text.splitlines())) <= 100
    assert "<table>" in slower._repr_html_()
    assert repr(slower).startswith("<fathom bench: slower: +")


def test_a_result_is_saved_as_its_document(
    slower: fathom.BenchResult, tmp_path: pathlib.Path
) -> None:
    slower.save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == slower.to_dict()
