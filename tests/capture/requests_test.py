#!/usr/bin/env python3
"""What the hook takes for a request, of servers in threads, and what their threads did meanwhile."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib.util
import io
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from typing import Any, Callable, List
from unittest import mock

HOOK = pathlib.Path(__file__).resolve().parents[2] / "python/fathom_hook"
sys.path.insert(0, str(HOOK))

from fathom_recorder.imports import Finder  # noqa: E402
from fathom_recorder.request_time import RequestTime  # noqa: E402
from fathom_recorder.requests import _LOOPS as requests_of_loops  # noqa: E402
from fathom_recorder.requests import Requests, Servers  # noqa: E402


class Watched(unittest.TestCase):
    """One process, whose servers are watched once."""

    finder = Finder()
    current: Requests

    @classmethod
    def setUpClass(cls) -> None:
        if not hasattr(Watched, "current"):
            Watched.current = Requests(lambda *_: None)
            Watched.finder.install()
            Servers(Watched.finder, lambda: Watched.current).install()

    def setUp(self) -> None:
        self.seen: list[tuple[int, int, Any]] = []
        self.time = RequestTime()
        Watched.current = Requests(lambda *request: self.seen.append(request), self.time)

    def model(self) -> None:
        Watched.current.call_begins()
        Watched.current.call_ends()

    def app(self, environ: Any, start: Callable[..., Any]) -> list[bytes]:
        self.model()
        self.model()
        start("200 OK", [("Content-Length", "2"), ("Content-Type", "text/plain")])
        return [b"ok"]

    def ask(self, port: int, times: int) -> None:
        for _ in range(times):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
                answer = b""
                while part := connection.recv(4096):
                    answer += part
            self.assertIn(b"200", answer)

    def check_program(self, command: list[str], more: str = "") -> None:
        """Four requests are seen of a server; PORT in its command stands for the port."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "served.py").write_text(SERVED.format(hook=str(HOOK)) + more)
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            log = pathlib.Path(folder, "seen")
            paths = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
            server = subprocess.Popen(
                [word.replace("PORT", str(port)) for word in command],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": paths, "SEEN": str(log)},
                stderr=subprocess.DEVNULL,
            )
            end = time.monotonic() + 30
            asked = 0
            while asked < 4 and time.monotonic() < end:
                try:
                    self.ask(port, 1)
                    asked += 1
                except OSError:
                    time.sleep(0.05)
            server.terminate()
            server.wait(30)
            self.assertEqual((asked, len(log.read_text().split())), (4, 4))


