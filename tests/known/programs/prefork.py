"""gunicorn with two forked workers, each with a model; asks them 300 times, and ends them."""

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
        body = str(model(torch.randn(64, 512)).shape).encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def main():
    port = 20_000 + os.getpid() % 20_000
    words = ["-m", "gunicorn", "--log-level", "error", "-w", "2", "-b", f"127.0.0.1:{port}"]
    folder = os.path.dirname(os.path.abspath(__file__))
    server = subprocess.Popen([sys.executable, *words, "--chdir", folder, "prefork:app"])
    address = f"http://127.0.0.1:{port}/"
    answered = 0
    end = time.monotonic() + 30
    while answered < 300 and time.monotonic() < end:
        try:
            urllib.request.urlopen(address).read()
            answered += 1
        except OSError:
            time.sleep(0.05)
    server.send_signal(signal.SIGTERM)
    server.wait()
    print(answered)


if __name__ == "__main__":
    main()
