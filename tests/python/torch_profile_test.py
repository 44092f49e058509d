"""Recording a PyTorch program from inside. Skips where torch is not installed."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import fathom

torch: Any = pytest.importorskip("torch")


def training(steps: int, step: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        with fathom.annotate("forward pass"):
            loss = model(torch.randn(8, 32)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        step()


def test_a_schedule_records_its_steps_and_a_diagnosis_follows(tmp_path: pathlib.Path) -> None:
    plan = fathom.schedule(wait=1, warmup=1, active=3)
    with fathom.profile(schedule=plan, shapes=True, output=tmp_path / "run") as p:
        training(7, p.step)
    session = p.open()
    assert session.report("steps")["step"].to_list() == [2, 3, 4]
    names = session.report("ops")["name"].to_list()
    assert "aten::linear" in names and "forward pass" in names
    assert p.diagnose().baseline.steps >= 1


def test_without_a_schedule_all_of_it_is_recorded(tmp_path: pathlib.Path) -> None:
    with fathom.profile(output=tmp_path / "run") as p:
        training(2, lambda: None)
    assert "aten::linear" in p.open().report("ops")["name"].to_list()


def test_shapes_stacks_memory_and_flops_are_what_torch_records(tmp_path: pathlib.Path) -> None:
    with fathom.profile(
        with_stacks=True, shapes=True, memory=True, flops=True, output=tmp_path / "run"
    ) as p:
        training(2, p.step)
    assert p.output is not None
    trace = json.loads(next(p.output.glob("torch-*.json")).read_text())
    assert (trace["record_shapes"], trace["profile_memory"], trace["with_stack"]) == (1, 1, 1)
    assert trace["with_flops"] == 1


def test_each_cycle_is_a_trace_of_its_own(tmp_path: pathlib.Path) -> None:
    plan = fathom.schedule(wait=0, warmup=1, active=1, repeat=2)
    with fathom.profile(schedule=plan, output=tmp_path / "run") as p:
        training(5, p.step)
    assert p.output is not None
    assert len(list(p.output.glob("torch-*-*.pt.trace.json"))) == 2
    assert len(fathom.open_all(p.output)) == 2


def test_an_exception_keeps_what_was_recorded(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ZeroDivisionError):
        with fathom.profile(output=tmp_path / "run") as p:
            training(1, p.step)
            raise ZeroDivisionError
    assert "aten::linear" in p.open().report("ops")["name"].to_list()


def test_a_profiler_that_records_already_is_left_alone(tmp_path: pathlib.Path) -> None:
    with torch.profiler.profile() as theirs:
        with pytest.raises(fathom.FathomError, match="trace_handler") as caught:
            with fathom.profile(output=tmp_path / "run"):
                pass
        training(1, lambda: None)
    assert caught.value.code == "unsupported"
    assert any(event.key == "aten::linear" for event in theirs.key_averages())


@pytest.mark.parametrize("use_gzip", [False, True])
def test_the_handler_takes_the_place_of_torch_s(tmp_path: pathlib.Path, use_gzip: bool) -> None:
    with torch.profiler.profile(
        schedule=fathom.schedule(wait=0, warmup=1, active=2, repeat=2),
        on_trace_ready=fathom.trace_handler(tmp_path / "run", use_gzip=use_gzip),
    ) as profiler:
        training(6, profiler.step)
    ending = "json.gz" if use_gzip else "json"
    assert len(list((tmp_path / "run").glob(f"torch-*.pt.trace.{ending}"))) == 2
    sessions = fathom.open_all(tmp_path / "run")
    assert [s.report("steps")["step"].to_list() for s in sessions] == [[1, 2], [4, 5]]


def test_an_annotated_function_can_be_compiled() -> None:
    @fathom.annotate("scaled")
    def scaled(x: Any) -> Any:
        with fathom.annotate("inside"):
            return x * 2

    compiled = torch.compile(scaled, backend="eager")
    assert compiled(torch.ones(2)).tolist() == [2, 2]


def test_without_a_recording_annotations_change_nothing() -> None:
    with fathom.annotate("nothing"):
        assert torch.ones(2).sum().item() == 2
