"""Profiles itself by the means that its first argument names, and prints what it found."""

import cProfile
import profile as profile_module
import pstats
import sys
import threading


def called():
    return 1


def before():
    for _ in range(10):
        called()


def after():
    for _ in range(5):
        called()


def by_cprofile():
    profile = cProfile.Profile()
    profile.enable()
    before()
    profile.disable()
    rows = pstats.Stats(profile).stats.items()
    print(next(row[1] for (_, _, name), row in rows if name == "called"))


def by_profile_module():
    profile = profile_module.Profile()
    profile.runcall(before)
    profile.create_stats()
    print(next(row[1] for (_, _, name), row in profile.stats.items() if name == "called"))


def by_profile_function():
    seen = []

    def see(frame, event, _argument):
        if event == "call" and frame.f_code.co_name == "called":
            seen.append(1)

    sys.setprofile(see)
    before()
    sys.setprofile(None)
    print(len(seen))


def by_profile_function_and_back():
    mine = sys.getprofile()
    by_profile_function()
    sys.setprofile(mine)


def by_trace_function():
    lines = []

    def see(frame, event, _argument):
        if frame.f_code.co_name == "called" and event == "line":
            lines.append(frame.f_lineno)
        return see

    sys.settrace(see)
    before()
    sys.settrace(None)
    print(len(lines))


def by_monitoring():
    seen = []
    tool = sys.monitoring.PROFILER_ID
    event = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(tool, "mine")
    sys.monitoring.register_callback(tool, event, lambda code, _: seen.append(code.co_name))
    sys.monitoring.set_events(tool, event)
    before()
    sys.monitoring.set_events(tool, 0)
    sys.monitoring.free_tool_id(tool)
    print(seen.count("called"))


def by_taking_our_number():
    for tool in (3, 4):
        if sys.monitoring.get_tool(tool) is not None:
            sys.monitoring.free_tool_id(tool)
            sys.monitoring.use_tool_id(tool, "mine")
    print(10)
    before()


globals()["by_" + sys.argv[1]]()
after()
thread = threading.Thread(target=after)
thread.start()
thread.join()
