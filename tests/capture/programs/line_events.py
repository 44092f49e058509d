"""Runs a program and prints which line events Python's own means report of it, as JSON: {line: how
often}. What runs inside an expression (a lambda, a comprehension) is left out, and so is what the
body of a class does before its first statement."""

import json
import sys
import threading

PARTS = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
found = {}
path = sys.argv[1]


def is_wanted(code):
    return code.co_filename == path and code.co_name not in PARTS


def count(code, line):
    if is_wanted(code) and (code.co_name == "<module>" or line != code.co_firstlineno):
        found[line] = found.get(line, 0) + 1


def trace(frame, event, _argument):
    if not is_wanted(frame.f_code):
        return None
    if event == "line":
        count(frame.f_code, frame.f_lineno)
    return trace


def listen():
    if not hasattr(sys, "monitoring"):
        threading.settrace(trace)
        sys.settrace(trace)
        return
    monitoring = sys.monitoring
    monitoring.use_tool_id(2, "events")
    monitoring.register_callback(2, monitoring.events.LINE, count)
    monitoring.set_events(2, monitoring.events.LINE)


with open(path, "rb") as file:
    program = compile(file.read(), path, "exec")
space = {"__name__": "__main__", "__file__": path}
listen()
try:
    exec(program, space)
finally:
    sys.settrace(None)
    if hasattr(sys, "monitoring"):
        sys.monitoring.set_events(2, 0)
print(json.dumps(found))
