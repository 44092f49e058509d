"""A shell starts three others, all on one processor."""
import os

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
LOOP = "i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done"
os.execvp("sh", ["sh", "-c", f"({LOOP}) & ({LOOP}) & ({LOOP}) & wait"])
