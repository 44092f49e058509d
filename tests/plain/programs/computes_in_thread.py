"""A thread computes; the main thread waits for its end."""
import threading
import time


def crunch():
    total = 0
    while time.thread_time() < 1.5:
        for each in range(10000):
            total += each % 3
    return total


thread = threading.Thread(target=crunch)
thread.start()
thread.join()
