"""Finds requests: what a thread, a pool or an event loop works on while somebody waits for it.
Knows nothing of torch.

A request is an item of work in which a model is called: what http.server or a server of WSGI
answers, what a ThreadPoolExecutor or anyio runs in a thread. Of what a server of ASGI, aiohttp or
tornado answers in an event loop it is what lies from where the server begins to answer to the end
of the last call of a model. A call of the model that lies in no such item is a request by itself.
Each thread has its own, and an event loop many at a time, so requests may overlap.
"""

from __future__ import annotations

import sys
import threading
import time
from contextvars import ContextVar
from typing import Any, Callable

from .failures import note, quietly
from .request_time import RequestTime, Spent
from .wrapping import named_like

monotonic_ns = time.monotonic_ns
get_ident = threading.get_ident

# An item with so many calls is a loop that works for ever; its calls are the requests.
CALLS_OF_LOOP = 1000


# What each server calls once for a request, in the thread that answers it. They may call each
# other: the outermost counts.
_WSGI = (
    ("wsgiref.handlers", "BaseHandler", "run"),
    ("werkzeug.serving", "WSGIRequestHandler", "run_wsgi"),
    ("gunicorn.workers.sync", "SyncWorker", "handle_request"),
    ("gunicorn.workers.gthread", "ThreadWorker", "handle_request"),
    ("waitress.task", "WSGITask", "execute"),
    ("cheroot.wsgi", "Gateway", "respond"),
)

# What servers call once for a request in their event loop, as a task awaits it.
_LOOPS = (
    ("uvicorn.protocols.http.h11_impl", "RequestResponseCycle", "run_asgi"),
    ("uvicorn.protocols.http.httptools_impl", "RequestResponseCycle", "run_asgi"),
    ("uvicorn.protocols.http.zttp_impl", "RequestResponseCycle", "run_asgi"),
    ("uvicorn.protocols.http.zttp_h2_impl", "RequestResponseCycle", "run_asgi"),
    ("hypercorn.app_wrappers", "ASGIWrapper", "__call__"),
    ("aiohttp.web_protocol", "RequestHandler", "_handle_request"),
    ("tornado.web", "RequestHandler", "_execute"),
)


class Answer:
    """What an event loop answers since `begin`, and the calls of models in it so far. `alone`: no
    other that calls one was answered meanwhile, so that what the thread did was done for this
    one."""

    def __init__(self, base: Spent | None) -> None:
        self.thread = get_ident()
        self.open = True
        self.alone = True
        self.end = 0
        self.calls = 0
        self.base = base
        self.spent: Spent | None = None
        # Others of this thread that have called a model.
        self.others: list[Answer] | None = None
        self.begin = monotonic_ns()


# Tasks that a request begins inherit it; what it has left behind outlives it.
_ANSWER: ContextVar[Answer | None] = ContextVar("fathom_answer", default=None)


def _answer() -> Answer | None:
    """The request that the calling task works on, in this thread."""
    answer = _ANSWER.get()
    return answer if answer and answer.open and answer.thread == get_ident() else None


class Requests:
    """`on_request(begin, end, spent)` is called by the thread that has answered one; `spent` is
    what it did meanwhile, of those of which `time` knows."""

    def __init__(
        self, on_request: Callable[[int, int, Spent | None], None], time: RequestTime | None = None
    ) -> None:
        self._on_request = on_request
        self._time = time or RequestTime()
        self._local = threading.local()
        # By what requests were begun: "server", "pool", "call".
        self.begun_by: set[str] = set()

    # Items of work

    @quietly
    def begin(self, way: str = "server") -> None:
        local = self._local
        local.depth = depth = getattr(local, "depth", 0) + 1
        if depth == 1:
            local.calls = 0
            local.way = way
            local.base = self._time.begin()
            local.begin = monotonic_ns()

    @quietly
    def end(self) -> None:
        local = self._local
        depth = getattr(local, "depth", 0)
        if depth > 0:
            local.depth = depth - 1
        if depth == 1:
            now = monotonic_ns()
            spent = self._time.end(local.base)
            if 0 < local.calls < CALLS_OF_LOOP:
                self.begun_by.add(local.way)
                self._on_request(local.begin, now, spent)

    # Answers of event loops

    @quietly
    def answer_begins(self) -> Answer | None:
        """A task of an event loop begins to answer. None within another answer: the outermost
        counts."""
        if _answer() is not None:
            return None
        answer = Answer(self._time.begin(at_once=False))
        _ANSWER.set(answer)
        return answer

    @quietly
    def answer_ends(self, answer: Answer) -> None:
        # One that worked for ever has been left.
        whole = answer.open and answer.end > 0
        self._leave(answer)
        if whole:
            self.begun_by.add("server")
            self._on_request(answer.begin, answer.end, answer.spent if answer.alone else None)

    def _first_call(self, answer: Answer) -> None:
        local = self._local
        others = local.__dict__.setdefault("answers", [])
        for other in others:
            other.alone = False
        answer.alone = not others and getattr(local, "answered", 0) <= answer.begin
        answer.others = others
        others.append(answer)
        self._time.heed(answer.base)

    def _leave(self, answer: Answer) -> None:
        """Nothing is its call any more."""
        answer.open = False
        self._time.forget(answer.base)
        if answer.others is not None:
            answer.others.remove(answer)
            answer.others = None
            self._local.answered = monotonic_ns()

    def is_serving(self) -> bool:
        """Whether the calling thread works on an item, or runs an event loop."""
        if getattr(self._local, "depth", 0):
            return True
        events = sys.modules.get("asyncio.events")
        return events is not None and events._get_running_loop() is not None

    # Calls of models

    def call_begins(self) -> None:
        local = self._local
        if not getattr(local, "depth", 0):
            answer = _answer()
            if answer is None:
                local.base = self._time.begin()
            elif answer.others is None:
                self._first_call(answer)
        local.call = monotonic_ns()

    def call_ends(self) -> None:
        local = self._local
        inside = getattr(local, "depth", 0)
        if inside:
            local.calls += 1
            if local.calls < CALLS_OF_LOOP:
                return
        else:
            answer = _answer()
            if answer is not None:
                answer.end = monotonic_ns()
                answer.calls += 1
                if answer.calls < CALLS_OF_LOOP:
                    answer.spent = self._time.so_far(answer.base)
                else:
                    # It works for ever, such as for a socket that stays open: its calls are
                    # the requests.
                    self._leave(answer)
                return
        began = getattr(local, "call", 0)
        if began:
            now = monotonic_ns()
            self.begun_by.add("call")
            # Of an item that turned out to be a loop nothing is known of a single call.
            self._on_request(began, now, None if inside else self._time.end(local.base))


