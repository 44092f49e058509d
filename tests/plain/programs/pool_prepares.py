"""One process prepares for half of the work, then two workers share the other half."""
import multiprocessing
import time


def spend(seconds):
    begin = time.process_time()
    total = 0
    while time.process_time() - begin < seconds:
        for each in range(10000):
            total += each * each
    return total


def prepare():
    return spend(0.8)  # the line


def work(_):
    return spend(0.8)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    prepare()
    with multiprocessing.Pool(2) as pool:
        pool.map(work, range(2), chunksize=1)
