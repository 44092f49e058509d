"""Computes for half a second of processor time and ends by a signal.

    crashes.py SIGNAL
"""
import os
import signal
import sys
import time


def work():
    while time.process_time() < 0.5:
        sum(range(1000))


work()
os.kill(os.getpid(), signal.Signals[sys.argv[1]])
