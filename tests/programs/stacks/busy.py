"""Two threads that never wait for anything but the GIL; prints their ids, then goes on without end."""
import threading


def work():
    while True:
        pass


first = threading.Thread(target=work, daemon=True)
first.start()
print("main", threading.get_native_id())
print("thread", first.native_id)
print(flush=True)
work()
