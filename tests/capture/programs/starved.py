"""Calls, lines and threads of all kinds, for a recorder without memory: it knows what comes out."""

import sys
import threading


def leaf(number):
    return number + 1


def recurse(depth):
    if depth == 0:
        return 0
    return 1 + recurse(depth - 1)


def generate(count):
    for number in range(count):
        yield leaf(number)


def make(number):
    """Of code of its own."""
    names = {}
    exec(f"def made_{number}(x):\n    y = x + 1\n    return y\n", names)
    return names[f"made_{number}"]


def work(found):
    total = recurse(120) + sum(generate(50))
    for number in range(150):
        total += make(number)(number)
    found.append(total)


if __name__ == "__main__":
    found = []
    threads = [threading.Thread(target=work, args=(found,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    work(found)
    for thread in threads:
        thread.join()
    assert found == [120 + 1275 + 11325] * 4, found
    print("done")
    sys.stdout.flush()
    sys.exit(7)
