"""gunicorn with two forked workers, each with a model; asks them for four seconds, and ends them."""

import os
import signal
import subprocess
import sys
import time
import urllib.request

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512), torch.nn.ReLU()] * 4).eval()


def app(_, start):
    with torch.inference_mode():
        body = f"{os.getpid()} {model(torch.randn(64, 512)).shape}".encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def main():
    port = 20_000 + os.getpid() % 20_000
    words = ["-m", "gunicorn", "--log-level", "error", "-w", "2", "-b", f"127.0.0.1:{port}"]
    folder = os.path.dirname(os.path.abspath(__file__))
    server = subprocess.Popen([sys.executable, *words, "--chdir", folder, "prefork:app"])
    address = f"http://127.0.0.1:{port}/"
    answered = {}  # by worker: each has to answer some
    end = time.monotonic() + 60
    enough = None
    while time.monotonic() < (enough or end):
        try:
            worker = urllib.request.urlopen(address).read().split()[0]
            answered[worker] = answered.get(worker, 0) + 1
        except OSError:
            time.sleep(0.05)
        if enough is None and len(answered) == 2 and min(answered.values()) >= 5:
            enough = time.monotonic() + 4
    server.send_signal(signal.SIGTERM)
    server.wait()
    print(answered)


if __name__ == "__main__":
    main()
