"""Collects garbage, and prints that it does, until somebody kills it."""

import gc
import time

while True:
    things = [[i] for i in range(20000)]
    gc.collect()
    print("again", flush=True)
    time.sleep(0.01)
