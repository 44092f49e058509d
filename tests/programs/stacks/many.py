"""One thread calls a small function without end, others wake ten times a second; it ends after SECONDS.

    many.py THREADS SECONDS
"""
import sys
import threading
import time

end = time.monotonic() + float(sys.argv[2])


def small(x):
    return x + 1


def wake():
    while time.monotonic() < end:
        time.sleep(0.1)


threads = [threading.Thread(target=wake) for _ in range(int(sys.argv[1]) - 1)]
for thread in threads:
    thread.start()
print(flush=True)
while time.monotonic() < end:
    small(1)
