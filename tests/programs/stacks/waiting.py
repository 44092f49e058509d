"""A program whose threads wait in known places; prints their ids, a name each. Some may still be on
their way then.

    waiting.py
"""
import os
import sys
import threading
import time

lock = threading.Lock()
lock.acquire()
out, into = os.pipe()
ids = {}
ready = threading.Barrier(6)


def started(name):
    # To 3.7 there is no get_native_id.
    ids[name] = threading.get_native_id()
    ready.wait()


def recursion(depth):
    if depth == 0:
        started("recursion")
        lock.acquire()
    else:
        recursion(depth - 1)


def inner():
    yield 1
    started("generator")
    lock.acquire()
    yield 2


def outer():
    yield from inner()


def generator():
    for _ in outer():
        pass


class Sleeper:
    def method(self):
        started("sleep")
        time.sleep(1000)


def called_back(_):
    started("callback")
    lock.acquire()


def callback():
    sorted([1], key=called_back)


def pipe():
    started("pipe")
    os.read(out, 1)


for target in (lambda: recursion(3), generator, lambda: Sleeper().method(), callback, pipe):
    threading.Thread(target=target, daemon=True).start()
ready.wait()
ids["main"] = threading.get_native_id()
for name, number in ids.items():
    print(name, number)
print(flush=True)
sys.stdin.read()
