"""Goes from its own code into that of libraries and back, in each way that there is."""

import bisect
import contextlib
import functools
import os
import re
import sys
import threading

# A library: what is compiled under a name beside those of Python.
LIBRARY = """
import sys
def apply(function, *arguments): return function(*arguments)
def twice(function): return apply(function), apply(function)
def each(values):
    for value in values: yield value
async def wait(function): return function()
def swallow(function):
    try: function()
    except KeyError: return "swallowed"
def again(function):
    try: function()
    finally: function
def own_lines(): return sys._getframe().f_trace_lines
def deep(function, n): return function() if n == 0 else deep(function, n - 1)
"""
library = {}
exec(compile(LIBRARY, os.path.join(os.path.dirname(os.__file__), "made_library.py"), "exec"), library)


def add(a=1, b=2):
    c = a + b
    return c


def fails():
    raise KeyError


def through():
    try:
        library["again"](fails)
    except KeyError:
        return "caught"
    return "not reached"


@contextlib.contextmanager
def managed():
    add()
    yield 1
    add()


def generates():
    got = yield add()
    yield got


async def coroutine():
    first = await library["wait"](add)
    return first + await library["wait"](add)


def cached(n):
    return n if n < 2 else memo(n - 1)


memo = functools.lru_cache(None)(cached)


class Key:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value


def run(awaitable):
    try:
        awaitable.send(None)
    except StopIteration as stop:
        return stop.value
    return None


def turns():
    out = []
    out.append(library["apply"](library["apply"], add))
    out.append(library["twice"](add))
    out.append(sum(library["each"]([add(), add()])))
    out.append(run(coroutine()))
    out.append(library["swallow"](fails))
    out.append(through())
    with managed() as one:
        out.append(one)
    made = generates()
    out.append((next(made), library["apply"](made.send, 4)))
    try:
        library["apply"](made.throw, ValueError())
    except ValueError:
        out.append("thrown")
    out.append(memo(12))
    out.append(bisect.bisect([Key(1), Key(3), Key(5)], Key(4)))
    out.append(re.sub("a", lambda match: str(add()), "banana"))
    out.append(library["deep"](add, 300))
    return out


for _ in range(3):
    found = turns()
    memo.cache_clear()
print(found)
thread = threading.Thread(target=lambda: print(turns() == found))
thread.start()
thread.join()
library["own_lines"]()
if sys.argv[-1] == "looks":  # whether a frame of a library that was met before has line events
    print(library["own_lines"](), library["apply"](library["own_lines"]))
