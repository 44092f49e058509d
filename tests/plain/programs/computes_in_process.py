"""A child process computes; the main process waits for it."""
import multiprocessing
import time


def square():
    total = 0
    while time.process_time() < 1.5:
        for each in range(10000):
            total += each * each
    return total


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    child = multiprocessing.Process(target=square)
    child.start()
    child.join()
