"""fathom.bench() on a fake of CUDA's driver, whose time goes on only by what is launched."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

BUILD = pathlib.Path(os.environ["FATHOM_BUILD_DIR"])
DRIVER = BUILD / "fake_driver" / "libcuda.so.1"
NVML = BUILD / "fake_nvml" / "libnvidia-ml.so.1"

# A process of its own: the driver stays loaded.
PRELUDE = f"""
import ctypes, json, fathom
driver = ctypes.CDLL({str(DRIVER)!r})
for name in ("fake_fills", "fake_filled_bytes", "fake_settled", "fake_live", "fake_records"):
    getattr(driver, name).restype = ctypes.c_int64
driver.fake_launch.argtypes = [ctypes.c_int64, ctypes.c_int64]
def launches(warm, cold):
    return lambda: driver.fake_launch(warm, cold)
def show(result):
    print(json.dumps(result.to_dict()))
"""

pytestmark = pytest.mark.skipif(not DRIVER.exists(), reason="the fake of the driver is not built")


def run(code: str, **environment: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_auto_is_events_with_a_cold_l2_where_a_context_is_current() -> None:
    found = run("show(fathom.bench(launches(2000, 6000), runs=8))")
    assert (found["function"]["mode"], found["function"]["l2"]) == ("events", "cold")
    assert found["function"]["device"] == "Fake GPU, driver for CUDA 12.8"
    metric = found["metrics"][0]
    assert metric["metric"] == "events"
    assert metric["new"]["median"] == pytest.approx(6000, rel=1e-4)


def test_warm_l2_is_what_the_call_before_left() -> None:
    found = run("show(fathom.bench(launches(2000, 6000), l2='warm', runs=8))")
    assert found["metrics"][0]["new"]["median"] == pytest.approx(2000, rel=1e-4)
    assert found["function"]["l2"] == "warm"


def test_a_sample_is_at_least_50_microseconds_on_the_device() -> None:
    found = run("show(fathom.bench(launches(700, 700), l2='warm', runs=8))")
    assert found["function"]["calls"]["new"] * 700 >= 50_000


def test_l2_is_written_outside_of_the_window_and_given_back() -> None:
    found = run(
        "fathom.bench(launches(50_000, 60_000), runs=8, warmup=1)\n"
        "print(json.dumps([driver.fake_fills(), driver.fake_filled_bytes(), driver.fake_live()]))"
    )
    fills, size, live = found
    assert fills >= 8 and size == 2 * 4096 and live == 0


def test_hidden_launches_are_in_no_window() -> None:
    code = (
        "driver.fake_host_time.argtypes = [ctypes.c_int64]\n"
        "driver.fake_host_time(5000)\n"
        "show(fathom.bench(launches(2000, 2000), l2='warm', launches=LAUNCHES, runs=8))"
    )
    hidden = run(code.replace("LAUNCHES", "'hidden'"))
    assert hidden["function"]["launches"] == "hidden"
    assert hidden["metrics"][0]["new"]["median"] == pytest.approx(2000, rel=1e-4)
    seen = run(code.replace("LAUNCHES", "'seen'"))
    assert seen["function"]["launches"] == "seen"
    assert seen["metrics"][0]["new"]["median"] > 4900


def test_hidden_launches_without_a_device_are_refused() -> None:
    code, text = run(
        "driver.fake_context(0)\n"
        "try:\n"
        "    fathom.bench(launches(1, 1), launches='hidden', runs=3)\n"
        "    print('null')\n"
        "except fathom.FathomError as error:\n"
        "    print(json.dumps([error.code, str(error)]))"
    )
    assert code == "unsupported" and "launches are hidden from events only" in text


def test_events_are_compared_in_pairs() -> None:
    code = "show(fathom.bench(launches(3000, 3000), against=launches(4000, 4000), runs=10))"
    metric = run(code)["metrics"][0]
    assert metric["verdict"] == "faster"
    assert metric["ratio"] == pytest.approx(0.75, rel=1e-4)


def test_wall_waits_for_the_device() -> None:
    found = run(
        "result = fathom.bench(launches(1, 1), measure='wall', runs=8, calls=1, warmup=1)\n"
        "print(json.dumps([result.mode, driver.fake_settled(), driver.fake_records()]))"
    )
    assert found == ["wall", 2 * 9, 0]


def test_without_a_context_auto_is_wall() -> None:
    found = run("driver.fake_context(0); show(fathom.bench(launches(1, 1), runs=3))")
    assert found["function"]["mode"] == "wall"
    assert found["function"]["device"] is None


def test_a_context_that_the_first_call_makes_is_found() -> None:
    found = run(
        "driver.fake_context(0)\n"
        "def first():\n"
        "    driver.fake_context(1)\n"
        "    driver.fake_launch(60_000, 60_000)\n"
        "show(fathom.bench(first, runs=3))"
    )
    assert found["function"]["mode"] == "events"


def test_a_function_that_launches_nothing_takes_no_time_and_cannot_be_judged() -> None:
    found = run("show(fathom.bench(lambda: None, against=lambda: None, l2='warm', runs=8))")
    metric = found["metrics"][0]
    assert metric["verdict"] == "cannot_tell"
    assert metric["reason"] == "too many values are 0, which has no ratio"


def test_a_failure_of_the_driver_is_raised() -> None:
    found = run(
        "def broken():\n"
        "    driver.fake_failure(1)\n"
        "try:\n"
        "    fathom.bench(broken, measure='wall', warmup=1, runs=3)\n"
        "    print('null')\n"
        "except fathom.FathomError as error:\n"
        "    print(json.dumps([error.code, str(error)]))"
    )
    assert found == ["io", "cuCtxSynchronize failed with code 719"]


def test_clocks_are_read_for_each_sample_and_reasons_named() -> None:
    code = f"show(fathom.bench(launches(60_000, 60_000), runs=8, nvml={str(NVML)!r}))"
    found = run(code, FATHOM_NVML_SCRIPT="zero-uuid")
    clocks = found["function"]["clocks"]["new"]
    assert (clocks["readings"], clocks["sm_mhz"]) == (8, 1200)
    assert clocks["reasons"] == {"power_cap": 1.0, "sw_thermal": 1.0}
    assert found["function"]["notes"] == []


def test_without_nvml_a_note_says_that_clocks_are_not_known() -> None:
    found = run("show(fathom.bench(launches(60_000, 60_000), runs=3, nvml='/no/library'))")
    assert found["function"]["clocks"]["new"] is None
    assert any("NVML" in note for note in found["function"]["notes"])


CUPTI = BUILD / "libfake_cupti.so"
RECORDER = BUILD / "libfathom_cuda.so"

# The driver loads the recorder into a program that `fathom run` began.
RECORDED = f"""
cupti = ctypes.CDLL({str(CUPTI)!r}, mode=ctypes.RTLD_GLOBAL)
recorder = ctypes.CDLL({str(RECORDER)!r})
recorder.InitializeInjection()
def refused(**more):
    try:
        return show(fathom.bench(lambda: cupti.fake_work(1), measure="device", runs=3, **more))
    except fathom.FathomError as error:
        print(json.dumps([error.code, str(error)]))
