"""Finds requests: what a thread, a pool or an event loop works on while somebody waits for it.
Knows nothing of torch.

A request is an item of work in which a model is called: what http.server or a server of WSGI
answers, what a ThreadPoolExecutor or anyio runs in a thread. A call of the model that lies in no
such item is a request by itself. Each thread has its own, so requests may overlap.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Callable

from .failures import note, quietly
from .request_time import RequestTime, Spent
from .wrapping import named_like

monotonic_ns = time.monotonic_ns

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


class Requests:
    """`on_request(begin, end, spent)` is called by the thread that has answered one; `spent` is
    what it did meanwhile, of those of which `time` knows."""

    def __init__(
        self, on_request: Callable[[int, int, Spent | None], None], time: RequestTime | None = None
    ) -> None:
        self._on_request = on_request
        self._time = time or RequestTime()
        self._local = threading.local()

    # Items of work

    @quietly
    def begin(self) -> None:
        local = self._local
        local.depth = depth = getattr(local, "depth", 0) + 1
        if depth == 1:
            local.calls = 0
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
                self._on_request(local.begin, now, spent)

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
            local.base = self._time.begin()
        local.call = monotonic_ns()

    def call_ends(self) -> None:
        local = self._local
        inside = getattr(local, "depth", 0)
        if inside:
            local.calls += 1
            if local.calls < CALLS_OF_LOOP:
                return
        began = getattr(local, "call", 0)
        if began:
            now = monotonic_ns()
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

    def _noting(self, name: str, watch: Callable[[Any], None]) -> Callable[[Any], None]:
        def call(module: Any) -> None:
            try:
                watch(module)
            except Exception as error:
                note("requests of " + name, repr(error))

        return call

    def _around(self, original: Any) -> Any:
        current = self._current

        @named_like(original)
        def item(*args: Any, **kwargs: Any) -> Any:
            requests = current()
            requests.begin()
            try:
                return original(*args, **kwargs)
            finally:
                requests.end()

        return item

    def _pools(self, module: Any) -> None:
        kind = module._WorkItem
        kind.run = self._around(kind.run)

    def _wsgi(self, kind: str, method: str) -> Callable[[Any], None]:
        def watch(module: Any) -> None:
            owner = getattr(module, kind)
            setattr(owner, method, self._around(getattr(owner, method)))

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
                args = (around(args[0]), *args[1:])
            elif "func" in kwargs:
                kwargs["func"] = around(kwargs["func"])
            return await original(*args, **kwargs)

        module.run_sync = run_sync
