"""Four threads that need no interpreter lock compute on one processor."""
import hashlib
import os
import threading
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
DATA = bytes(1 << 25)  # hashed for so long that the lock plays no part


def digest():
    while time.thread_time() < 0.5:
        hashlib.sha256(DATA).digest()


threads = [threading.Thread(target=digest) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
