"""Computes in one function, in one line of it."""
import time


def compute():
    total = 0
    for each in range(20000):
        total += each * each % 7  # the line
    return total


def prepare():
    return [str(each) for each in range(2000)]


while time.process_time() < 1.5:
    prepare()
    compute()