class Wsgi(Watched):
    def test_what_wsgiref_answers_is_a_request(self) -> None:
        from wsgiref.simple_server import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

        with make_server("127.0.0.1", 0, self.app, handler_class=Quiet) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            self.ask(server.server_port, 3)
            server.shutdown()
            thread.join()
        self.assertEqual(len(self.seen), 3)
        for begin, end, spent in self.seen:
            self.assertLess(begin, end)
            self.assertGreater(spent[0], 0)

    def test_what_werkzeug_answers_is_a_request(self) -> None:
        if not importlib.util.find_spec("werkzeug"):
            self.skipTest("werkzeug is not installed")
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):  # type: ignore[misc,unused-ignore]
            def log(self, *_: Any) -> None:
                pass

        closed: list[int] = []

        class Body(List[bytes]):
            def close(self) -> None:
                closed.append(1)

        def app(environ: Any, start: Callable[..., Any]) -> Body:
            return Body(self.app(environ, start))

        server = make_server("127.0.0.1", 0, app, request_handler=Quiet)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.ask(server.server_port, 3)
        server.shutdown()
        thread.join()
        server.server_close()
        self.assertEqual((len(self.seen), len(closed)), (3, 3))

    def test_what_http_server_answers_is_a_request(self) -> None:
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        model = self.model

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                model()
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            self.ask(server.server_port, 3)
            server.shutdown()
            thread.join()
        self.assertEqual(len(self.seen), 3)

    def test_a_server_that_parses_by_http_server_and_handles_itself_leaves_nothing_open(self) -> None:
        """As older werkzeug does: its thread can answer other requests afterwards."""
        from http.server import BaseHTTPRequestHandler

        outer = self

        class Handler(BaseHTTPRequestHandler):
            def __init__(self) -> None:
                self.rfile, self.wfile = io.BytesIO(b"GET / HTTP/1.0\r\n\r\n"), io.BytesIO()
                self.raw_requestline = self.rfile.readline()
                outer.assertTrue(self.parse_request())

        Handler()
        self.assertFalse(Watched.current.is_serving())

    def test_classes_of_servers_are_watched_where_they_are_imported(self) -> None:
        for name, kind, method in (
            ("werkzeug.serving", "WSGIRequestHandler", "run_wsgi"),
            ("gunicorn.workers.sync", "SyncWorker", "handle_request"),
            ("gunicorn.workers.gthread", "ThreadWorker", "handle_request"),
            ("waitress.task", "WSGITask", "execute"),
            ("cheroot.wsgi", "Gateway", "respond"),
        ):
            if importlib.util.find_spec(name.partition(".")[0]):
                continue  # the real one is watched below
            module = types.ModuleType(name)
            module.__spec__ = importlib.util.spec_from_loader(name, None)
            owner = type(kind, (), {method: lambda this, work: work()})
            setattr(module, kind, owner)
            sys.modules[name] = module
            try:
                Servers(Finder(), lambda: Watched.current).install()
            finally:
                del sys.modules[name]
            seen = len(self.seen)
            getattr(owner(), method)(self.model)
            self.assertEqual(len(self.seen), seen + 1, name)
            self.assertEqual(getattr(owner, method).__name__, "<lambda>")

    def test_what_anyio_runs_may_be_named(self) -> None:
        async def run_sync(func: Callable[..., Any], *args: Any, limiter: Any = None) -> Any:
            return func(*args), limiter

        module: Any = types.ModuleType("anyio.to_thread")
        module.run_sync = run_sync
        Servers(Finder(), lambda: Watched.current)._anyio(module)

        def work(number: int = 0) -> int:
            self.model()
            return number + 1

        self.assertEqual(asyncio.run(module.run_sync(work, 2, limiter=5)), (3, 5))
        self.assertEqual(asyncio.run(module.run_sync(func=work)), (1, None))
        self.assertEqual(len(self.seen), 2)
        with self.assertRaises(TypeError):
            asyncio.run(module.run_sync())

    def test_what_gunicorn_answers_is_a_request(self) -> None:
        for worker in (("-k", "sync"), ("-k", "gthread", "--threads", "2")):
            self.check_server("gunicorn", ["-w", "1", *worker, "-b", "127.0.0.1:PORT", "served:app"])

    def test_what_waitress_answers_is_a_request(self) -> None:
        self.check_server("waitress", ["--listen", "127.0.0.1:PORT", "served:app"])

    def check_server(self, name: str, words: list[str]) -> None:
        if not importlib.util.find_spec(name):
            self.skipTest(f"{name} is not installed")
        self.check_program([sys.executable, "-m", name, *words])