"""
needs_recorder = pytest.mark.skipif(
    not (CUPTI.exists() and RECORDER.exists()), reason="built without headers of CUPTI"
)


def recorded(code: str, folder: pathlib.Path, **environment: str) -> Any:
    """`code` in a process with the recorder and a fake libcupti in it."""
    injected = {
        "FATHOM_SESSION": str(folder),
        "FATHOM_CUPTI": str(CUPTI),
        "CUDA_INJECTION64_PATH": str(RECORDER),
    }
    return run(RECORDED + code, **{**injected, **environment})


# A round of the fake's work is a copy of 1 µs and a kernel of 5 µs.
ROUND_NS = 6000


@needs_recorder
def test_device_time_is_the_sum_of_what_cupti_timed(tmp_path: pathlib.Path) -> None:
    found = recorded(
        "show(fathom.bench(lambda: cupti.fake_work(2), measure='device', l2='warm', runs=8))",
        tmp_path,
    )
    function, metric = found["function"], found["metrics"][0]
    assert (function["mode"], function["l2"]) == ("device", "warm")
    assert metric["metric"] == "device"
    assert metric["new"]["median"] == pytest.approx(2 * ROUND_NS, rel=1e-3)
    assert metric["new"]["min"] == pytest.approx(metric["new"]["max"], rel=1e-3)
    assert function["calls"]["new"] * 2 * ROUND_NS >= 50_000


@needs_recorder
def test_device_time_of_setup_is_in_no_window(tmp_path: pathlib.Path) -> None:
    found = recorded(
        "cupti.fake_work.restype = None\n"
        "show(fathom.bench(lambda: cupti.fake_work(1), against=lambda: cupti.fake_work(2),"
        " setup=lambda: cupti.fake_work(50), measure='device', runs=8))",
        tmp_path,
    )
    metric = found["metrics"][0]
    assert metric["verdict"] == "faster"
    assert metric["new"]["median"] == pytest.approx(ROUND_NS, rel=1e-3)
    assert metric["ratio"] == pytest.approx(0.5, rel=1e-3)


@needs_recorder
def test_device_time_makes_l2_cold_before_each_call(tmp_path: pathlib.Path) -> None:
    found = recorded(
        "result = fathom.bench(lambda: cupti.fake_work(1), measure='device', runs=8, calls=2)\n"
        "print(json.dumps([result.l2, driver.fake_fills(), driver.fake_live()]))",
        tmp_path,
    )
    assert found == ["cold", 16, 0]


@needs_recorder
def test_device_time_where_cupti_is_not_the_recorders_is_refused(tmp_path: pathlib.Path) -> None:
    code, text = recorded("cupti.fake_hold()\nrefused()", tmp_path, FATHOM_OPTIONS='{"cuda":false}')
    assert code == "unsupported"
    assert "CUPTI is not the recorder's" in text and "--cuda always" in text


@needs_recorder
def test_device_time_without_times_of_kernels_is_refused(tmp_path: pathlib.Path) -> None:
    code, text = recorded("refused()", tmp_path, CUPTI_FAKE_REFUSE="3,10")
    assert code == "unsupported"
    assert "refuses times of kernels" in text


@needs_recorder
def test_device_time_outside_of_what_is_recorded_is_refused(tmp_path: pathlib.Path) -> None:
    code, text = recorded("refused()", tmp_path, FATHOM_OPTIONS='{"range":"cuda-profiler"}')
    assert code == "unsupported"
    assert "does not record at this time" in text


@needs_recorder
def test_a_block_of_which_records_are_missing_is_an_error(tmp_path: pathlib.Path) -> None:
    code, text = recorded(
        "def much():\n"
        "    cupti.fake_work(20_000)\n"
        "try:\n"
        "    fathom.bench(much, measure='device', l2='warm', runs=3, calls=1)\n"
        "    print('null')\n"
        "except fathom.FathomError as error:\n"
        "    print(json.dumps([error.code, str(error)]))",
        tmp_path,
        FATHOM_OPTIONS='{"max_memory_bytes":4194304}',
    )
    assert code == "io"
    assert "not complete" in text and "records are missing" in text


def test_device_time_without_a_recorder_is_refused() -> None:
    code, text = run(
        "try:\n"
        "    fathom.bench(launches(1, 1), measure='device', runs=3)\n"
        "    print('null')\n"
        "except fathom.FathomError as error:\n"
        "    print(json.dumps([error.code, str(error)]))",
        CUDA_INJECTION64_PATH="/no/library",
    )
    assert code == "unsupported"
    assert "no recorder is in this process" in text and "fathom run --cuda always" in text


def test_clocks_of_a_sweep_that_cycles_agree_with_withhold_nothing() -> None:
    code = (
        "times = {1: 90_000, 2: 60_000}\n"
        "found = fathom.bench(lambda n: driver.fake_launch(times[n], times[n]),"
        f" sweep={{'n': [1, 2]}}, runs=10, nvml={str(NVML)!r})\n"
        "print(json.dumps([found.knee, found.clocks]))"
    )
    assert run(code, FATHOM_NVML_SCRIPT="zero-uuid") == [{"n": 2}, []]


def test_values_of_a_sweep_at_other_clocks_are_not_judged() -> None:
    """Whether clocks differ is tested in C++: here they do."""
    code = (
        "from fathom._bench_result import BenchResult\n"
        "def differ(self, costs, best, best_costs, standing, resolution):\n"
        "    return 'too hot' if standing == 'worse' else ''\n"
        "BenchResult.clocks_forbid = differ\n"
        "times = {1: 90_000, 2: 60_000}\n"
        "found = fathom.bench(lambda n: driver.fake_launch(times[n], times[n]),"
        " sweep={'n': [1, 2]}, runs=10)\n"
        "print(json.dumps([found.knee, found.perhaps, found.clocks, str(found)]))"
    )
    knee, perhaps, clocks, text = run(code)
    assert (knee, perhaps, clocks) == ({"n": 2}, [{"n": 1}], [[{"n": 1}, "too hot"]])
    assert "clocks differ: at n=1 too hot" in text
