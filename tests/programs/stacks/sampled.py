"""Calls a small function CALLS times, DEPTH functions deep, while COMMAND looks on: {pid} in it is this process's number.
The command is nobody's child, so the processor time of this process is its own.

    sampled.py CALLS DEPTH COMMAND…
"""
import os
import sys
import time

calls, depth, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]


def small(x):
    return x + 1


def work():
    for count in range(calls):
        small(count)


def deep(left):
    if left == 0:
        work()
    else:
        deep(left - 1)


me = os.getpid()
between = os.fork()
if between == 0:
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.execvp(command[0], [word.replace("{pid}", str(me)) for word in command])
    os._exit(0)
os.waitpid(between, 0)
time.sleep(0.3)  # Until it looks on.
deep(depth)
