"""From which size on a device computes operations of torch faster than another."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fathom._bench import crossover
from fathom._bench_sweep import BenchCrossover
from fathom._errors import FathomError

# Pairs at each size, as of `fathom bench --crossover`.
_PAIRS = 8


@dataclass(frozen=True)
class _Operation:
    """What `n` is, the shapes of the tensors at that size, what is computed, the largest size."""

    size: str
    shapes: Callable[[int], list[tuple[int, ...]]]
    run: Callable[..., Any]
    most: int


def _known(torch: Any) -> dict[str, _Operation]:
    return {
        "matmul": _Operation(
            "edge of both matrices", lambda n: [(n, n), (n, n)], torch.matmul, 1 << 12
        ),
        "conv": _Operation(
            "edge of an image of 16 channels, 3 x 3",
            lambda n: [(1, 16, n, n), (16, 16, 3, 3)],
            lambda image, kernel: torch.nn.functional.conv2d(image, kernel, padding=1),
            1 << 10,
        ),
        "elementwise": _Operation(
            "elements of a * b + a", lambda n: [(n,), (n,)], lambda a, b: a * b + a, 1 << 24
        ),
        "reduction": _Operation("elements of a sum", lambda n: [(n,)], torch.sum, 1 << 24),
        "sort": _Operation("elements", lambda n: [(n,)], lambda a: torch.sort(a)[0], 1 << 24),
    }


OPERATIONS = ("matmul", "conv", "elementwise", "reduction", "sort")


@dataclass(frozen=True)
class BenchOperations:
    """The crossover of each operation, by its name, and what `n` is of each.

    Crossovers are of data that lie on their device. Those of what copies them there and the result
    back are `with_copies` of each, where they were asked for.
    """

    device: str
    against: str
    dtype: str
    crossovers: Mapping[str, BenchCrossover]
    sizes: Mapping[str, str]

    def __getitem__(self, operation: str) -> BenchCrossover:
        return self.crossovers[operation]

    def __iter__(self) -> Iterator[str]:
        return iter(self.crossovers)

    def __len__(self) -> int:
        return len(self.crossovers)

    def rows(self) -> list[list[str]]:
        """The cells of the table, its head first."""
        copied = any(found.with_copies is not None for found in self.crossovers.values())
        head = ["operation", "n", f"{self.device} costs no more from", "certain"]
        rows = [[*head, *(["with copies from", "certain"] if copied else [])]]
        for name, found in self.crossovers.items():
            row = [name, self.sizes[name], *_cells(found)]
            if copied:
                row += ["–", "–"] if found.with_copies is None else _cells(found.with_copies)
            rows.append(row)
        return rows

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([f"{self.device} against {self.against}, {self.dtype}", *lines])

    def _repr_html_(self) -> str:
        from html import escape

        head, *rows = self.rows()
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        title = escape(f"{self.device} against {self.against}, {self.dtype}")
        return f"<p>{title}</p><table><tr>{cells}</tr>{body}</table>"


def _cells(found: BenchCrossover) -> list[str]:
    """From which size on, and what of it is certain."""
    last = max(size for size, _ in found.points)
    start = f"none up to {last}" if found.faster_from is None else str(found.faster_from)
    sure = [
        f"{word} at {size}"
        for word, size in (("more", found.surely_slower), ("less", found.surely_faster))
        if size is not None
    ]
    return [start, ", ".join(sure) or "nothing"]


class _Tensors:
    """Of the last size that was asked for: on the one device, and on the other."""

    def __init__(
        self, torch: Any, operation: _Operation, device: str, against: str, dtype: Any
    ) -> None:
        self._torch = torch
        self._operation = operation
        self._devices = (device, against)
        self._dtype = dtype
        self._size: int | None = None
        self.device: list[Any] = []
        self.against: list[Any] = []

    def at(self, n: int) -> _Tensors:
        if n == self._size:
            return self
        # A generator of its own: those of the program stay where they are.
        numbers = self._torch.Generator()
        numbers.manual_seed(n)
        made = [
            self._torch.rand(shape, generator=numbers, dtype=self._dtype)
            for shape in self._operation.shapes(n)
        ]
        device, against = self._devices
        self.device = [each.to(device) for each in made]
        self.against = [each.to(against) for each in made]
        self._size = n
        return self


def operations_crossover(
    operations: Iterable[str] = OPERATIONS,
    *,
    device: str = "cuda",
    against: str = "cpu",
    least: int = 1,
    most: int | None = None,
    dtype: str = "float32",
    with_copies: bool = True,
    **options: Any,
) -> BenchOperations:
    """From which size on `device` computes each of these operations of torch no slower than
    `against`.

    Each is a crossover() of tensors that lie on their device and, unless `with_copies` is False,
    one of what copies them from `against` to `device` and the result back. `most` is the largest
    size; without it each operation has its own. Sizes have 8 pairs (`runs`). Times are the host's,
    and a CUDA device is waited for. Other options are those of crossover().
    """
    torch = _torch()
    known = _known(torch)
    names = list(operations)
    unknown = [name for name in names if name not in known]
    if unknown or not names or isinstance(operations, str):
        raise FathomError(
            f"operations={operations!r}; a list of: {', '.join(OPERATIONS)}", "invalid_argument"
        )
    for each in (device, against):
        _check_device(torch, each)
    number = getattr(torch, dtype, None)
    if not getattr(number, "is_floating_point", False):
        raise FathomError(
            f"dtype={dtype!r} is no type of floating point of torch", "invalid_argument"
        )
    if options.get("measure", "wall") not in ("auto", "wall"):
        raise FathomError('two devices have one clock, the host\'s: measure="wall"', "unsupported")
    settings = {"runs": _PAIRS, **options, "measure": "wall"}
    found = {}
    for name in names:
        operation = known[name]
        tensors = _Tensors(torch, operation, device, against, number)
        found[name] = _crossover(operation, tensors, device, against, least, most, with_copies,
                                 settings)  # fmt: skip
    return BenchOperations(
        device, against, dtype, found, {name: known[name].size for name in names}
    )


def _crossover(
    operation: _Operation,
    tensors: _Tensors,
    device: str,
    against: str,
    least: int,
    most: int | None,
    with_copies: bool,
    settings: Mapping[str, Any],
) -> BenchCrossover:
    def on_device(at: _Tensors) -> None:
        operation.run(*at.device)

    def on_other(at: _Tensors) -> None:
        operation.run(*at.against)

    def copied(at: _Tensors) -> None:
        operation.run(*[each.to(device) for each in at.against]).to(against)

    return crossover(
        on_device,
        on_other,
        least=least,
        most=operation.most if most is None else most,
        setup=tensors.at,
        with_copies=copied if with_copies else None,
        **settings,
    )


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise FathomError(
            f"operations are torch's, which cannot be imported ({error}): pip install torch",
            "unsupported",
        ) from error


def _check_device(torch: Any, device: str) -> None:
    kind = device.partition(":")[0]
    if kind not in ("cuda", "cpu"):
        raise FathomError(
            f"device {device!r}: only cuda and cpu are waited for", "invalid_argument"
        )
    if kind == "cuda" and not torch.cuda.is_available():
        raise FathomError(
            f"device {device!r}: torch sees no CUDA device (torch.cuda.is_available())",
            "unsupported",
        )
    if kind == "cuda":
        # What is waited for is the context of the calling thread.
        current = torch.cuda.current_device()
        if torch.device(device).index not in (None, current):
            raise FathomError(
                f"device {device!r}: only the current device is waited for, cuda:{current};"
                " torch.cuda.set_device() chooses it",
                "invalid_argument",
            )
