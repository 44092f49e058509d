"""Times data loaders: each fetch of the training loop, and the samples, collation and pinning,
wherever they happen."""

from __future__ import annotations

import functools
import time
import weakref
from typing import Any, Iterator

from .failures import note

monotonic_ns = time.monotonic_ns

_SETTINGS = (
    "batch_size",
    "num_workers",
    "pin_memory",
    "persistent_workers",
    "prefetch_factor",
    "drop_last",
    "timeout",
)


class Loaders:
    def __init__(self, watch: Any, torch: Any) -> None:
        self._watch = watch
        self._torch = torch
        self.recorder = watch.recorder
        self.batches = 0
        # Of the loader whose batches the optimizer learns from; until it steps, of the first.
        self.settings: dict[str, Any] | None = None
        self._known: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
        self._latest: dict[str, Any] | None = None
        self._learnt = False
        self._counted = 0
        self._pinning = False

    def install(self) -> None:
        for part in (self._iterators, self._fetchers, self._pins, self._workers):
            try:
                part()
            except Exception as error:
                note("data loader: " + part.__name__.strip("_"), repr(error))

    def slice(self, name: str, kind: str, start: int, value: int) -> None:
        if self._watch.recording:
            self.recorder.record(name, kind, start, monotonic_ns() - start, value)

    def _iterators(self) -> None:
        kind = self._torch.utils.data.dataloader._BaseDataLoaderIter
        make, following = kind.__init__, kind.__next__
        watch = self._watch

        @functools.wraps(make)
        def __init__(this: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
            watch.makes_iterator()
            make(this, loader, *args, **kwargs)
            self._learn(this, loader)

        @functools.wraps(following)
        def __next__(this: Any) -> Any:
            # What follows the last batch may be validation.
            if watch.steps.source == "loader" or not _is_exhausted(this):
                watch.fetch()
            if not self._learnt:
                self._latest = self._known.get(this)
            start = monotonic_ns()
            batch = following(this)
            self.slice("fetch", "loader.fetch", start, self.batches)
            self.batches += 1
            return batch

        kind.__init__, kind.__next__ = __init__, __next__
        # Iterators of an older torch are their own `next`.
        if "next" in vars(kind):
            kind.next = __next__

    def restart(self) -> None:
        """Counts from nothing, as a forked child does."""
        self.batches = self._counted = 0

    def fetched_since(self) -> int:
        """Batches since this was asked before."""
        before, self._counted = self._counted, self.batches
        return self.batches - before

    def learns(self) -> None:
        """An optimizer's step is over: what was fetched for it comes from the training's loader."""
        if not self._learnt and self._latest is not None:
            self._learnt = True
            self.settings = self._latest
            self._known.clear()

    def _learn(self, iterator: Any, loader: Any) -> None:
        if self._learnt:
            return
        try:
            settings = {name: getattr(loader, name, None) for name in _SETTINGS}
            if settings["batch_size"] is None:
                sampler = getattr(loader, "batch_sampler", None)
                settings["batch_size"] = getattr(sampler, "batch_size", None)
            settings["dataset"] = type(loader.dataset).__name__
            settings["start_method"] = _start_method(loader)
            try:
                settings["samples"] = len(loader.dataset)
            except TypeError:
                settings["samples"] = None
            self._known[iterator] = settings
            self.settings = self.settings or settings
        except Exception as error:
            note("settings of the data loader", repr(error))

    def _fetchers(self) -> None:
        fetch = self._torch.utils.data._utils.fetch
        timed = self

        def instrument(kind: Any, iterable: bool) -> None:
            make = kind.__init__

            @functools.wraps(make)
            def __init__(this: Any, *args: Any, **kwargs: Any) -> None:
                make(this, *args, **kwargs)
                this.collate_fn = timed._collating(this.collate_fn, this.auto_collation)
                if iterable:
                    this.dataset_iter = timed._iterating(this.dataset_iter)
                else:
                    this.dataset = _TimedDataset(this.dataset, timed)

            kind.__init__ = __init__

        instrument(fetch._MapDatasetFetcher, False)
        instrument(fetch._IterableDatasetFetcher, True)

    def _collating(self, collate: Any, many: bool) -> Any:
        def timed_collate(samples: Any) -> Any:
            start = monotonic_ns()
            batch = collate(samples)
            self.slice("collate", "loader.collate", start, len(samples) if many else 1)
            return batch

        return timed_collate

    def _iterating(self, samples: Iterator[Any]) -> Iterator[Any]:
        number = 0
        while True:
            start = monotonic_ns()
            try:
                sample = next(samples)
            except StopIteration:
                return
            self.slice("sample", "loader.sample", start, number)
            number += 1
            yield sample

    def _pins(self) -> None:
        pins = self._torch.utils.data._utils.pin_memory
        original = pins.pin_memory

        @functools.wraps(original)
        def pin_memory(data: Any, *args: Any, **kwargs: Any) -> Any:
            if self._pinning:  # it calls itself for what it finds inside
                return original(data, *args, **kwargs)
            self._pinning = True
            start = monotonic_ns()
            try:
                return original(data, *args, **kwargs)
            finally:
                self._pinning = False
                self.slice("pin", "loader.pin", start, -1)

        pins.pin_memory = pin_memory

    def _workers(self) -> None:
        worker = self._torch.utils.data._utils.worker
        original = worker._worker_loop

        @functools.wraps(original)
        def _worker_loop(*args: Any, **kwargs: Any) -> Any:
            self._watch.become_worker()
            try:
                return original(*args, **kwargs)
            finally:
                self.recorder.writer.finish()

        worker._worker_loop = _worker_loop


class _TimedDataset:
    """Stands before a dataset inside a fetcher, and nowhere else."""

    def __init__(self, dataset: Any, loaders: Loaders) -> None:
        self._dataset = dataset
        self._slice = loaders.slice

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":
            return self._many(self._dataset.__getitems__)
        return getattr(self._dataset, name)

    def __getitem__(self, index: Any) -> Any:
        start = monotonic_ns()
        sample = self._dataset[index]
        self._slice("sample", "loader.sample", start, index if type(index) is int else -1)
        return sample

    def _many(self, get: Any) -> Any:
        """A dataset that gives a whole batch at once; a false value means that it does not."""
        if not get:
            return get

        def __getitems__(indices: Any) -> Any:
            start = monotonic_ns()
            samples = get(indices)
            self._slice("samples", "loader.sample", start, -1)
            return samples

        return __getitems__


def _is_exhausted(iterator: Any) -> bool:
    """Whether this iterator is known to have no batch left."""
    try:
        kind = iterator._dataset_kind
        # Of other data sets the sampler has no end.
        return bool(kind == 0 and iterator._num_yielded >= len(iterator._index_sampler))
    except Exception:  # a sampler without a length
        return False


def _start_method(loader: Any) -> str | None:
    context = getattr(loader, "multiprocessing_context", None)
    if not getattr(loader, "num_workers", 0):
        return None
    if context is None:
        import multiprocessing

        return multiprocessing.get_start_method()
    return str(context.get_start_method())
