"""Looks again and again whether something has happened, and sleeps in between."""
import time


def poll():
    for _ in range(40):
        time.sleep(0.05)  # the line


poll()
