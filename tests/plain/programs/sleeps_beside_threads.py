"""Sleeps for a second; then five threads do so for 0.4 s, all at a time."""
import threading
import time


def pause():
    time.sleep(1.0)  # the line


def worker():
    time.sleep(0.4)


pause()
threads = [threading.Thread(target=worker) for _ in range(5)]
for each in threads:
    each.start()
for each in threads:
    each.join()
