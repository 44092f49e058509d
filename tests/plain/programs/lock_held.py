"""Four threads take turns: each waits for something while it holds the lock."""
import threading
import time

LOCK = threading.Lock()


def update():
    for _ in range(25):
        with LOCK:  # the line
            time.sleep(0.02)


threads = [threading.Thread(target=update) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
