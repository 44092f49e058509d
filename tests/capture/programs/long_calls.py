"""Calls that take long, and one that goes on when the program ends. Prints how many there are of each
and how long they slept."""

import json
import threading
import time

known = {}


def slept(name, seconds):
    begin = time.monotonic_ns()
    time.sleep(seconds)
    row = known.setdefault(name, [0, 0])
    row[0] += 1
    row[1] += time.monotonic_ns() - begin


def short():
    return 1


def inner():
    slept("inner", 0.004)


def outer():
    for _ in range(100):
        short()
    inner()
    inner()
    slept("outer", 0.001)


def raises():
    slept("raises", 0.005)
    raise ValueError


def generator():
    slept("generator", 0.003)
    yield 1
    slept("generator", 0.003)


def in_thread():
    slept("in_thread", 0.01)


def rests(lock):
    lock.release()
    time.sleep(60)


known["line"] = outer.__code__.co_firstlineno
for _ in range(3):
    outer()
    try:
        raises()
    except ValueError:
        pass
list(generator())
threads = [threading.Thread(target=in_thread) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
lock = threading.Lock()
lock.acquire()
threading.Thread(target=rests, args=(lock,), daemon=True).start()
lock.acquire()
time.sleep(0.01)
print(json.dumps(known))
