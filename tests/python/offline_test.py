"""A program that records itself and reads that reaches no network, and does not try to."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = """
import fathom
with fathom.profile(output="run") as p:
    for _ in range(3):
        sum(range(9999))
        p.step()
print(len(p.open().report("steps")), p.open().diagnose() is not None)
"""


def test_profile_open_and_report_make_no_socket(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script = [sys.executable, str(source / "tests" / "support" / "no_network.py"), "none"]
    if subprocess.run([*script, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("system calls cannot be filtered here (seccomp)")
    done = subprocess.run(
        [*script, sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3", "True"]
    # What the filter ends, it ends here, too.
    made = [*script, sys.executable, "-c", "import socket; socket.socket()"]
    assert subprocess.run(made, capture_output=True, check=False).returncode < 0
