"""Lines whose number and time it knows itself, in threads. It prints the times as JSON: by the word
in the comment of the line that they are of."""

import json
import sys
import threading
import time

now = time.perf_counter_ns
SPIN_NS = 100_000


def spin(known):
    begin = now()
    while now() - begin < SPIN_NS: pass  # spins
    known["spins"] += now() - begin


def call(known):
    begin = now()
    spin(known)  # calls
    known["calls"] += now() - begin


def deep(known, level):
    if level > 0:
        deep(known, level - 1)
        return
    begin = now()
    while now() - begin < SPIN_NS: pass  # bottom
    known["bottom"] += now() - begin


def resting(known):
    while True:
        begin = now()
        while now() - begin < SPIN_NS: pass  # generates
        known["generates"] += now() - begin
        yield


def work(known, rounds):
    generator = resting(known)
    for _ in range(rounds):
        call(known)
        begin = now()
        deep(known, 4)  # recurses
        known["recurses"] += now() - begin
        next(generator)
        begin = now()
        time.sleep(  # sleeps
            0.0003
        )
        known["sleeps"] += now() - begin


def main():
    """THREADS ROUNDS: in threads, or in this one where there are none."""
    threads, rounds = int(sys.argv[1]), int(sys.argv[2])
    names = ("spins", "calls", "recurses", "bottom", "generates", "sleeps")
    known = [dict.fromkeys(names, 0) for _ in range(max(1, threads))]
    if threads == 0:
        work(known[0], rounds)
    started = [threading.Thread(target=work, args=(each, rounds)) for each in known[:threads]]
    for thread in started:
        thread.start()
        thread.join()
    print(json.dumps({name: sum(each[name] for each in known) for name in names}))


main()
