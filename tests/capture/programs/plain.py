"""Plain Python: a thread, children of each kind, a collection."""

import gc
import multiprocessing
import os
import subprocess
import sys
import threading


def work(count):
    return sum(square(i) for i in range(count))


def square(number):
    return number * number


if __name__ == "__main__":
    assert not [entry for entry in sys.path if os.path.exists(os.path.join(entry, "fathom_recorder"))], sys.path
    assert "fathom" not in str(sys.modules.get("sitecustomize"))
    thread = threading.Thread(target=work, args=(20000,), name="adder")
    thread.start()
    thread.join()
    for method in sys.argv[1:]:
        child = multiprocessing.get_context(method).Process(target=work, args=(1000,))
        child.start()
        child.join()
        assert child.exitcode == 0
    subprocess.run([sys.executable, "-c", "print('subprocess')"], check=True)
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    assert os.waitpid(pid, 0)[1] >> 8 == 3
    things = [[i] for i in range(200000)]
    gc.collect()
    print("worked", work(5000))
