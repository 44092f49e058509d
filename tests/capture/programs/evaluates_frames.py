"""Calls its own code from a library, before and after it set a frame evaluation function."""

import ctypes
import os
import sys

LIBRARY = """
def set(function, how): function(how)
def each(function, count):
    for at in range(count): function(at)
def items(box, count):
    for at in range(count): box[at]
def set_then_each(native, how, function, count):
    set(native, how)
    each(function, count)
"""
library = {}
exec(compile(LIBRARY, os.path.join(os.path.dirname(os.__file__), "made_library.py"), "exec"), library)
native = ctypes.PyDLL(sys.argv[1])


def number(at):
    return at


class Numbers:
    def __getitem__(self, at):
        return at


def both():
    library["each"](number, 100)
    library["items"](Numbers(), 100)


both()
both()
library["set_then_each"](native.set, 0, number, 100)
library["items"](Numbers(), 100)
how = ("none", "passing", "alone", "usual").index(sys.argv[2])
library["set_then_each"](native.set, how, number, 100)
library["items"](Numbers(), 100)
both()
both()
