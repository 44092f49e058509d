"""Five threads share one connection."""
import threading
import time

CONNECTION = threading.Semaphore(1)


def query():
    for _ in range(20):
        with CONNECTION:  # the line
            time.sleep(0.02)


threads = [threading.Thread(target=query) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
