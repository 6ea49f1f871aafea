"""Threads of pipelines: elements fetched ahead, and functions run side by side.

A thread knows its tasks, and never the iterator that it works for: when that is
dropped, the thread is told to stop and ends after its task. Threads are daemons, which
are told to stop before the interpreter ends; it would wait for those of an executor of
`concurrent.futures`, and for ever where a source does.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from runtime.core.errors import InternalError
from runtime.data.structure import Element

#: How long a reader waits before it looks whether its threads are still there.
_LOOK = 1.0
#: Those with running threads, to be closed before the interpreter ends.
_open: weakref.WeakSet[_Threads] = weakref.WeakSet()
_Futures = deque[Future[Element]]


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


class _Threads:
    """Threads that carry out tasks until this object is dropped."""

    def __init__(self, count: int, name: str) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        # Not a method: a thread must not hold the object.
        self._threads = [
            threading.Thread(target=_work, args=(self._tasks,), name=name, daemon=True)
            for _ in range(count)
        ]
        self._pid = 0

    def submit(self, call: Callable[[Any], Element], argument: Any) -> Future[Element]:
        """Have a thread call a function; the first task starts the threads."""
        if not self._pid:
            self._pid = os.getpid()
            _open.add(self)
            for thread in self._threads:
                thread.start()
        future: Future[Element] = Future()
        self._tasks.put((future, call, argument))
        return future

    def result(self, waiting: _Futures, in_order: bool = True) -> Element:
        """The result of the first task, or of the first that is done; it is removed."""
        while True:
            for future in waiting:
                if future.done():
                    waiting.remove(future)
                    return future.result()
                if in_order:
                    break
            some = [waiting[0]] if in_order else waiting
            if not wait(some, _LOOK, FIRST_COMPLETED).done and os.getpid() != self._pid:
                raise InternalError(
                    "an iterator with threads cannot go on in a forked process; make a "
                    "new one there"
                )

    def close(self) -> None:
        """Tell the threads to end after their tasks."""
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()
        for _ in self._threads:
            self._tasks.put(None)

    def join(self, timeout: float) -> None:
        """Wait for the threads."""
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout)

    __del__ = close


def _work(tasks: SimpleQueue[Any]) -> None:
    while (task := tasks.get()) is not None:
        future, call, argument = task
        try:
            future.set_result(call(argument))
        except BaseException as error:  # SystemExit would end the thread alone
            future.set_exception(error)
        # The traceback of an error leads to the iterator, whose end closes the threads.
        del task, future, call, argument


@atexit.register
def _close_all() -> None:
    opened = list(_open)
    for threads in opened:
        threads.close()
    for threads in opened:
        threads.join(_LOOK)


def ahead(source: Iterator[Element], size: int) -> Iterator[Element]:
    """Fetches up to `size` elements ahead, in a thread that the first `next` starts."""
    threads, waiting = _Threads(1, "tf.data prefetch"), _Futures()

    def item() -> Element:
        # One is given out, and one is in the hand of the thread.
        while len(waiting) < size + 2:
            waiting.append(threads.submit(next, source))
        return threads.result(waiting)

    return iter(item, None)


def parallel_map(
    call: Callable[[Element], Element],
    source: Iterator[Element],
    count: int,
    in_order: bool,
) -> Iterator[Element]:
    """The results of a function that several threads call; the reader reads the source.

    They come in the order of the elements, or in that in which they are ready.
    """
    threads, waiting, has_more = _Threads(count, "tf.data map"), _Futures(), True

    def item() -> Element | None:
        nonlocal has_more
        while has_more and len(waiting) < 2 * count:
            try:
                future = threads.submit(call, next(source))
            except StopIteration:
                has_more = False
                break
            except Exception as error:
                future = Future()
                future.set_exception(error)
            waiting.append(future)
        return threads.result(waiting, in_order) if waiting else None

    return iter(item, None)
