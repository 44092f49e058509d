"""Statements of every kind. A comment "runs N" stands at the first line of those that lie on several lines."""

import asyncio
import contextlib
import functools
import sys
import threading


def leaf(
    value=1,
    *more,
):
    return value


def long_ones():
    total = leaf(  # runs 1
        1,
        2,
    ) + leaf(
        3,
    )
    for i in (  # runs 5
        1,
        2,
        3,
        total,
    ):
        if (  # runs 4
            i > 1
            and leaf(i)
            > 2
        ):
            total += i
        elif leaf(  # runs 2
            i
        ):
            total -= (  # runs 2
                1
            )
    squares = [  # runs 1
        leaf(i)
        for i in range(5)
        if i != 2
    ]
    by_key = sorted(  # runs 1
        squares,
        key=lambda i: -i,
    )
    with contextlib.suppress(
        ValueError,
    ):
        raise ValueError(  # runs 1
            "one",
            "two",
        )
    text = """three
        lines
    """
    assert (  # runs 1
        text
        and by_key
    ), "never"
    return (  # runs 1
        total,
        squares,
    )


def on_one_line(n):
    while n > 0: n -= 1
    if n == 0: n = 5; n += 1
    squares = [i * i for i in range(n)]; return squares


def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


def counting(n):
    for i in range(n):
        got = yield leaf(i)
        if got:
            leaf(got)


def delegating(n):
    yield from counting(n)
    yield from counting(n)


def raises(depth):
    if depth == 0:
        raise ValueError("deep")
    raises(depth - 1)
    leaf("never")


def catching():
    try:
        raises(3)
    except KeyError:
        leaf("never")
    except ValueError as error:
        leaf(error)
    else:
        leaf("never")
    finally:
        leaf("always")


def never():
    leaf()


class Shape:
    sides = 3
    lengths = [
        1,
        2,
    ]

    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2

    @staticmethod
    @functools.lru_cache(
        maxsize=None,
    )
    def cached(n):
        return n


async def inner(n):
    await asyncio.sleep(0)
    return n


async def outer():
    total = 0
    for i in range(5):
        total += await inner(
            i
        )
    for each in asyncio.as_completed([inner(1), inner(2)]):
        total += await each
    return total


def closing():
    stopped = counting(10)
    next(stopped)
    stopped.close()
    sent = counting(3)
    next(sent)
    sent.send(7)
    early = counting(1)
    try:
        early.throw(ValueError())
    except ValueError:
        pass
    del sent


def main():
    long_ones()
    on_one_line(3)
    factorial(10)
    list(delegating(4))
    catching()
    closing()
    for n in range(3):
        Shape(n).area
        Shape.cached(1)
    exec("def made():\n    return 1\nfor _ in range(3): made()", {})
    loop = asyncio.new_event_loop()
    loop.run_until_complete(outer())
    loop.close()
    threads = [threading.Thread(target=factorial, args=(5,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
    sys.stdout.write("done\n")