class Loops(Watched):
    """What servers answer in an event loop, of a made module with the names of each."""

    def server(self, name: str, kind: str, method: str) -> Any:
        async def answer(this: Any, app: Any, *_: Any) -> Any:
            return await app()

        module: Any = types.ModuleType(name)
        setattr(module, kind, type(kind, (), {method: answer}))
        for known in requests_of_loops:
            if known == (name, kind, method):
                Servers(Finder(), lambda: Watched.current)._loop(kind, method)(module)
        return getattr(getattr(module, kind)(), method)

    def uvicorn(self) -> Any:
        return self.server("uvicorn.protocols.http.h11_impl", "RequestResponseCycle", "run_asgi")

    def test_an_answer_is_one_request_however_often_it_calls_and_waits(self) -> None:
        async def app() -> str:
            self.model()
            await asyncio.sleep(0.02)
            self.model()
            return "ok"

        for name, kind, method in requests_of_loops:
            self.seen.clear()
            self.assertEqual(asyncio.run(self.server(name, kind, method)(app)), "ok")
            self.assertEqual(len(self.seen), 1, name)
            begin, end, spent = self.seen[0]
            self.assertGreaterEqual(end - begin, 20_000_000)
            self.assertLess(spent[0], end - begin)

    def test_answers_at_once_are_requests_that_overlap_and_share_the_thread(self) -> None:
        async def app() -> None:
            self.model()
            await asyncio.sleep(0.02)
            self.model()
            await asyncio.sleep(0)

        async def all_at_once() -> None:
            serve = self.uvicorn()
            await asyncio.gather(*(serve(app) for _ in range(3)))
            await serve(app)

        asyncio.run(all_at_once())
        self.assertEqual(len(self.seen), 4)
        for begin, end, _ in self.seen:
            self.assertGreaterEqual(end - begin, 20_000_000)
        self.assertLess(self.seen[2][0], self.seen[0][1])
        # What the thread did for one of those at once is not known.
        self.assertEqual([spent is None for _, _, spent in self.seen], [True, True, True, False])

    def test_an_answer_without_a_model_and_one_that_works_in_a_thread_are_no_further_requests(self) -> None:
        async def idle() -> None:
            await asyncio.sleep(0)

        async def threaded() -> None:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                await asyncio.get_running_loop().run_in_executor(pool, self.model)

        asyncio.run(self.uvicorn()(idle))
        self.assertEqual(self.seen, [])
        asyncio.run(self.uvicorn()(threaded))
        self.assertEqual(len(self.seen), 1)  # the item of the pool

    def test_the_outermost_answer_counts_and_one_that_fails_is_over(self) -> None:
        serve = self.uvicorn()

        async def inner() -> None:
            self.model()

        async def fails() -> None:
            await serve(inner)
            raise ValueError

        with self.assertRaises(ValueError):
            asyncio.run(serve(fails))
        self.assertEqual(len(self.seen), 1)

    def test_calls_behind_an_answer_are_requests_by_themselves(self) -> None:
        async def later() -> None:
            await asyncio.sleep(0.01)
            self.model()

        async def both() -> None:
            tasks = []

            async def app() -> None:
                self.model()
                tasks.append(asyncio.ensure_future(later()))

            await self.uvicorn()(app)
            await tasks[0]

        asyncio.run(both())
        self.assertEqual(len(self.seen), 2)

    def test_the_start_of_a_server_and_open_connections_are_no_requests(self) -> None:
        serve = self.server("hypercorn.app_wrappers", "ASGIWrapper", "__call__")

        async def app() -> None:
            self.model()
            self.model()

        asyncio.run(serve(app, {"type": "websocket"}))
        self.assertEqual(len(self.seen), 2)
        asyncio.run(serve(app, {"type": "http"}))
        self.assertEqual(len(self.seen), 3)

    def test_a_request_lasts_from_where_the_server_begins_to_answer_to_the_last_call(self) -> None:
        seen: dict[str, int] = {}

        async def app() -> None:
            seen["entered"] = time.monotonic_ns()
            end = time.thread_time_ns() + 5_000_000
            while time.thread_time_ns() < end:  # what the server parses, and asks others for
                pass
            await asyncio.sleep(0.02)
            self.model()
            seen["called"] = time.monotonic_ns()
            await asyncio.sleep(0.02)
            seen["left"] = time.monotonic_ns()

        before = time.monotonic_ns()
        for name, kind, method in requests_of_loops:
            asyncio.run(self.server(name, kind, method)(app))
            begin, end, spent = self.seen[-1]
            self.assertLessEqual(before, begin)
            self.assertLessEqual(begin, seen["entered"], name)
            self.assertLessEqual(end, seen["called"], name)
            self.assertLess(end, seen["left"])
            self.assertGreaterEqual(spent[0], 5_000_000, name)
            before = seen["left"]
        self.assertEqual(self.time._active, {})

    def test_one_that_began_while_another_was_answered_shared_the_thread(self) -> None:
        async def called(wait: float) -> None:
            await asyncio.sleep(wait)
            self.model()

        async def both() -> None:
            serve = self.uvicorn()
            first = asyncio.ensure_future(serve(lambda: called(0)))
            second = asyncio.ensure_future(serve(lambda: called(0.05)))
            await first
            await second  # its call came when the first was over
            await serve(lambda: called(0))

        asyncio.run(both())
        self.assertEqual([spent is None for _, _, spent in self.seen], [False, True, False])
        self.assertEqual(self.time._active, {})

    def test_an_answer_without_a_model_takes_no_looks_from_one_that_has_one(self) -> None:
        async def idle(until: asyncio.Event) -> None:
            await until.wait()

        async def asked(until: asyncio.Event) -> None:
            self.model()
            entry = dict(self.time._active)
            until.set()
            await asyncio.sleep(0.01)
            self.assertEqual(self.time._active, entry)
            self.model()

        async def both() -> None:
            serve, until = self.uvicorn(), asyncio.Event()
            waits = asyncio.ensure_future(serve(lambda: idle(until)))
            await asyncio.sleep(0)
            await serve(lambda: asked(until))
            await waits

        asyncio.run(both())
        self.assertEqual(len(self.seen), 1)
        self.assertIsNotNone(self.seen[0][2])
        self.assertEqual(self.time._active, {})

    def test_of_an_answer_that_works_for_ever_each_further_call_is_a_request(self) -> None:
        async def app() -> None:
            for _ in range(8):
                self.model()

        with mock.patch("fathom_recorder.requests.CALLS_OF_LOOP", 5):
            asyncio.run(self.uvicorn()(app))
        self.assertEqual(len(self.seen), 3)
        self.assertEqual(self.time._active, {})
        # It is in the way of no other one.
        asyncio.run(self.uvicorn()(app))
        self.assertIsNotNone(self.seen[-1][2])

    def test_beyond_many_lanes_requests_are_not_on_the_timeline(self) -> None:
        from fathom_recorder.torch_requests import _MOST_LANES, TorchRequests

        requests = TorchRequests(None)
        lanes = [requests._lane(at, 1000 + at) for at in range(_MOST_LANES + 3)]
        self.assertEqual(len(set(lanes[:_MOST_LANES])), _MOST_LANES)
        self.assertEqual(lanes[_MOST_LANES:], [None, None, None])

    def test_slices_of_requests_that_cross_lie_in_lanes(self) -> None:
        from fathom_recorder.torch_requests import TorchRequests
        from fathom_recorder.wire import get_native_id

        requests = TorchRequests(None)
        lanes: dict[int, list[tuple[int, int]]] = {}
        chance = random.Random(1)
        for end in range(10, 2000, 3):
            end -= chance.choice((0, 0, 7))  # what an answer does behind its last call takes long
            begin = end - chance.choice((1, 2, 5, 20, 60))
            lanes.setdefault(requests._lane(begin, end), []).append((begin, end))
        for written in lanes.values():
            for b, e in written:
                for begin, end in written:
                    self.assertFalse(b < begin < e < end)
        self.assertGreater(len(lanes), 2)
        self.assertIn(0, lanes)
        self.assertIn(get_native_id() + (1 << 22), lanes)

    def test_what_uvicorn_answers_is_a_request(self) -> None:
        self.check_loop("uvicorn", "uvicorn.run(app, port=PORT, log_level='critical')")

    def test_what_aiohttp_answers_is_a_request(self) -> None:
        self.check_loop("aiohttp.web", AIOHTTP)

    def check_loop(self, name: str, serve: str) -> None:
        if not importlib.util.find_spec(name.partition(".")[0]):
            self.skipTest(f"{name} is not installed")
        self.check_program([sys.executable, "-c", f"from served import app\nimport {name}\n{serve}"], LOOPED)