class Servers:
    """Watches those who hand out work. `current` gives the requests of this process."""

    def __init__(self, finder: Any, current: Callable[[], Requests]) -> None:
        self._finder = finder
        self._current = current

    def install(self) -> None:
        for name, watch in (
            ("concurrent.futures.thread", self._pools),
            ("http.server", self._http),
            ("anyio.to_thread", self._anyio),
        ):
            self._finder.when_imported(name, self._noting(name, watch))
        for name, kind, method in _WSGI:
            self._finder.when_imported(name, self._noting(name, self._wsgi(kind, method)))
        for name, kind, method in _LOOPS:
            self._finder.when_imported(name, self._noting(name, self._loop(kind, method)))

    def _noting(self, name: str, watch: Callable[[Any], None]) -> Callable[[Any], None]:
        def call(module: Any) -> None:
            try:
                watch(module)
            except Exception as error:
                note("requests of " + name, repr(error))

        return call

    def _around(self, original: Any, way: str) -> Any:
        current = self._current

        @named_like(original)
        def item(*args: Any, **kwargs: Any) -> Any:
            requests = current()
            requests.begin(way)
            try:
                return original(*args, **kwargs)
            finally:
                requests.end()

        return item

    def _pools(self, module: Any) -> None:
        kind = module._WorkItem
        kind.run = self._around(kind.run, "pool")

    def _wsgi(self, kind: str, method: str) -> Callable[[Any], None]:
        def watch(module: Any) -> None:
            owner = getattr(module, kind)
            setattr(owner, method, self._around(getattr(owner, method), "server"))

        return watch

    def _loop(self, kind: str, method: str) -> Callable[[Any], None]:
        current = self._current

        def watch(module: Any) -> None:
            owner = getattr(module, kind)
            original = getattr(owner, method)

            @named_like(original)
            async def answered(*args: Any, **kwargs: Any) -> Any:
                # The start of a server and its open connections come by the same way.
                scope = next((each for each in args if isinstance(each, dict)), {})
                if scope.get("type", "http") != "http":
                    return await original(*args, **kwargs)
                requests = current()
                answer = requests.answer_begins()
                try:
                    return await original(*args, **kwargs)
                finally:
                    if answer is not None:
                        requests.answer_ends(answer)

            setattr(owner, method, answered)

        return watch

    def _http(self, module: Any) -> None:
        """From the first line of the request on, not from the wait for it. Servers of WSGI parse
        requests by this, too, and handle them otherwise."""
        kind = module.BaseHTTPRequestHandler
        parse, handle = kind.parse_request, kind.handle_one_request
        current = self._current

        @named_like(parse)
        def parse_request(this: Any) -> Any:
            if this.__dict__.get("_fathom_began") is False:
                this._fathom_began = True
                current().begin()
            return parse(this)

        @named_like(handle)
        def handle_one_request(this: Any) -> Any:
            this._fathom_began = False
            try:
                return handle(this)
            finally:
                if this.__dict__.pop("_fathom_began", False):
                    current().end()

        kind.parse_request, kind.handle_one_request = parse_request, handle_one_request

    def _anyio(self, module: Any) -> None:
        """What Starlette and FastAPI run `def` endpoints by."""
        original = module.run_sync
        around = self._around

        @named_like(original)
        async def run_sync(*args: Any, **kwargs: Any) -> Any:
            if args:
                args = (around(args[0], "pool"), *args[1:])
            elif "func" in kwargs:
                kwargs["func"] = around(kwargs["func"], "pool")
            return await original(*args, **kwargs)

        module.run_sync = run_sync
