"""Threads that wait for known things and are blocked nearly all the time; each prints its number, what it waits for, and
for how many ns of its own clock it lived.

    known_waits.py [SECONDS]
"""
import os
import queue
import socket
import subprocess
import sys
import threading
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 10
END = time.monotonic() + SECONDS
STEP = 0.05
lock = threading.Lock()
items = queue.Queue()
reading, writing = os.pipe()
here, there = socket.socketpair()
lives = {}


def sleeps():
    time.sleep(STEP)


def holds():
    with lock:
        time.sleep(STEP)


def wants():
    time.sleep(STEP / 10)
    with lock:
        pass


def gets():
    items.get()


def puts():
    time.sleep(STEP)
    items.put(1)
    os.write(writing, b"x")
    there.send(b"x")


def reads():
    os.read(reading, 1)


def receives():
    here.recv(1)


def has_children():
    subprocess.run(["sleep", str(STEP)], check=True)


def live(work):
    begin = time.monotonic_ns()
    while time.monotonic() < END - (0 if work is puts else 4 * STEP):
        work()
    lives[threading.get_native_id()] = (work.__name__, time.monotonic_ns() - begin)


WORKS = (sleeps, holds, wants, gets, puts, reads, receives, has_children)
threads = [threading.Thread(target=live, args=(work,)) for work in WORKS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for number, (name, lived) in lives.items():
    print(number, name, lived)
