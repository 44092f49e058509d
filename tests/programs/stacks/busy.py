"""Two threads that never wait for anything but the GIL; prints their ids, then goes on without end."""
import threading

begun = []


def work(say=None):
    begun.append(say)
    if say:
        print(say(), flush=True)
    while True:
        pass


def ids():
    return f"main {threading.get_native_id()}\nthread {first.native_id}\n"


first = threading.Thread(target=work, daemon=True)
first.start()
while not begun:
    pass
work(ids)
