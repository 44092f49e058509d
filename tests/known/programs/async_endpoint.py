"""uvicorn with an `async def` endpoint that calls a model; it asks itself 300 times, and ends."""

import asyncio
import threading
import urllib.request

import torch
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512), torch.nn.ReLU()] * 4).eval()


async def answer(_):
    with torch.inference_mode():
        return PlainTextResponse(str(model(torch.randn(64, 512)).shape))


def ask(server, port):
    for _ in range(300):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/").read()
    server.should_exit = True


async def main():
    app = Starlette(routes=[Route("/", answer)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    threading.Thread(target=ask, args=(server, port)).start()
    await task


asyncio.run(main())
