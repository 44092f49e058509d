"""The pytest fixture `fathom_bench`, and files to compare with later runs.

pytest finds it by the package's entry point. `--fathom-bench-save FILE` writes what was measured,
`--fathom-bench-against FILE` puts it beside what is measured now. The engine is not loaded before a
test asks for the fixture.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fathom._bench_result import BenchResult

SCHEMA = "fathom.bench-saved/1"
# A median of so many is as good as one of more; the file stays small.
MOST_VALUES = 500
# What is different makes times differ.
COMPARED = ("host", "cpu", "cores", "cores_allowed", "cgroup_cpus", "governor")

FathomBench = Callable[..., "BenchResult"]
Measured = list[tuple[str, "BenchResult"]]
_MEASURED: pytest.StashKey[Measured] = pytest.StashKey()
_SAVED: pytest.StashKey[dict[str, Any]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fathom", "fathom_bench")
    group.addoption(
        "--fathom-bench-save",
        metavar="FILE",
        help="write what fathom_bench measured, for --fathom-bench-against",
    )
    group.addoption(
        "--fathom-bench-against",
        metavar="FILE",
        help="show what fathom_bench measures beside what FILE has",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_MEASURED] = []
    path = config.getoption("--fathom-bench-against")
    if path:
        config.stash[_SAVED] = _read(pathlib.Path(path))
    path = config.getoption("--fathom-bench-save")
    if path:
        _see_that_it_can_be_written(pathlib.Path(path))


def _see_that_it_can_be_written(path: pathlib.Path) -> None:
    """Before tests run for minutes. A file that is there stays as it is until they have."""
    is_new = not path.exists()
    try:
        path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise pytest.UsageError(f"--fathom-bench-save {path}: {error}") from None


def _read(path: pathlib.Path) -> dict[str, Any]:
    try:
        saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if saved["schema"] != SCHEMA:
            raise ValueError(f"schema {saved['schema']!r}, not {SCHEMA!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise pytest.UsageError(f"--fathom-bench-against {path}: {error}") from None
    return saved


@pytest.fixture
def fathom_bench(request: pytest.FixtureRequest) -> Iterator[FathomBench]:
    """Measures as fathom.bench() does, and shows the results after the tests."""
    import fathom

    measured = request.config.stash[_MEASURED]
    name, number = request.node.nodeid, 0

    def bench(fn: Callable[..., object], *arguments: Any, **options: Any) -> BenchResult:
        nonlocal number
        number += 1
        if "sweep" in options:
            raise fathom.FathomError("fathom_bench takes no sweep", "invalid_argument")
        result: BenchResult = fathom.bench(fn, *arguments, **options)
        measured.append((name if number == 1 else f"{name}#{number}", result))
        return result

    yield bench


def _thinned(values: list[float]) -> list[float]:
    """Every k-th, in their order."""
    step = -(-len(values) // MOST_VALUES)
    return values[::step] if step > 1 else values


def _row(result: BenchResult) -> dict[str, Any]:
    side = result.new
    values = result.values()[1]
    return {
        "unit": "ns",
        "mode": result.mode,
        "l2": result.l2,
        "launches": result.launches,
        "count": side.count,
        "median": side.median,
        "median_interval": side.median_interval,
        "calls": result.calls[1],
        "values": _thinned(values),
    }


def _save(path: pathlib.Path, measured: Measured) -> None:
    conditions = measured[0][1].to_dict()["conditions"] if measured else {}
    document = {
        "schema": SCHEMA,
        "conditions": {name: conditions.get(name) for name in COMPARED},
        "tests": {name: _row(result) for name, result in measured},
    }
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")


def _differences(saved: dict[str, Any], result: BenchResult) -> list[str]:
    now = result.to_dict()["conditions"]
    then = saved["conditions"]
    return [
        f"{name}: {then[name]} then, {now[name]} now"
        for name in COMPARED
        if name in then and then[name] != now[name]
    ]


def _against(then: dict[str, Any], result: BenchResult) -> str:
    """One run a side: an interval within the runs, and no verdict."""
    from fathom import _core

    launches = then.get("launches", result.launches)  # which older files do not know
    if (then["mode"], then["l2"], launches) != (result.mode, result.l2, result.launches):
        return f"was timed by {then['mode']}, L2 {then['l2']}, launches {launches}: not comparable"
    found = _core.median_ratio(then["values"], _thinned(result.values()[1]))
    if found is None:
        return "no ratio: a value is 0"
    ratio, interval = found
    text = f"{100 * (ratio - 1):+.1f} % of {_core.value_text(then['median'])}"
    if interval is None:
        return text + " (too few values for an interval)"
    low, high = interval
    return text + f" ({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} % within the runs)"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    from fathom import _core

    measured = [each for each in config.stash[_MEASURED] if each[1].metrics]
    path = config.getoption("--fathom-bench-save")
    if path:
        try:
            _save(pathlib.Path(path), measured)
        except OSError as error:
            terminalreporter.line(f"--fathom-bench-save {path}: {error}", red=True)
    if not measured:
        return
    saved = config.stash.get(_SAVED, None)
    terminalreporter.section("fathom_bench")
    for text in _differences(saved, measured[0][1]) if saved else []:
        terminalreporter.line(f"differs: {text}")
    for name, result in measured:
        claim = result.claim()
        median = _core.value_text(result.new.median)
        terminalreporter.line(f"{name}: {median}, {result.mode}{', ' + claim if claim else ''}")
        if saved is None:
            continue
        then = saved["tests"].get(name)
        told = "was not measured then" if then is None else _against(then, result)
        terminalreporter.line(f"  saved: {told}")
    if saved:
        terminalreporter.line("One run then and one now: how much runs vary is not known.")
