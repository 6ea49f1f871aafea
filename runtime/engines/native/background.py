"""Native code that is made while NumPy answers.

LLVM takes some time. A program that asks for native code runs as NumPy source until a
thread has compiled it, which gives the same results.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, ClassVar

from runtime.core.errors import CompilationWarning, OpError
from runtime.core.location.user_code import calling_line
from runtime.core.locks import new_lock

#: Python's frames in a thread of its own may need as much stack as in the first one.
STACK = 64 << 20


def warn_of_failure(name: str, error: Exception) -> None:
    """Say that a graph has no native code. Raises it where warnings are errors.

    An error of the program is none of the compiler: NumPy raises it, or need not.
    """
    if not isinstance(error, OpError):
        text = (
            f"AG325: {name}() could not be compiled to native code "
            f"({type(error).__name__}: {error}), and runs as NumPy code; this is a "
            "fault of the compiler, please report it"
        )
        line = calling_line() or ("<unknown>", 1)
        warnings.warn_explicit(text, CompilationWarning, *line)


class Background:
    """An executable that runs as another one until native code is there.

    What is asked of it besides running waits for the code.
    """

    executor = "native"
    #: Whether native code is made in the background; else calls wait for it.
    is_enabled: ClassVar[bool] = True
    #: As a call; a single result as it is.
    run: Callable[[Sequence[Any]], Any]

    def __init__(self, before: Any, make: Callable[[], Any]) -> None:
        self._now = before
        self._make = make
        self._ended = threading.Event()
        #: What kept the program from being compiled.
        self.failure: Exception | None = None
        self.name = before.name
        self.graph = before.graph
        self.inputs = before.inputs
        self.tensor = before.tensor
        self.run = before.run
        self._thread = _worker.give(self)

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results for these inputs."""
        results: Sequence[Any] = self._now(arrays)
        return results

    def wait(self) -> Any:
        """The native executable, once it is there; NumPy's if there was a failure."""
        if not self._thread.is_alive() and not self._ended.is_set():
            self.compile()  # In a process by fork, whose parent has the thread.
        self._ended.wait()
        self._warn()
        return self._now

    def compile(self) -> None:
        """Make the native code, and run as such from now on."""
        try:
            made = self._make()
        except Exception as error:
            # A fault of ours: the program runs all the same, and the next call warns.
            self.failure = error
            self.run = self._warn_and_run
        else:
            self._now = made
            self.run = made.run
        self._ended.set()

    def _warn_and_run(self, arrays: Sequence[Any]) -> Any:
        """The first call after a failure: the thread that compiles warns nobody."""
        self._warn()
        return self.run(arrays)

    def _warn(self) -> None:
        if self.failure is not None and self.run == self._warn_and_run:
            self.run = self._now.run
            warn_of_failure(self.name, self.failure)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.wait(), name)


class _Worker:
    """The thread that compiles: it starts with the first program."""

    def __init__(self) -> None:
        self._lock = new_lock()
        #: Held while LLVM works: a fork would copy its locks as they are.
        self._busy = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._thread: threading.Thread | None = None
        self._work: SimpleQueue[Background | None] = SimpleQueue()

    def give(self, program: Background) -> threading.Thread:
        """Have a program compiled, by the thread that is returned."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="native code", daemon=True
                )
                size = threading.stack_size(STACK)
                try:
                    self._thread.start()
                finally:
                    threading.stack_size(size)
            self._work.put(program)
            return self._thread

    def _run(self) -> None:
        while (program := self._work.get()) is not None:
            with self._busy:
                program.compile()
            del program  # Else it would live until the next one comes.

    def end(self) -> None:
        """Wait for the program at hand: LLVM must not work while the process ends."""
        thread, work = self._thread, self._work
        if thread is None:
            return
        while not work.empty():
            work.get()
        work.put(None)
        thread.join()

    def before_fork(self) -> None:
        """Let nothing be compiled while the process is copied."""
        self._busy.acquire()

    def after_fork(self, is_child: bool) -> None:
        """Go on; the copy has no thread yet."""
        self._busy.release()
        if is_child:
            self._begin()


_worker = _Worker()
atexit.register(_worker.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_worker.before_fork,
        after_in_parent=partial(_worker.after_fork, is_child=False),
        after_in_child=partial(_worker.after_fork, is_child=True),
    )
