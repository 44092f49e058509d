"""Too little memory raises MemoryError, and what follows works."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from fathom import _core

PROGRAM = """
import resource, sys
import fathom

small, large = sys.argv[1:]
expected = fathom.open(small).report("ops").to_csv()
page = resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
messages = set()
enough = False
for step in range(24):
    extra = int(131072 * 1.4**step)
    used = int(open("/proc/self/statm").read().split()[0]) * page
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, hard))
    try:
        fathom.open(large, threads=4).diagnose().to_json()
        enough = True
    except MemoryError as error:
        messages.add(str(error))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    assert fathom.open(small, threads=2).report("ops").to_csv() == expected
    if enough:
        break
assert enough
print("\\n".join(messages))
"""

# The first session of an interpreter: no other one has left memory behind for its threads.
FIRST = """
import os, resource, sys

os.environ["FATHOM_CACHE"] = "off"  # it is reading that takes memory
import fathom

page = resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
for step in range(200):
    extra = int(65536 * float(sys.argv[2]) ** step)
    used = int(open("/proc/self/statm").read().split()[0]) * page
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, hard))
    try:
        fathom.open(sys.argv[1], threads=4).diagnose().to_json()
        print("enough")
        break
    except MemoryError:
        pass
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
"""


def test_a_session_without_memory_raises_memory_error_and_the_next_one_works(
    source: pathlib.Path,
) -> None:
    traces = source / "tests" / "data" / "traces"
    small = traces / "hta_event_sync.json.gz"
    large = traces / "luatil_rtx3060_compile_triton.json.gz"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, small, large],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    messages = [line for line in done.stdout.splitlines() if line]
    assert messages
    explained = re.compile(
        r"out of memory: a request for .+ failed with .+ of address space in use, "
        r"the limit is .+ \(ulimit -v\); raise it(, or use fewer threads \(threads=1\))?"
    )
    assert any(explained.fullmatch(message) for message in messages), messages


VIEW = """
import os, resource, sys

os.environ["FATHOM_CACHE"] = "off"  # it is reading that takes memory
import fathom

session = fathom.open(sys.argv[1], threads=2)
page = resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
for step in range(80):
    used = int(open("/proc/self/statm").read().split()[0]) * page
    resource.setrlimit(resource.RLIMIT_AS, (used + int(65536 * 1.15**step), hard))
    try:
        session.view()
        print("enough")
        break
    except MemoryError:
        pass
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
"""


def test_a_page_without_memory_raises_memory_error(source: pathlib.Path) -> None:
    large = source / "tests" / "data" / "traces" / "luatil_rtx3060_compile_triton.json.gz"
    done = subprocess.run(
        [sys.executable, "-c", VIEW, large],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert (done.returncode, done.stdout) == (0, "enough\n"), done.stderr


@pytest.mark.parametrize("factor", ["1.22", "1.1", "1.05"])
def test_a_thread_that_begins_without_memory_does_not_end_the_interpreter(
    source: pathlib.Path, factor: str
) -> None:
    large = source / "tests" / "data" / "traces" / "luatil_rtx3060_compile_triton.json.gz"
    done = subprocess.run(
        [sys.executable, "-c", FIRST, large, factor],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert (done.returncode, done.stdout) == (0, "enough\n"), done.stderr


def test_thread_local_variables_lie_in_the_memory_that_each_thread_has_from_the_start() -> None:
    shown = subprocess.run(
        ["readelf", "-dW", _core.__file__], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"\(FLAGS\).*\bSTATIC_TLS\b", shown), shown
