"""Too little memory raises MemoryError, and what follows works."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

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
