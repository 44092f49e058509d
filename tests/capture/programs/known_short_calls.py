"""Calls of some 10 microseconds, of which the program knows how long they take, by the clock around many of them.

Prints calls, their time and the time of one call, ns, as JSON. What a call itself costs, profiled or not, is
measured by calls of a function that does nothing, and taken off. It calls no function of C.
"""

import json
import sys
import time

now = time.perf_counter_ns
LEAST_NS = 10_000
BATCH = 500


def works(numbers):
    total = 0
    for number in numbers:
        total += number
    return total


def rests(numbers):
    return numbers


def batch(function, numbers):
    begin = now()
    for _ in range(BATCH):
        function(numbers)
    return now() - begin


def main():
    rounds = int(sys.argv[1])
    numbers = range(100)
    while min(batch(works, numbers) for _ in range(5)) < 1.2 * LEAST_NS * BATCH:
        numbers = range(len(numbers) * 5 // 4)
    calls, known, of_calls = 0, 0, []

    def measured(numbers):  # the same code, as a function of its own
        total = 0
        for number in numbers:
            total += number
        return total

    for _ in range(rounds):
        known += batch(measured, numbers)
        calls += BATCH
        of_calls.append(batch(rests, numbers))
    # Where another program took the processor away in some, the middle one is right still.
    known -= rounds * sorted(of_calls)[rounds // 2]
    print(json.dumps([calls, known, known / calls]))


main()
