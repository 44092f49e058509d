"""What a recorder may stumble over: each part must leave the program as it is without one."""

import _thread
import gc
import os
import signal
import sys
import threading
import time
import warnings


def leaf():
    return 1


def many_threads():
    """They end one after the other: what a thread needed is there for the next."""
    for _ in range(300):
        thread = threading.Thread(target=leaf)
        thread.start()
        thread.join()


def raw_threads():
    """Not started by threading."""
    done = []

    def body():
        for _ in range(7):
            leaf()
        done.append(1)

    for _ in range(5):
        _thread.start_new_thread(body, ())
    while len(done) < 5:
        time.sleep(0.001)


def deep():
    def down(n):
        return leaf() if n == 0 else down(n - 1)

    sys.setrecursionlimit(6000)
    for _ in range(3):
        down(900)

    def endless():
        return endless()

    sys.setrecursionlimit(500)
    try:
        endless()
    except RecursionError:
        print("too deep")


def wrong_calls():
    for wrong in (
        lambda: str.upper(3),
        lambda: list.append(),
        lambda: dict.get(1, 2),
        lambda: len(),
        lambda: (1)(),
        lambda: int.from_bytes(),
    ):
        try:
            wrong()
        except TypeError:
            leaf()


class Finalized:
    def __del__(self):
        leaf()
        raise_and_catch()


def raise_and_catch():
    try:
        {}["absent"]
    except KeyError:
        leaf()


def collected():
    for _ in range(50):
        one, other = Finalized(), Finalized()
        one.other, other.other = other, one
    del one, other
    gc.collect()


def many_functions():
    """Made, called and thrown away: no address stands for two of them."""
    for at in range(3000):
        space = {}
        exec(f"def made{at}():\n    return {at}", space)
        assert space[f"made{at}"]() == at


def forks():
    leaf()
    # Whether Python warns of threads that are about to end is chance.
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
    if child == 0:
        for _ in range(11):
            leaf()
        os._exit(0)
    os.waitpid(child, 0)


def signals():
    signal.signal(signal.SIGALRM, lambda *_: leaf())
    for _ in range(20):
        signal.raise_signal(signal.SIGALRM)


def generators_left_open():
    def endless():
        while True:
            leaf()
            yield

    kept = [endless() for _ in range(10)]
    for each in kept:
        next(each)
    return kept


def main():
    print(len(generators_left_open()))
    for part in (
        many_threads,
        raw_threads,
        deep,
        wrong_calls,
        collected,
        many_functions,
        signals,
        forks,
    ):
        part()
    print("done")


main()
if "exec" in sys.argv:
    os.execv(sys.executable, [sys.executable, "-c", "def leaf(): pass\nleaf()"])
if "os._exit" in sys.argv:
    sys.stdout.flush()
    os._exit(3)
