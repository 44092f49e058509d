"""Threads that `threading` knows nothing of. They call before and after the recorder has looked twice
for threads, which it does each half second."""

import _thread
import sys


def leaf():
    return 1


def wait(lock):
    lock.acquire()
    lock.release()


looked = [_thread.allocate_lock() for _ in range(4)]
called = [_thread.allocate_lock() for _ in range(4)]
ended = [_thread.allocate_lock() for _ in range(4)]
count = []


def body(at):
    for _ in range(2):
        count.append(leaf())
    called[at].release()
    wait(looked[at])
    for _ in range(2):
        count.append(leaf())
    ended[at].release()


for lock in looked + called + ended:
    lock.acquire()
for at in range(4):
    _thread.start_new_thread(body, (at,))
for lock in called:
    wait(lock)
for _ in range(2):
    for profile in sys.modules["fathom_recorder.recorder"].current.profiles:
        profile.tick()
for lock in looked:
    lock.release()
for lock in ended:
    wait(lock)
print(len(count))
