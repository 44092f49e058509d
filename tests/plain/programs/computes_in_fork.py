"""Waits for a forked child that computes for a second and ends."""
import os
import time


def work():
    while time.process_time() < 1.0:
        sum(range(1000))


child = os.fork()
if child == 0:
    work()
    os._exit(0)
os.waitpid(child, 0)
