"""Prints where its code objects lie and the line of each instruction as Python itself says, then waits to be ended."""
import dis
import sys


def plain(a):
    b = [
        a,
        a + 1,
    ]
    for c in b:
        try:
            a += c
        except ValueError as error:
            raise KeyError from error

    yield {d: a for d in b} if a else b


async def far(x):









































































































































    async with x as y:
        return [
            z async
            for z in y
        ]


def wörter():
    return lambda: "ü" * 3


def lines_of(code):
    """(offset, line) of each instruction."""
    if sys.version_info >= (3, 10):
        for begin, end, line in code.co_lines():
            for offset in range(begin, end, 2):
                yield offset, line
        return
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    for offset in range(0, len(code.co_code), 2):
        line = starts.get(offset, line)
        yield offset, line


for function in (plain, far, wörter, lines_of):
    code = function.__code__
    print("code", id(code), code.co_firstlineno, getattr(code, "co_qualname", code.co_name))
    for offset, line in lines_of(code):
        print(offset, line if line is not None else -1)
print(flush=True)
sys.stdin.read()
