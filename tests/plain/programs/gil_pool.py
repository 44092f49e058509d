"""A pool of threads computes in Python."""
import concurrent.futures


def parse(number):
    total = 0
    for each in range(100_000):
        total += each ^ number
    return total


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(parse, range(200))))
