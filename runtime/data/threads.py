"""Threads of pipelines: elements fetched ahead, and functions run side by side.

A thread holds the source it reads, and never the iterator that it works for: when that
is dropped, the thread is told to stop and ends after its element. Threads are daemons,
and are told to stop before the interpreter ends.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from runtime.core.errors import InternalError
from runtime.data.structure import Element

#: How long a reader waits before it looks whether its threads are still there.
_LOOK = 1.0
#: The boxes of all running threads, to be closed before the interpreter ends.
_open: weakref.WeakSet[_Box] = weakref.WeakSet()


def thread_count(wanted: Any, name: str) -> int:
    """The number of threads for ``num_parallel_calls``: -1 leaves it to us.

    Then it is one. Python runs one thread at a time, but for large arrays: what several
    threads gain there is rarely more than what they cost elsewhere.
    """
    count = int(wanted)
    if count == -1:
        return 1
    if count < 1:
        raise ValueError(
            f"{name} is a number of threads or tf.data.AUTOTUNE, not {wanted}"
        )
    return count


class _Box:
    """What threads put for a reader: at most `size` things, then they wait."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: deque[tuple[bool, Any]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._pid = os.getpid()
        self._running = 0

    def run(self, work: Callable[[_Box], None], name: str) -> None:
        """Start a thread that fills the box."""
        self._running += 1
        thread = threading.Thread(target=_work, args=(self, work), name=name)
        thread.daemon = True
        self._threads.append(thread)
        _open.add(self)
        thread.start()

    def ended(self) -> None:
        """Note that a thread has ended."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def put(self, is_error: bool, item: Any) -> bool:
        """Add something; False if nobody wants it any more."""
        with self._changed:
            while len(self._items) >= self._size and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._items.append((is_error, item))
            self._changed.notify_all()
            return True

    @property
    def is_closed(self) -> bool:
        """Whether threads are to end."""
        return self._closed

    def get(self) -> Any:
        """The next thing; StopIteration once the threads have ended."""
        with self._changed:
            while not self._items and self._running and not self._closed:
                if not self._changed.wait(_LOOK):
                    self.check_process()
            if not self._items:
                raise StopIteration
            is_error, item = self._items.popleft()
            self._changed.notify_all()
        if is_error:
            raise item
        return item

    def check_process(self) -> None:
        """Raise where the threads are gone, since the process was forked."""
        if os.getpid() != self._pid:
            raise InternalError(
                "an iterator with threads cannot go on in a forked process; make a new "
                "one there"
            )

    def close(self) -> None:
        """Tell the threads to end."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

    def join(self, timeout: float) -> None:
        """Wait for the threads."""
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout)


def _work(box: _Box, work: Callable[[_Box], None]) -> None:
    try:
        work(box)
    finally:
        box.ended()


@atexit.register
def _close_all() -> None:
    boxes = list(_open)
    for box in boxes:
        box.close()
    for box in boxes:
        box.join(_LOOK)


class _Reader:
    """The iterator of what is in a box; the threads end with it."""

    def __init__(self, box: _Box) -> None:
        self._box = box

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        found: Element = self._box.get()
        return found

    def __del__(self) -> None:
        self._box.close()


class Ahead(_Reader):
    """Fetches up to `size` elements ahead, in a thread that the first `next` starts."""

    def __init__(self, source: Iterable[Element], size: int) -> None:
        super().__init__(_Box(size))
        self._source: Iterable[Element] | None = source

    def __next__(self) -> Element:
        source = self._source
        if source is not None:
            self._source = None
            self._box.run(partial(_fill, iter(source)), "tf.data prefetch")
            del source
        return super().__next__()


def _fill(source: Iterator[Element], box: _Box) -> None:
    while not box.is_closed:
        try:
            item = next(source)
        except StopIteration:
            return
        except BaseException as error:  # SystemExit would end the thread alone
            if not box.put(True, error):
                return
        else:
            if not box.put(False, item):
                return


def parallel_map(
    call: Callable[[Element], Element],
    source: Iterator[Element],
    threads: int,
    in_order: bool,
) -> Iterator[Element]:
    """The results of a function that several threads call."""
    return (
        _InOrder(call, source, threads) if in_order else _AsReady(call, source, threads)
    )


class _AsReady(_Reader):
    """Results in the order in which they are ready."""

    def __init__(
        self,
        call: Callable[[Element], Element],
        source: Iterator[Element],
        threads: int,
    ) -> None:
        super().__init__(_Box(threads))
        self._start: Any = (call, source, threads)

    def __next__(self) -> Element:
        if self._start is not None:
            call, source, threads = self._start
            self._start = None
            work = partial(_call_each, call, source, threading.Lock())
            for _ in range(threads):
                self._box.run(work, "tf.data map")
            del source, work
        return super().__next__()


def _call_each(
    call: Callable[[Element], Element],
    source: Iterator[Element],
    reading: threading.Lock,
    box: _Box,
) -> None:
    while not box.is_closed:
        try:
            with reading:
                element = next(source)
            result = call(element)
        except StopIteration:
            return
        except BaseException as error:  # SystemExit would end the thread alone
            if not box.put(True, error):
                return
        else:
            if not box.put(False, result):
                return


class _Promise:
    """A result that a thread will fill in."""

    __slots__ = ("element", "error", "ready", "result")

    def __init__(self, element: Element) -> None:
        self.element = element
        self.ready = threading.Event()
        self.error: BaseException | None = None
        self.result: Element = ()


class _InOrder:
    """Results in the order of the elements; the reader reads the source itself."""

    def __init__(
        self,
        call: Callable[[Element], Element],
        source: Iterator[Element],
        threads: int,
    ) -> None:
        self._source = source
        self._waiting: deque[_Promise | Exception] = deque()
        self._threads = threads
        self._todo = _Box(2 * threads)
        self._done = False
        self._call = call
        self._started = False

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if not self._started:
            self._started = True
            for _ in range(self._threads):
                self._todo.run(partial(_keep, self._call), "tf.data map")
        while not self._done and len(self._waiting) < 2 * self._threads:
            try:
                promise = _Promise(next(self._source))
            except StopIteration:
                self._done = True
            except Exception as error:
                self._waiting.append(error)
            else:
                self._waiting.append(promise)
                self._todo.put(False, promise)
        if not self._waiting:
            self._todo.close()
            raise StopIteration
        first = self._waiting.popleft()
        if isinstance(first, Exception):
            raise first
        while not first.ready.wait(_LOOK):
            self._todo.check_process()
        if first.error is not None:
            raise first.error
        return first.result

    def __del__(self) -> None:
        self._todo.close()


def _keep(call: Callable[[Element], Element], box: _Box) -> None:
    """Keep promises until the box is closed."""
    while not box.is_closed:
        try:
            promise = box.get()
        except StopIteration:
            return
        try:
            promise.result = call(promise.element)
        except BaseException as error:
            promise.error = error
        promise.ready.set()
        # The traceback of an error leads to the iterator, whose end closes the box.
        del promise
