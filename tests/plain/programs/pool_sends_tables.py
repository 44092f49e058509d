"""A pool of which each task gets the whole table."""
import multiprocessing


def longest(task):
    table, first, last = task
    return max(len(row[1]) for row in table[first:last])


def main():
    table = [(i, "x" * (i % 37)) for i in range(100_000)]
    tasks = [(table, first, first + 100) for first in range(0, 4000, 100)]
    with multiprocessing.Pool(2) as pool:
        return max(pool.map(longest, tasks, chunksize=1))


if __name__ == "__main__":
    main()
