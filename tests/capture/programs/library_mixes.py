"""Its own code and that of a library call each other in all kinds of frames: generators that go on in
other threads, coroutines, exceptions, recursion, finalizers, a forked child. With "profiles" and "calls"
only functions, with profile functions set meanwhile and without."""

import asyncio
import contextlib
import gc
import os
import sys
import threading

LIBRARY = """
import contextlib
def call(function, *arguments): return function(*arguments)
def each(function, count):
    return sum([function(at) for at in range(count)])
def items(box, count):
    total = 0
    for at in range(count): total += box[at]
    return total
def attributes(owner, count):
    total = 0
    for at in range(count): total += owner.value + (owner == owner)
    return total
def unpacked(function, count):
    total = 0
    for at in range(count): total += function(*(at,), **{})
    return total
def caught(function, count):
    total = 0
    for at in range(count):
        try: function(at)
        except ValueError: total += 1
    return total
def passes(values):
    for value in values: yield value
def delegates(values): yield from values
@contextlib.contextmanager
def manages(function):
    function(1)
    try: yield
    finally: function(2)
async def awaits(function, count):
    total = 0
    for at in range(count): total += await function(at)
    return total
async def streams(function, count):
    for at in range(count): yield await function(at)
def deep(function, count): return function(count) if count == 0 else deep(function, count - 1)
class Operators:
    def __init__(self, function): self.function = function
    def __add__(self, other): return self.function(1)
    def __getattr__(self, name): return self.function(2)
    def __enter__(self): return self.function(1)
    def __exit__(self, *raised): self.function(2)
    def __iter__(self): return iter([self.function(1)])
"""
library = type(sys)("made_library")
place = os.path.join(os.path.dirname(os.__file__), "made_library.py")
exec(compile(LIBRARY, place, "exec"), library.__dict__)
MANY = 60


class Box:
    def __getitem__(self, at):
        found = at + 1
        return found

    @property
    def value(self):
        found = 2
        return found

    def __eq__(self, other):
        return True

    __hash__ = None


class Ends:
    def __del__(self):
        at = 1
        number(at)


def number(at=0):
    found = at
    return found


def odd(at):
    if at % 2:
        raise ValueError(at)
    return 1


def numbers(count):
    for at in range(count):
        got = yield at
        if got:
            count += 1
    return 5


def closes(count):
    try:
        for at in range(count):
            yield at
    except KeyError:
        yield -1
    finally:
        number(3)


async def later(at):
    if at % 3 == 0:
        await asyncio.sleep(0)
    return at


async def stream(count):
    try:
        for at in range(count):
            await asyncio.sleep(0)
            yield at
    finally:
        number(2)


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + library.call(fib, n - 2)


def calls():
    total = library.each(number, MANY) + library.items(Box(), MANY)
    total += library.attributes(Box(), MANY) + library.unpacked(number, MANY)
    total += library.caught(odd, MANY) + library.deep(number, 50)
    total += sum(library.passes(numbers(MANY))) + sum(library.delegates(numbers(MANY)))
    operators = library.Operators(number)
    total += (operators + operators) + operators.nothing
    for one in operators:
        total += one
    with operators:
        total += 1
    try:
        with library.manages(number):
            raise KeyError
    except KeyError:
        total += 1
    return total + fib(8) + sorted([3, 1, 2], key=number)[0] + sum(map(number, range(MANY)))


def generators():
    for wrap in (iter, library.passes, library.delegates):
        made = wrap(closes(10))
        next(made)
        try:
            made.throw(KeyError())
        except KeyError:
            number()
        made.close()
        made = wrap(numbers(5))
        next(made)
        del made
    made = library.delegates(numbers(5))
    next(made)
    made.send(1)
    try:
        made.throw(ValueError)
    except ValueError:
        return number(1)


def across_threads():
    made = [wrap(numbers(9 * MANY)) for wrap in (iter, library.passes, library.delegates)]
    found = []

    def part():
        for each in made:
            for _ in range(7):
                found.append(library.call(next, each))
                found.append(next(each))

    for _ in range(4):
        thread = threading.Thread(target=part)
        thread.start()
        thread.join()
    part()
    return sum(found)


def together():
    threads = [threading.Thread(target=library.each, args=(fib, 10)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def coroutines():
    total = await library.awaits(later, MANY)
    async for one in library.streams(later, MANY):
        total += one
    begun = stream(5)
    total += await begun.__anext__()
    await begun.aclose()
    total += sum(await asyncio.gather(*[later(at) for at in range(20)]))
    total += await asyncio.get_running_loop().run_in_executor(None, fib, 6)
    task = asyncio.create_task(library.awaits(later, 1000))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        total += 1
    return total


def recursion():
    def down(n):
        return 0 if n == 0 else down(n - 1) + 1

    total = down(300)
    try:
        library.deep(number, 10**6)
    except RecursionError:
        total += 1
    return total + down(300) + library.call(down, 100)


def finalizers():
    def holds():
        kept = Ends()
        return kept is None

    for _ in range(5):
        library.call(holds)
        library.call(Ends)
        ends = Ends()
        ends.itself = ends
        del ends
    gc.collect()


def forks():
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        library.each(number, 5)
        os._exit(0)
    os.waitpid(child, 0)
    return library.each(number, 5)


def profiles(setting):
    total = 0
    for how in (sys.setprofile, lambda function: library.call(sys.setprofile, function)):
        if setting:
            how(lambda *event: None)
        total += library.each(number, 20) + fib(6)
        if setting:
            how(None)
        total += library.each(number, 20) + fib(6)
    return total


if sys.argv[1:]:
    print(profiles(sys.argv[1] == "profiles"), calls())
else:
    for _ in range(2):
        for part in (calls, generators, across_threads, together, recursion, finalizers, forks):
            print(part.__name__, part())
        print(asyncio.run(coroutines()))
