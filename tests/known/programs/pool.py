"""A pool of two processes computes for seconds; the first waits for them."""

import multiprocessing


def work(number):
    total = 0
    for each in range(1_500_000):
        total += each % (number + 1)
    return total


if __name__ == "__main__":
    with multiprocessing.Pool(2) as workers:
        print(sum(workers.map(work, range(32))))
