"""Runs a program with all of its functions under line_profiler, and prints the hits of each line as JSON."""

import importlib.util
import inspect
import json
import sys

import line_profiler

path = sys.argv[1]
spec = importlib.util.spec_from_file_location("program", path)
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
profiler = line_profiler.LineProfiler()
for name, each in list(vars(program).items()):
    if inspect.isfunction(each) and each.__module__ == "program":
        setattr(program, name, profiler(each))
program.main()
found = {}
for lines in profiler.get_stats().timings.values():
    for line, hits, _ in lines:
        found[line] = found.get(line, 0) + hits
print(json.dumps(found))
