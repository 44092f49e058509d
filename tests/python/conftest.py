"""What the tests of the Python package share: a real trace, and the program to compare with."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import fathom

SOURCE = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"])
TRACE = SOURCE / "examples" / "resnet50_v100.pt.trace.json.gz"

Cli = Callable[..., Any]


@pytest.fixture(scope="session")
def source() -> pathlib.Path:
    return SOURCE


@pytest.fixture(scope="session")
def trace() -> pathlib.Path:
    return TRACE


@pytest.fixture(scope="session")
def session() -> fathom.Session:
    return fathom.open(TRACE)


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Runs the program with --json and reads what it prints."""

    def run(*words: str) -> Any:
        command = [os.environ["FATHOM"], *words, "--json"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    return run
