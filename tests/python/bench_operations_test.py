"""Crossovers of operations: with a torch that is made here, and with the real one where it is."""

from __future__ import annotations

import sys
import time
import types
from typing import Any

import pytest

import fathom

NAMES = ["matmul", "conv", "elementwise", "reduction", "sort"]


class Tensor:
    """As many numbers as its shape says, on a device; the CPU takes 20 us for each of a size."""

    copies = 0
    made: list[tuple[int, ...]] = []  # noqa: RUF012

    def __init__(self, shape: tuple[int, ...], device: str = "cpu") -> None:
        self.shape, self.device = shape, device

    def to(self, device: str) -> Tensor:
        Tensor.copies += device != self.device
        return Tensor(self.shape, device)

    def __mul__(self, other: Tensor) -> Tensor:
        return computed(self, other)

    def __add__(self, other: Tensor) -> Tensor:
        assert self.device == other.device
        return self


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def computed(*tensors: Tensor, **_: Any) -> Tensor:
    """The device takes 200 us for whatever it is."""
    (device,) = {each.device for each in tensors}
    spin(20e-6 * tensors[0].shape[-1] if device == "cpu" else 200e-6)
    return tensors[0]


class Generator:
    def manual_seed(self, _: int) -> Generator:
        return self


def rand(shape: tuple[int, ...], *, generator: Generator, dtype: object) -> Tensor:
    Tensor.made.append(shape)
    return Tensor(shape)


def made_torch(available: bool = True) -> types.ModuleType:
    torch = types.ModuleType("torch")
    functional = types.SimpleNamespace(conv2d=computed)
    parts = {
        "__version__": "0",
        "Generator": Generator,
        "rand": rand,
        "float32": types.SimpleNamespace(is_floating_point=True),
        "int64": types.SimpleNamespace(is_floating_point=False),
        "matmul": computed,
        "sum": computed,
        "sort": lambda a: (computed(a), None),
        "nn": types.SimpleNamespace(functional=functional),
        "get_num_threads": lambda: 1,
        "cuda": types.SimpleNamespace(
            is_available=lambda: available,
            is_initialized=lambda: False,
            current_device=lambda: 0,
        ),
        "device": lambda text: types.SimpleNamespace(
            index=int(text.partition(":")[2]) if ":" in text else None
        ),
        "random": types.SimpleNamespace(
            get_rng_state=lambda: types.SimpleNamespace(
                numpy=lambda: types.SimpleNamespace(tobytes=lambda: b"")
            )
        ),
    }
    vars(torch).update(parts)
    # What fathom.bench() reads of a torch that sees a device.
    matmul = types.SimpleNamespace(allow_tf32=False)
    vars(torch)["backends"] = types.SimpleNamespace(
        cudnn=types.SimpleNamespace(
            version=lambda: 1, benchmark=False, deterministic=False, allow_tf32=False
        ),
        cuda=types.SimpleNamespace(matmul=matmul),
    )
    vars(torch)["version"] = types.SimpleNamespace(cuda="12")
    return torch


def test_each_operation_has_its_crossover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", made_torch())
    Tensor.made.clear()
    found = fathom.operations_crossover(NAMES[:3], most=64, with_copies=False, runs=6)
    assert list(found) == NAMES[:3] and len(found) == 3
    # (1, 16, n, n) and (16, 16, 3, 3) of a convolution, and a vector.
    assert {(8, 8), (1, 16, 8, 8), (16, 16, 3, 3), (8,)} <= set(Tensor.made)
    for name in ("matmul", "elementwise"):
        at = found[name].faster_from
        assert at is not None and 2 <= at <= 64, "about 10, on a machine that does other work"
        assert found[name].with_copies is None
        modes = {result.to_dict()["function"]["mode"] for _, result in found[name].points}
        assert modes == {"wall"}
    lines = str(found).splitlines()
    assert lines[0] == "cuda against cpu, float32"
    assert lines[1].startswith("operation") and "cuda costs no more from" in lines[1]
    assert [line.split()[0] for line in lines[2:]] == NAMES[:3]
    assert found._repr_html_().count("<tr>") == 4


def test_copies_are_part_of_it_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", made_torch())
    found = fathom.operations_crossover(["reduction", "sort"], most=2, runs=1)
    for name in found:
        copied = found[name].with_copies
        assert copied is not None and {size for size, _ in copied.points} <= {1, 2}
    assert "with copies from" in str(found)
    before = Tensor.copies
    fathom.operations_crossover(["sort"], device="cpu", most=1, runs=2)
    assert Tensor.copies == before, "there is nothing to be copied"


def test_without_torch_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(fathom.FathomError, match="pip install torch") as raised:
        fathom.operations_crossover()
    assert raised.value.code == "unsupported"


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((["matmul", "fft"],), {}, "matmul, conv, elementwise, reduction, sort"),
        (("matmul",), {}, "a list of"),
        (([],), {}, "a list of"),
        ((), {"dtype": "int64"}, "floating point"),
        ((), {"dtype": "no_type"}, "floating point"),
        ((), {"device": "mps"}, "only cuda and cpu"),
        ((), {"measure": "events"}, "one clock"),
    ],
)
def test_what_has_no_sense_is_refused(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[Any, ...], options: dict[str, Any], says: str
) -> None:
    monkeypatch.setitem(sys.modules, "torch", made_torch())
    with pytest.raises(fathom.FathomError, match=says):
        fathom.operations_crossover(*arguments, **options)


def test_without_a_device_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", made_torch(available=False))
    with pytest.raises(fathom.FathomError, match="sees no CUDA device") as raised:
        fathom.operations_crossover()
    assert raised.value.code == "unsupported"


def test_a_device_that_is_not_current_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", made_torch())
    with pytest.raises(fathom.FathomError, match="only the current device is waited for, cuda:0"):
        fathom.operations_crossover(device="cuda:1")


def test_the_real_torch_computes_all_of_them() -> None:
    pytest.importorskip("torch")
    found = fathom.operations_crossover(device="cpu", most=4, runs=1)
    assert list(found) == NAMES
    assert all({size for size, _ in found[name].points} <= {1, 2, 3, 4} for name in found)
