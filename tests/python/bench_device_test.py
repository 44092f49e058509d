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
    assert metric["reason"] == "a value of 0 has no ratio"


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
