"""A program whose stack changes all the time, and that knows which stacks are possible.

    changing.py [DEPTH] [SECONDS]

It first prints what can call what, a line each: the caller, its line, the callee ("main 61 left0"), and at the end an
empty line. Then it calls without end, DEPTH (default 8) functions deep: functions that differ only in whom they call, so
that a frame of one lies where one of the other lay; C code that calls back (sorted, map); generators; recursion; a
class that is called. A stack with any other neighbours was never there.
"""
import ast
import sys
import time

DEPTH = int(sys.argv[1]) if len(sys.argv) > 1 else 8
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 1e9

PAIR = """
def left{n}(x):
    left{m}(x)
    return right{m}(x)
def right{n}(x):
    one{m}(x)
    return other{m}(x)
def one{n}(x):
    right{m}(x)
    return one{m}(x)
def other{n}(x):
    other{m}(x)
    return left{m}(x)
"""

ENDS = """
def left0(x):
    return len(sorted([3, 1, 2], key=key_left))
def right0(x):
    return sum(map(key_right, [1, 2]))
def one0(x):
    for y in numbers_one():
        x = y
    return x
def other0(x):
    for y in numbers_other():
        x = y
    Thing(x)
    return down(3)
def key_left(x):
    return small_left(x)
def key_right(x):
    return small_right(x)
def small_left(x):
    return -x
def small_right(x):
    return x + 1
def numbers_one():
    yield small_left(1)
    yield small_right(2)
def numbers_other():
    for n in numbers_one():
        yield small_left(n)
class Thing:
    def __init__(self, x):
        self.x = small_right(x)
def down(n):
    if n == 0:
        return small_left(n)
    return down(n - 1)
"""

# Each function calls two of the level below: the number of calls grows, so one level in three is entered only once.
levels = []
for n in range(1, DEPTH):
    text = PAIR.format(n=n, m=n - 1)
    if n % 3:
        text = "\n".join(line for line in text.split("\n") if not line.startswith("    ") or "return" in line)
    levels.append(text)
START = f"""
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        left{DEPTH - 1}(1)
        right{DEPTH - 1}(1)
        one{DEPTH - 1}(1)
        other{DEPTH - 1}(1)
main()
"""
SOURCE = ENDS + "".join(levels) + START


def edges(tree):
    """Who is called from which line of whom; what is handed to sorted or map is called from there."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    constructors = {"Thing": "__init__"}
    found = set()

    def visit(node, caller):
        for child in ast.iter_child_nodes(node):
            inner = child.name if isinstance(child, ast.FunctionDef) else caller
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                callee = constructors.get(child.id, child.id)
                if callee in functions:
                    found.add((caller, child.lineno, callee))
            visit(child, inner)

    visit(tree, "<module>")
    # A generator is entered from the line of the loop that asks it for the next one.
    return sorted(found)


tree = ast.parse(SOURCE)
for edge in edges(tree):
    print(*edge)
print(flush=True)
exec(compile(SOURCE, "<changing>", "exec"))
