"""Calls in three steps, and before and after them, in two threads."""

import threading

from fathom_recorder import api


def leaf():
    return sum((1, 2))


def work(count):
    for _ in range(count):
        leaf()


def main():
    work(3)
    api.step()  # its beginning was learnt of later
    for count in (10, 20, 30):
        thread = threading.Thread(target=work, args=(1000,))
        thread.start()
        work(count)
        thread.join()
        api.step()
    work(4)


main()
