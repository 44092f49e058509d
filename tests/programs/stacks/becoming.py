"""A program that becomes another, has a child, or has threads that end all the time or call Python late.

    becoming.py exec|fork|fork-by-c|late|threads

It prints an empty line and runs `before` until a line comes from standard input. Then: exec: the same interpreter begins
anew and runs `after`; fork: a child runs `in_child` and the parent `in_parent`; fork-by-c: the same by the C library's
fork(), of which the interpreter knows nothing; late: a thread of the C library that has slept for a second runs `late`;
threads: threads that run `brief` for a moment each, one after the other, two at a time.
"""
import ctypes
import os
import signal
import sys
import threading
import time


def before():
    while not told:
        sum(range(100))


def after():
    while True:
        sum(range(100))


def in_child():
    while True:
        sum(range(100))


def in_parent():
    while True:
        sum(range(100))


def late():
    while True:
        sum(range(100))


def call_late():
    c = ctypes.CDLL(None)
    in_thread = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: late())
    c.signal(signal.SIGUSR1, in_thread)
    thread = ctypes.c_ulong()
    c.pthread_create(ctypes.byref(thread), None, ctypes.cast(c.sleep, ctypes.c_void_p), ctypes.c_void_p(3600))
    time.sleep(1)
    c.pthread_kill(thread, signal.SIGUSR1)
    time.sleep(3600)


def brief():
    end = time.monotonic() + 0.001
    while time.monotonic() < end:
        sum(range(100))


told = []
mode = sys.argv[1]
if mode == "after":
    after()
print(flush=True)
reader = threading.Thread(target=lambda: told.append(os.read(0, 1)))
reader.start()
before()
reader.join()
if mode == "exec":
    os.execv(sys.executable, [sys.executable, __file__, "after"])
if mode == "fork":
    if os.fork() == 0:
        # Ends with its parent.
        parent = os.getppid()
        threading.Thread(target=lambda: [time.sleep(0.1) or os.getppid() == parent or os._exit(0) for _ in iter(int, 1)],
                         daemon=True).start()
        in_child()
    in_parent()
if mode == "fork-by-c":
    if ctypes.PyDLL(None).fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        in_child()
    in_parent()
if mode == "late":
    call_late()
while True:
    pair = [threading.Thread(target=brief) for _ in range(2)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
