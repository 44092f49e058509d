"""Calls whose number and own time it knows itself, in threads. It prints the times as JSON.

Each function measures its own stretch and spins for a while; what a recorder finds of it can only
be longer, by what a call costs.
"""

import json
import sys
import threading
import time

now = time.perf_counter_ns
SPIN_NS = 50_000
SHORT, LONG, DEEP = range(3)


def short(known):
    begin = now()
    while now() - begin < SPIN_NS:
        pass
    known[SHORT] += now() - begin


def long(known):
    begin = now()
    while now() - begin < 5 * SPIN_NS:
        pass
    known[LONG] += now() - begin


def deep(known, level):
    """Its own time is what it spins before and after the call inside."""
    begin = now()
    while now() - begin < SPIN_NS:
        pass
    known[DEEP] += now() - begin
    if level > 0:
        deep(known, level - 1)
    begin = now()
    while now() - begin < SPIN_NS:
        pass
    known[DEEP] += now() - begin


def work(known, rounds):
    for _ in range(rounds):
        short(known)
        long(known)
        deep(known, 4)


def main():
    """THREADS ROUNDS [together]: one after the other, or all at once; 0 threads: in this one."""
    threads, rounds = int(sys.argv[1]), int(sys.argv[2])
    known = [[0, 0, 0] for _ in range(max(1, threads))]
    if threads == 0:
        work(known[0], rounds)
    started = []
    for each in known[:threads]:
        thread = threading.Thread(target=work, args=(each, rounds))
        started.append(thread)
        thread.start()
        if "together" not in sys.argv:
            thread.join()
    for thread in started:
        thread.join()
    print(json.dumps([sum(each) for each in zip(*known)]))


main()
