"""Calls of every kind: recursion, generators, coroutines, exceptions, methods, lambdas, functions of C."""

import asyncio
import functools


def leaf():
    return 1


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def counting(n):
    for i in range(n):
        leaf()
        yield i


def delegating(n):
    yield from counting(n)
    yield from counting(n)


def catching():
    received = []
    while True:
        try:
            received.append((yield len(received)))
        except KeyError:
            received.clear()


def raises(depth):
    if depth == 0:
        raise ValueError("deep")
    raises(depth - 1)


class Shape:
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2

    @classmethod
    def unit(cls):
        return cls(1)

    @staticmethod
    def none():
        return None

    def __lt__(self, other):
        return self.side < other.side


class Listed(list):
    def append(self, item):
        super().append(item)


async def inner(n):
    await asyncio.sleep(0)
    return n


async def outer():
    total = 0
    for i in range(5):
        total += await inner(i)
    async with Lock():
        return total


class Lock:
    async def __aenter__(self):
        await asyncio.sleep(0)

    async def __aexit__(self, *_):
        await asyncio.sleep(0)


@functools.lru_cache(maxsize=None)
def cached(n):
    return n + leaf()


def closing():
    stopped = counting(10)
    next(stopped)
    stopped.close()
    list(counting(3))
    unfinished = counting(4)
    next(unfinished)
    del unfinished
    thrown = catching()
    next(thrown)
    thrown.send(1)
    thrown.throw(KeyError())
    early = counting(1)
    try:
        early.throw(ValueError())
    except ValueError:
        pass


def of_c():
    numbers = [3, 1, 2]
    numbers.append(4)
    numbers.sort(key=lambda n: -n)
    sorted(Shape(n) for n in numbers)
    Listed().append(1)
    "a b".split()
    str.upper("x")
    len(numbers)
    {}.get(1)
    dict.fromkeys("ab")
    isinstance(1, int)
    max(numbers, key=lambda n: n)
    for wrong in (
        lambda: int("x"),
        lambda: len(3),
        lambda: [].pop(),
        lambda: "x".index("y"),
    ):
        try:
            wrong()
        except (ValueError, TypeError, IndexError):
            pass


def main():
    for _ in range(100):
        leaf()
    factorial(20)
    even(31)
    list(delegating(4))
    closing()
    for depth in range(6):
        try:
            raises(depth)
        except ValueError:
            pass
    Shape.unit().area
    Shape.none()
    for i in range(4):
        cached(i % 2)
    exec("def made():\n    return 1\nfor _ in range(3): made()", {})
    of_c()


def begin():
    loop = asyncio.new_event_loop()
    try:
        main()
        loop.run_until_complete(outer())
    finally:
        loop.close()


if __name__ == "__main__":
    begin()
