"""Work that is shared between threads: NumPy computes large blocks without the GIL.

The workers are few, start when there is work for them for the first time, and end with
the process. The calling thread always takes part: a worker that comes late, because the
machine is busy, finds nothing left to do and delays nobody.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from typing import Any

import numpy as np

from runtime.core import config


def _cores() -> int:
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # Not on every system.
        found = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(found, int(limit)) if limit.isdecimal() and int(limit) else found


#: The processors that this process may use: no more than NumPy's linear algebra does.
CORES = _cores()


class _Here(threading.local):
    #: Whether the thread is one of several that share some work.
    shares = False
    #: See `plainly`.
    is_plain = False


_here = _Here()


def allowed_threads() -> int:
    """How many threads an operation may use here.

    Work that is shared already is not split any further.
    """
    if _here.shares or _here.is_plain:
        return 1
    return config.threading.get_intra_op_parallelism_threads() or CORES


@contextmanager
def plainly() -> Iterator[None]:
    """Have kernels compute in this thread alone, in new memory, without tricks.

    Results are the same to the last bit: this is how the definition of a graph runs.
    """
    before, _here.is_plain = _here.is_plain, True
    try:
        yield
    finally:
        _here.is_plain = before


def is_plain() -> bool:
    """Whether kernels are to do so."""
    return _here.is_plain


class _Help:
    """A request to a worker: to take part in some work until it is closed."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._closed = False
        self._busy = threading.Lock()

    def give(self) -> None:
        """Take part, in a worker."""
        with self._busy:
            if not self._closed:
                self._work()

    def close(self) -> None:
        """Let no worker begin any more, and wait for the one that did."""
        with self._busy:
            self._closed = True


_requests: SimpleQueue[_Help] = SimpleQueue()
_workers: list[threading.Thread] = []
_start = threading.Lock()


def _serve(requests: SimpleQueue[_Help]) -> None:
    np.seterr(all="ignore")
    _here.shares = True
    while True:
        requests.get().give()


def _need_workers(count: int) -> None:
    if len(_workers) >= count:
        return
    with _start:
        while len(_workers) < count:
            worker = threading.Thread(
                target=_serve, args=(_requests,), name="tf-worker", daemon=True
            )
            worker.start()
            _workers.append(worker)


def share(run: Callable[[int], Any], count: int, threads: int) -> None:
    """Call ``run(0)``, ..., ``run(count - 1)``, on so many threads at once.

    The calls must not depend on each other. An error of the first call (by its number)
    that fails is raised when all threads have stopped.
    """
    if threads <= 1 or count <= 1:
        for number in range(count):
            run(number)
        return
    numbers = iter(range(count))
    errors: dict[int, BaseException] = {}

    def work() -> None:
        # Each number is taken by one thread: the iterator is advanced under the GIL.
        for number in numbers:
            try:
                run(number)
            except BaseException as error:
                errors[number] = error
                break

    helpers = [_Help(work) for _ in range(min(threads, count) - 1)]
    _need_workers(len(helpers))
    for helper in helpers:
        _requests.put(helper)
    with _sharing():
        try:
            work()
        finally:
            for helper in helpers:
                helper.close()
    if errors:
        raise errors[min(errors)]


@contextmanager
def _sharing() -> Iterator[None]:
    _here.shares = True
    try:
        yield
    finally:
        _here.shares = False


def _after_fork() -> None:
    """Threads do not survive a fork: begin anew."""
    global _requests, _start
    _requests, _start = SimpleQueue(), threading.Lock()
    _workers.clear()
    _here.shares = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# --- the threads of NumPy's linear algebra --------------------------------------------

#: How OpenBLAS calls its functions: as NumPy's packages have it, and by itself.
_OPENBLAS = [
    "scipy_openblas_{}64_",
    "scipy_openblas_{}",
    "openblas_{}64_",
    "openblas_{}",
]


@cache
def numpy_library() -> Any:
    """NumPy's library, by which that of its linear algebra is found; None without one.

    The handle also finds what the module itself was linked with.
    """
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
        return ctypes.CDLL(module.__file__)
    except (ImportError, OSError):
        return None


@cache
def _openblas(name: str) -> Any:
    """A function of OpenBLAS; None where NumPy has another library."""
    found = (getattr(numpy_library(), form.format(name), None) for form in _OPENBLAS)
    return next((function for function in found if function is not None), None)


def blas_threads() -> int | None:
    """How many threads a product of matrices uses; None where nobody can be asked."""
    ask = _openblas("get_num_threads")
    return None if ask is None else int(ask())


@cache
def _own_threads() -> int | None:
    """How many they were before they were limited."""
    return blas_threads()


def _limit_blas(threads: int) -> None:
    """Have products of matrices use so many threads; 0: as many as by themselves.

    On a busy machine, threads of a product wait for each other.
    """
    if not threads and not _own_threads.cache_info().currsize:
        return  # They were never limited: OpenBLAS need not be looked for.
    own = _own_threads()
    if own is not None:
        _openblas("set_num_threads")(threads or own)


config.on_thread_count(_limit_blas)
