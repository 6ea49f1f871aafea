"""Writers of event files, the default writer, and the step of the program."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.core.graph.context import current_graph
from runtime.core.types import dtypes
from runtime.ops.convert import convert_to_tensor, is_tensor
from runtime.ops.elementwise.logical import logical_and
from runtime.ops.staged.python_calls import numpy_function


class _State(NamedTuple):
    """The defaults of functions that write summaries."""

    writer: SummaryWriter | None = None
    #: A number or an integer tensor or variable.
    step: Any = None
    #: A bool, a tensor of one, or a function that gives one.
    condition: Any = True


_NOTHING = _State()
_state: ContextVar[_State] = ContextVar("summary", default=_NOTHING)


def protos(name: str) -> ModuleType:
    """A module of TensorBoard. Raises ModuleNotFoundError if it is not installed."""
    import importlib

    try:
        return importlib.import_module(f"tensorboard.{name}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "tf.summary needs the package tensorboard: "
            "pip install 'autograph-compiler[tensorboard]'",
            name=error.name,
        ) from None


class SummaryWriter:
    """Writes summaries to an event file; `create_file_writer` makes one.

    A writer without a file accepts summaries and drops them.
    """

    def __init__(self, file: Any = None) -> None:
        self._file = file
        self._is_closed = False
        if file is not None:
            _open.add(self)

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """A block in which summaries go to this writer, if given at this step.

        Raises RuntimeError if the writer is closed.
        """
        self._check_open()
        state = _state.get()
        token = _state.set(
            _State(self, state.step if step is None else step, state.condition)
        )
        try:
            yield self
            if current_graph() is None:
                self.flush()
        finally:
            _state.reset(token)

    def set_as_default(self, step: Any = None) -> None:
        """Let summaries go to this writer from now on, if given at this step.

        Raises RuntimeError if the writer is closed.
        """
        self._check_open()
        state = _state.get()
        at = state.step if step is None else step
        _state.set(_State(self, at, state.condition))

    def init(self) -> None:
        """Do nothing: the file is there. Programs of TensorFlow call it."""

    def flush(self) -> None:
        """Write what was given so far to the file."""
        if self._file is not None and not self._is_closed:
            self._file.flush()

    def close(self) -> None:
        """Write what was given so far, and close the file."""
        if self._file is not None and not self._is_closed:
            self._is_closed = True
            _open.discard(self)
            self._file.close()

    def add(self, **event: Any) -> None:
        """Write an event with these fields and the time."""
        import time

        self._check_open()
        if self._file is not None:
            proto = protos("compat.proto.event_pb2").Event
            self._file.add_event(proto(wall_time=time.time(), **event))

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("the summary writer is closed")


#: Those with files, which are closed as the interpreter ends.
_open: weakref.WeakSet[SummaryWriter] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for writer in list(_open):
        writer.close()


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to a new event file in the folder `logdir`, which is made if need be.

    Args:
        logdir: the folder, which ``tensorboard --logdir`` is to show.
        max_queue: how many summaries wait to be written, by default 10.
        flush_millis: after how many milliseconds they are written at the latest, by
            default after two minutes.
        filename_suffix: the end of the name of the file, by default ".v2".
        name: not used.

    Raises ModuleNotFoundError if tensorboard is not installed.
    """
    import os

    writer = protos("summary.writer.event_file_writer").EventFileWriter
    return SummaryWriter(
        writer(
            os.fspath(logdir),
            max_queue_size=10 if max_queue is None else max_queue,
            flush_secs=120 if flush_millis is None else flush_millis / 1000,
            filename_suffix=".v2" if filename_suffix is None else filename_suffix,
        )
    )


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing."""
    return SummaryWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Write what a writer, or the default one, was given so far to its file."""
    writer = writer or _state.get().writer
    if writer is not None:
        writer.flush()


# --- the step, and whether to write ---------------------------------------------------


def get_step() -> Any:
    """The step of summaries that are written without one, or None."""
    return _state.get().step


def set_step(step: Any) -> None:
    """Say the step of summaries that are written without one: a number or variable."""
    state = _state.get()
    _state.set(_State(state.writer, step, state.condition))


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A block in which summaries are written if `condition` is true.

    That is a bool, a tensor of one, or a function that gives one, which is asked for
    each summary.
    """
    state = _state.get()
    token = _state.set(_State(state.writer, state.step, condition))
    try:
        yield
    finally:
        _state.reset(token)


def should_record_summaries() -> Any:
    """Whether a summary would be written here: a bool or a tensor of one."""
    state = _state.get()
    if state.writer is None:
        return False
    return state.condition() if callable(state.condition) else state.condition


def emit(
    tensors: list[Any], step: Any, write: Callable[..., dict[str, Any]], caller: str
) -> Any:
    """Write an event to the default writer, now or whenever the graph runs up to here.

    ``write(*arrays)`` gives the fields of the event. Gives whether it was written, in a
    graph as a tensor. Raises ValueError where no step is known.
    """
    writer = _state.get().writer
    condition = should_record_summaries()
    if writer is None:
        return False
    if step is None:
        step = _state.get().step
    if step is None:
        raise ValueError(
            f"{caller} needs a step: give step=…, or set one with "
            "tf.summary.experimental.set_step(step) or writer.as_default(step=…)"
        )

    def run(wanted: Any, at: Any, *arrays: Any) -> np.bool_:
        if wanted:
            writer.add(step=int(at), **write(*arrays))
        return np.bool_(wanted)

    if is_tensor(condition):
        condition = logical_and(condition, True)
    operands = [
        convert_to_tensor(condition, dtypes.bool),
        convert_to_tensor(step, None if is_tensor(step) else dtypes.int64),
        *tensors,
    ]
    return numpy_function(run, operands, dtypes.bool)
