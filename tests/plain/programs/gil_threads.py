"""Four threads compute in Python: one at a time."""
import threading
import time


def count():
    total = 0
    while time.thread_time() < 0.5:
        for each in range(10000):
            total += each
    return total


threads = [threading.Thread(target=count) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
