"""Answers requests with a model in threads, as its first word says; the second is how many.

http    a thread for each connection, as http.server has it
pool    a pool of threads, as web frameworks run what is not asynchronous
queue   threads that take work from a queue, for ever
async   an event loop that calls the model itself
train   a training loop in a thread of its own
operators  a pool whose work calls no module
"""

import asyncio
import concurrent.futures
import http.client
import http.server
import queue
import sys
import threading
import time

import torch

torch.set_num_threads(1)
LAYERS = torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)
MODEL = torch.nn.Sequential(*LAYERS).eval()


def answer(_=None):
    with torch.no_grad():
        MODEL(torch.randn(32, 256))
        return MODEL(torch.randn(32, 256)).shape[1]


def http_server(count):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = str(answer()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def ask(_):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
        connection.request("GET", "/")
        connection.getresponse().read()
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(3) as clients:
        for _ in clients.map(ask, range(count)):
            time.sleep(0.002)
    server.shutdown()
    thread.join()
    server.server_close()


def pool(count, work=answer):
    with concurrent.futures.ThreadPoolExecutor(4) as workers:
        for _ in range(count // 4):
            list(workers.map(work, range(4)))
            time.sleep(0.005)


def work_queue(count):
    waiting = queue.Queue()
    done = threading.Semaphore(0)

    def work():
        while True:
            waiting.get()
            answer()
            done.release()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    for number in range(count):
        waiting.put(number)
        time.sleep(0.003)
    for _ in range(count):
        done.acquire()


async def event_loop(count):
    for _ in range(count):
        await asyncio.sleep(0.003)
        answer()


def train(count):
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(count):
        optimizer.zero_grad()
        model(torch.randn(16, 64)).sum().backward()
        optimizer.step()


def operators(_):
    a = torch.ones(64, 64)
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        a @ a


if __name__ == "__main__":
    what, count = sys.argv[1], int(sys.argv[2])
    if what == "http":
        http_server(count)
    elif what == "pool":
        pool(count)
    elif what == "queue":
        work_queue(count)
    elif what == "async":
        asyncio.run(event_loop(count))
    elif what == "train":
        thread = threading.Thread(target=train, args=(count,))
        thread.start()
        thread.join()
    else:
        pool(count, operators)
    print("answered", count)
