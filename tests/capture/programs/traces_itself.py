"""Traces itself by the means that its first argument names, and prints what it found."""

import sys
import threading


def traced():
    value = 1
    return value


def before():
    for _ in range(10):
        traced()


def after():
    for _ in range(5):
        traced()


def by_trace_function():
    lines = []

    def see(frame, event, _argument):
        if frame.f_code.co_name == "traced" and event == "line":
            lines.append(frame.f_lineno)
        return see

    sys.settrace(see)
    before()
    sys.settrace(None)
    print(len(lines))


def by_trace_function_and_back():
    mine = sys.gettrace()
    by_trace_function()
    sys.settrace(mine)


def by_trace_function_of_threads():
    threading.settrace(lambda *_: None)
    before()
    print(20)


def by_profile_function():
    seen = []

    def see(frame, event, _argument):
        if event == "call" and frame.f_code.co_name == "traced":
            seen.append(1)

    sys.setprofile(see)
    before()
    sys.setprofile(None)
    print(len(seen) * 2)


def by_monitoring():
    seen = []
    events = sys.monitoring.events
    tool = sys.monitoring.DEBUGGER_ID
    sys.monitoring.use_tool_id(tool, "mine")
    sys.monitoring.register_callback(tool, events.LINE, lambda code, line: seen.append(code.co_name))
    sys.monitoring.set_events(tool, events.LINE)
    before()
    sys.monitoring.set_events(tool, 0)
    sys.monitoring.free_tool_id(tool)
    print(seen.count("traced"))


def by_restarting_events():
    sys.monitoring.restart_events()
    before()
    print(20)


def by_taking_our_number():
    for tool in (3, 4):
        if sys.monitoring.get_tool(tool) is not None:
            sys.monitoring.free_tool_id(tool)
            sys.monitoring.use_tool_id(tool, "mine")
    print(20)
    before()


globals()["by_" + sys.argv[1]]()
after()
thread = threading.Thread(target=after)
thread.start()
thread.join()