AIOHTTP = """
from aiohttp import web
async def answer(request):
    await app({"type": "http"}, None, None)
    return web.Response(text="200")
site = web.Application()
site.router.add_get("/", answer)
web.run_app(site, host="127.0.0.1", port=PORT, print=None)
"""

LOOPED = """

async def app(scope, receive, send):
    if scope["type"] == "http":
        requests.call_begins()
        requests.call_ends()
        await asyncio.sleep(0.001)
        requests.call_begins()
        requests.call_ends()
        if send is not None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"200"})

import asyncio
"""

SERVED = """
import os, sys
sys.path.insert(0, {hook!r})
from fathom_recorder.imports import Finder
from fathom_recorder.requests import Requests, Servers

def seen(*request):
    with open(os.environ["SEEN"], "a") as file:
        file.write("request\\n")

requests = Requests(seen)
finder = Finder()
finder.install()
Servers(finder, lambda: requests).install()

def app(environ, start):
    requests.call_begins()
    requests.call_ends()
    start("200 OK", [("Content-Length", "2"), ("Content-Type", "text/plain")])
    return [b"ok"]
"""


class Times(Watched):
    def request(self, work: Callable[[], None]) -> None:
        Watched.current.begin()
        self.model()
        work()
        Watched.current.end()
        begin, end, spent = self.seen[-1]
        self.time.add(end - begin, spent, False)

    def test_a_request_computes_or_waits(self) -> None:
        def compute() -> None:
            end = time.thread_time_ns() + 30_000_000
            while time.thread_time_ns() < end:
                pass

        self.request(compute)
        times = self.time.facts()["thread_time"]["other"]
        self.assertEqual(times["steps"], 1)
        self.assertGreaterEqual(times["cpu_ns"], 29_000_000)

        gate = threading.Event()

        def wait() -> None:
            for _ in range(3):
                self.time.look()
            gate.wait(0.05)

        self.request(wait)
        times = self.time.facts()["thread_time"]["other"]
        self.assertEqual(times["steps"], 2)
        self.assertGreaterEqual(times["wall_ns"] - times["cpu_ns"], 45_000_000)

    def test_where_a_thread_waits_in_a_request_is_seen_from_another(self) -> None:
        begun, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            begun.set()
            go_on.wait()

        thread = threading.Thread(target=lambda: self.request(wait))
        thread.start()
        begun.wait()
        place = f"{pathlib.Path(__file__).name}:{wait.__code__.co_firstlineno + 2} in wait"
        end = time.monotonic() + 30
        while time.monotonic() < end:
            self.time.look()
            # It may first be found asleep where it was to get the interpreter's lock back.
            if any(place in looks._places for _, looks in self.time._active.values()):
                break
        self.assertEqual(self.time.facts()["thread_time"], None)  # may be no request
        go_on.set()
        thread.join()
        self.assertIn(place, [seen for seen, _ in self.time.facts()["thread_time"]["waits"]])

    def test_work_without_a_model_is_no_request_and_of_many_some_are_read(self) -> None:
        Watched.current.begin()
        Watched.current.end()
        self.assertEqual(self.seen, [])
        for _ in range(1200):
            self.request(lambda: None)
        self.assertEqual(len(self.seen), 1200)
        self.assertEqual(self.time.facts()["thread_time"]["other"]["steps"], 399 + 100)

    def test_calls_of_an_item_that_works_for_ever_are_requests(self) -> None:
        Watched.current.begin()
        for _ in range(1100):
            self.model()
        Watched.current.end()
        self.assertEqual(len(self.seen), 101)
        self.assertTrue(all(spent is None for _, _, spent in self.seen))


if __name__ == "__main__":
    unittest.main()
