"""Reports to the runtime about the functions that run while it traces.

`watching_calls` reports each call of converted code, so that a function that calls
itself becomes a recursive graph. `reporting` collects the statements that are staged
in a `Report`. `observe` finds the changes that a trace makes to objects that outlive
it. Neither changes these objects; `_Reachable.restore` puts them back.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType, MethodType
from typing import Any

import runtime.staging.compiler.conversion as conversion
from autograph import operators as ag
from autograph.operators.calls import set_watcher
from autograph.operators.dispatch import UNBOUND
from autograph.operators.state import retired
from autograph.operators.state.call_variables import CallVariables
from autograph.operators.state.kinds import objects_in, parts_of
from autograph.operators.state.report import Report, reporting
from autograph.operators.state.slots import ContentsSlot
from autograph.operators.state.snapshot import Snapshot, reachable_names
from autograph.operators.state.trials import current, note_call
from autograph.ownership import is_impure, makes_generator, needs_no_conversion
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.ops.variables import Variable
from runtime.staging.state import recursion
from runtime.staging.state.recursion import is_staged_again
from runtime.staging.tracing.arguments import other_attributes
from runtime.staging.tracing.effects import Changed
from runtime.staging.tracing.impure import noting_calls
from runtime.staging.tracing.signature import Signature

__all__ = ["Report", "call_again", "observe", "reporting", "watching_calls"]

# --- calls ----------------------------------------------------------------------------


@contextmanager
def watching_calls(listener: Callable[[Any], None]) -> Iterator[None]:
    """Call `listener` with each function that converted code calls in the block."""
    token = _listener.set(listener)
    _traces.begin()
    try:
        with retired.retiring():
            yield
    finally:
        _traces.end()
        _listener.reset(token)


#: The listener of the trace in progress.
_listener: ContextVar[Callable[[Any], None] | None] = ContextVar(
    "listener", default=None
)


def _tell(function: Any) -> None:
    note_call(function)
    listener = _listener.get()
    if listener is not None:
        listener(function)


def call_again(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """``function(*args, **kwargs)``; recursive calls become calls of the graph."""
    _tell(function)
    if not is_staged_again(function):
        return function(*args, **kwargs)
    return recursion.call(function, args, kwargs, _Reachable)


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function to call in place of a converted or an impure one."""
    if is_impure(function):
        return noting_calls(function, makes_generator(function))
    conversion.note(function)
    _tell(function)
    if is_staged_again(function) and not needs_no_conversion(function):
        return lambda *args, **kwargs: recursion.call(
            function, args, kwargs, _Reachable
        )
    return function


#: The traces in progress, in all threads.
_traces = ag.Staging(lambda idle: set_watcher(None if idle else _watched))


class _Reachable:
    """Watches the objects that a function can reach: see `recursive_call.Watch`."""

    def __init__(self, function: Any, arguments: Sequence[tuple[str, Any]]) -> None:
        while not isinstance(function, FunctionType):
            inner = getattr(function, "__func__", None)
            arguments = [*arguments, ("self", getattr(function, "__self__", None))]
            function = getattr(function, "func", None) if inner is None else inner
        self._function, self._arguments = function, arguments
        self._before = Snapshot([*reachable_names(function), *arguments])
        self._retired = retired.count()
        self._around = current.get()
        self._mark = None if self._around is None else self._around.mark()

    def change(self) -> str | None:
        """The first change, in words; None if nothing changed."""
        return self._before.first_change()

    def restore(self) -> None:
        """Put everything back as it was."""
        retired.revive(self._retired)
        if self._around is not None:
            self._around.roll_back(self._mark)
        self._before.restore()

    def variables(self) -> CallVariables:
        """The variables and objects that calls of the function change."""
        return CallVariables(self._function, self._arguments)

    def knows_part(self, value: Any) -> bool:
        """Whether a value is, or contains, an object that was there before."""
        return any(map(self._before.has, objects_in(value).values()))

    @staticmethod
    def is_shared(value: Any) -> bool:
        """Whether a value is an object that a call may change for its caller."""
        return parts_of(value) is not None


# --- changes by a trace ---------------------------------------------------------------


def observe(function: Any, arguments: Any) -> Callable[[], Iterator[Changed]]:
    """Snapshot the objects that a traced function can reach; returns the comparison."""
    args, kwargs = arguments
    named = list(kwargs.items())
    if not all(type(arg) is SymbolicTensor for arg in args):  # as most of them are
        named += zip(Signature(function, "").positional, args)
    functions: list[FunctionType] = []
    pending = [function]
    for value in pending:
        if isinstance(value, MethodType):
            named.append(("self", value.__self__))
            pending += (value.__func__, value.__self__)
        elif isinstance(value, functools.partial):
            pending.append(value.func)
        elif isinstance(value, weakref.ReferenceType):
            named.append(("self", value()))  # a method refers weakly to its instance
        elif isinstance(value, FunctionType) and value not in functions:
            functions.append(value)
            named.append((value.__name__, value))
            pending += (
                part
                for _, part in reachable_names(value)
                if defines(type(part), "python_function")
                or isinstance(part, weakref.ReferenceType)
            )
            pending.append(value.__dict__.get("__wrapped__"))
        elif value is function or defines(type(value), "python_function"):
            named.append(("self", value))
            pending.append(getattr(value, "__wrapped__", None))
    snapshot, before = Snapshot(named), retired.count()

    def changes() -> Iterator[Changed]:
        retired.check_unused(before)
        return _changed(snapshot, functions, arguments)

    return changes


def _structures(arguments: Any) -> Iterator[Any]:
    """The copies of the caller's lists, dicts and the like that a trace has."""
    seen: set[int] = set()
    pending = [arguments]
    for value in pending:
        children = nest.children(value)
        if children is not None and id(value) not in seen:
            seen.add(id(value))
            yield value
            pending += (child for _, child in children)
            pending += other_attributes(value).values()


def _changed(
    snapshot: Snapshot, functions: Sequence[FunctionType], arguments: Any
) -> Iterator[Changed]:
    for change in snapshot.changes():
        record = change.seen
        within = dict.fromkeys((*functions, *snapshot.functions()))
        copy = any(part is record.value for part in _structures(arguments))
        for slot, old, new in change.places:
            if slot is None or isinstance(slot, ContentsSlot):
                before = set(map(id, record.parts))
                traced = any(
                    _is_traced(p) for p in record.read() if id(p) not in before
                )
                yield Changed(record.name(), True, traced, False, copy, within)
            elif slot.matters or _is_traced(new):
                is_first = old is UNBOUND or old is None
                yield Changed(slot.name, False, _is_traced(new), is_first, copy, within)


def _is_traced(value: Any) -> bool:
    """Whether a value is, or consists of, tensors of a graph."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_staged, value))
    return _is_staged(value)


def _is_staged(value: Any) -> bool:
    if defines(type(value), "__tf_flatten__"):
        return any(isinstance(t, SymbolicTensor) for t in value.__tf_flatten__()[1])
    if not defines(type(value), "__autograph_backend__"):
        return False
    backend = type(value).__autograph_backend__
    return backend is not None and not isinstance(value, Variable)
