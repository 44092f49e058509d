"""Computes for 60, 30 and 10 % of three seconds of processor time in three functions, in turns of 6, 3 and 1 ms;
prints the ns of each.

    shares.py
"""
import time


def sixty():
    end = time.thread_time_ns() + 6_000_000
    while time.thread_time_ns() < end:
        pass


def thirty():
    end = time.thread_time_ns() + 3_000_000
    while time.thread_time_ns() < end:
        pass


def ten():
    end = time.thread_time_ns() + 1_000_000
    while time.thread_time_ns() < end:
        pass


spent = {sixty: 0, thirty: 0, ten: 0}
while sum(spent.values()) < 3_000_000_000:
    for work in spent:
        begin = time.thread_time_ns()
        work()
        spent[work] += time.thread_time_ns() - begin
for work, used in spent.items():
    print(work.__name__, used)
