"""A job of four ranks: three wait together, rank 2 is elsewhere. They end with their standard input.

    ranks.py
"""
import os
import subprocess
import sys
import time


def all_reduce():
    sys.stdin.read()


def load():
    while True:
        if os.getppid() != launcher:
            sys.exit()
        time.sleep(1)


if "RANK" in os.environ:
    launcher = os.getppid()
    load() if os.environ["RANK"] == "2" else all_reduce()
else:
    ranks = [subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE,
                              env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(4)]
    print(flush=True)
    sys.stdin.read()
