"""Calls a small function without end, DEPTH functions deep; after SECONDS it prints how often, and its processor time.

    work.py DEPTH SECONDS
"""
import sys
import time

DEPTH = int(sys.argv[1])
SECONDS = float(sys.argv[2])


def small(x):
    return x + 1


def work(end):
    count = 0
    begin = time.process_time_ns()
    while time.monotonic() < end:
        for _ in range(1000):
            small(count)
        count += 1000
    return count, time.process_time_ns() - begin


def deep(depth, end):
    return work(end) if depth == 0 else deep(depth - 1, end)


print(flush=True)
print(*deep(DEPTH, time.monotonic() + SECONDS), flush=True)
