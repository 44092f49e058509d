"""Four processes compute on one processor."""
import multiprocessing
import os
import time


def compute(_):
    total = 0
    while time.process_time() < 0.5:
        for each in range(10000):
            total += each
    return total


if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    multiprocessing.set_start_method("fork")
    children = [multiprocessing.Process(target=compute, args=(each,)) for each in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
