"""Says as Fathom's hook does which function its thread waits in: the right one, or another that is never called.

    canary.py HOOK right|wrong
"""
import sys
import threading

sys.path.insert(0, sys.argv[1])
from fathom_recorder.canary import Canary  # noqa: E402

canary = Canary()
shown = threading.Event()
held = threading.Lock()
held.acquire()


def never_called():
    pass


def waits_here():
    canary.show((waits_here if sys.argv[2] == "right" else never_called).__code__)
    shown.set()
    held.acquire()


def computes():
    while True:
        pass


threading.Thread(target=waits_here, daemon=True).start()
shown.wait()
print(flush=True)
computes()
