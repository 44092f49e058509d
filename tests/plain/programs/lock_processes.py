"""Four processes take turns: each waits for something while it holds the lock of them all."""
import multiprocessing
import time


def update(lock):
    for _ in range(25):
        with lock:  # the line
            time.sleep(0.02)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    LOCK = context.Lock()
    processes = [context.Process(target=update, args=(LOCK,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
