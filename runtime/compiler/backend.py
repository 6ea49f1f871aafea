"""Between the compiler and the runtime: what converted code meets at tensors.

It implements the compiler's staging protocol (`autograph.operators.Backend`) for
symbolic tensors.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType, MethodType
from typing import Any

import autograph
from autograph import operators as ag
from autograph.errors import listen
from autograph.library import needs_no_conversion
from autograph.operators.builtins import aware
from autograph.operators.calls import set_watcher
from autograph.operators.dispatch import UNBOUND, Later
from autograph.operators.mutations import Snapshot, reachable_names
from autograph.operators.opening import all_opened
from autograph.operators.slots import ContentsSlot
from autograph.operators.trials import memory, set_listener
from runtime.compiler import conversion
from runtime.errors import note
from runtime.graph.context import current_graph, set_begin_and_end
from runtime.ops.convert import convert_to_tensor
from runtime.ops.elementwise.logical import logical_not
from runtime.staging.builtins.builtins import BUILTINS, OF_LISTS, for_lists, watched
from runtime.staging.builtins.truth import StagedTruth, staged_and, staged_or
from runtime.staging.library.deques import StagedDeque
from runtime.staging.library.heaps import FUNCTIONS
from runtime.staging.library.ordinary import Ordinary
from runtime.staging.library.tables import StagedTable
from runtime.staging.lists.items import repeated
from runtime.staging.lists.list_methods import METHODS
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.parts import set_exchange
from runtime.staging.lists.sequences import StagedSequence, as_sequence, functions_of
from runtime.staging.objects import list_choice, object_choice  # noqa: F401
from runtime.staging.objects.kinds import note_replaced
from runtime.staging.state import recursion
from runtime.staging.state.branches import stage_cond
from runtime.staging.state.loops import LoopMemory, stage_loop
from runtime.staging.state.optional import (
    StagedOptional,
    is_none,
    is_same,
    matched,
    unwrapped,
)
from runtime.staging.state.reasons import explaining
from runtime.staging.state.values import MISSING
from runtime.staging.text.text import method_of_text
from runtime.tensor import EagerTensor, SymbolicTensor
from runtime.tracing.effects import Changed, set_observer
from runtime.tracing.signature import Signature
from runtime.tracing.subgraph import predicate
from runtime.types import nest
from runtime.types.classes import defines
from runtime.variable import Variable

State = tuple[Any, ...]
Names = tuple[str, ...]


class Staging(ag.Backend):
    """Stages converted statements as nodes of the graph being built."""

    tells = True

    def stages(self, value: Any) -> bool:
        """Symbolic tensors always; variables have a value outside of graphs."""
        return not isinstance(value, Variable) or current_graph() is not None

    def cond(
        self,
        test: Any,
        if_true: Callable[[State], tuple[Any, State]],
        if_false: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> tuple[Any, State]:
        """An ``If`` node."""
        condition = predicate(test)
        branches = _branch(if_true), _branch(if_false)
        parts = dict(zip(("where the condition holds", "where it does not"), branches))
        with explaining("the condition", condition, parts, names):
            result, after = stage_cond(condition, *branches, _inside(state), names)
        return result, _outside(after)

    def while_loop(
        self,
        test: Any,
        body: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A ``While`` node."""
        step = _branch(body)
        steps = {"in the loop": step}
        with explaining("the condition of the loop", test, steps, names):
            return _outside(stage_loop(test, step, _inside(state), names, _memory()))

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A ``While`` node that counts through the items."""
        sequence = as_sequence(iterated)
        functions = tuple(functions_of(sequence))

        def step(inside: State) -> tuple[Any, State]:
            index, *values = inside
            check = watched(iterated, state, values)
            item = Later(lambda: sequence.item(index), functions)
            stop, after = body(item, _outside(tuple(values)))
            check(after, stop)
            following = index + 1
            go_on = following < sequence.length
            if stop is not None:
                go_on = self.and_(self.not_(stop), lambda: go_on)
            return go_on, (following, *_inside(after))

        start = convert_to_tensor(0)
        inside = (start, *_inside(state))
        cause = "the length of what it loops over"
        with explaining(cause, sequence.length, {"in the loop": body}, names):
            after = stage_loop(
                start < sequence.length, step, inside, ("index", *names), _memory()
            )
        return _outside(after[1:])

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left and right()``: the right side is computed only if it is needed."""
        return staged_and(left, right)

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left or right()``: the right side is computed only if it is needed."""
        return staged_or(left, right)

    def not_(self, value: Any) -> Any:
        """``not value``."""
        return logical_not(predicate(value))

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The staged form of a builtin function."""
        return for_lists(name, _BUILTINS.get(name))


class _Lists(Staging):
    """Answers for lists in graphs, of which Python knows more than of tensors."""

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The staged form of a builtin function; patterns see the list itself."""
        if name == "subject":
            return None
        return super().builtin(name) or OF_LISTS.get(name)


class _OptionalStaging(Staging):
    """Stages what is asked of values that may be None and are no tensors."""

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A loop over the items of the value, one after the other."""
        items = unwrapped(iterated)
        backend = ag.backend_of(items)
        if backend is not None:
            return backend.for_loop(items, body, state, names)
        remaining = iter(items)

        def others(state: State) -> tuple[Any, State]:
            return None, self.for_loop(remaining, body, state, names)

        for item in remaining:
            stop, state = body(item, state)
            if ag.backend_of(stop) is not None:
                done = lambda state: (None, state)  # noqa: E731
                return self.cond(stop, done, others, state, names)[1]
            if stop:
                break
        return state

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """What asks whether the value is None, or the builtin of the value itself."""
        if name in ("bool", "is_none", "is_not_none", "subject"):
            return super().builtin(name)
        function = getattr(ag, name, None) or getattr(ag, f"{name}_", None)
        if function is None:
            return None
        return lambda *args, **kwargs: function(*map(unwrapped, args), **kwargs)


def _branch(
    body: Callable[[State], tuple[Any, State]],
) -> Callable[[State], tuple[Any, State]]:
    def run(state: State) -> tuple[Any, State]:
        result, after = body(_outside(state))
        return result, _inside(after)

    return run


def _memory() -> LoopMemory:
    """Of the loop that is staged."""
    found: LoopMemory = memory().setdefault("loop", LoopMemory())
    return found


def _inside(state: State) -> State:
    return tuple(MISSING if value is ag.UNBOUND else value for value in state)


def _outside(state: State) -> State:
    return tuple(ag.UNBOUND if value is MISSING else value for value in state)


# --- builtins -------------------------------------------------------------------------


def _is_bool(value: Any, expected: bool) -> Any:
    """Whether a pattern ``True`` or ``False`` matches: only bools can be the one."""
    dtype = getattr(value, "dtype", None)
    return value == expected if dtype is not None and dtype.is_bool else False


_BUILTINS: dict[str, Callable[..., Any]] = {
    **BUILTINS,
    **METHODS,
    **FUNCTIONS,
    "is_bool": _is_bool,
    "is_none": is_none,
    "is_not_none": functools.partial(is_none, negated=True),
    "subject": matched,
}


# --- recursion ------------------------------------------------------------------------


@contextmanager
def watching_calls(listener: Callable[[Any], None]) -> Iterator[None]:
    """Within the block converted code tells `listener` which functions it calls."""
    token = _listener.set(listener)
    _traces.begin()
    try:
        yield
    finally:
        _traces.end()
        _listener.reset(token)


#: Whom to tell of calls in the trace that is made now.
_listener: ContextVar[Callable[[Any], None] | None] = ContextVar(
    "listener", default=None
)


def _tell(function: Any) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(function)


def call_again(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, perhaps within itself: see `staging.recursion`."""
    _tell(function)
    if not recursion.is_staged_again(function):
        return function(*args, **kwargs)
    return recursion.call(function, args, kwargs, _watch)


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """What to call in place of a converted function."""
    conversion.note(function)
    _tell(function)
    if recursion.is_staged_again(function) and not needs_no_conversion(function):
        return lambda *args, **kwargs: recursion.call(function, args, kwargs, _watch)
    return function


#: The traces that are made now, in all threads.
_traces = ag.Staging(lambda idle: set_watcher(None if idle else _watched))


def _watch(
    function: Any, arguments: Sequence[tuple[str, Any]]
) -> Callable[[], str | None]:
    """Watches for changes of what a function can reach."""
    while not isinstance(function, FunctionType):
        inner = getattr(function, "__func__", None)
        arguments = [*arguments, ("self", getattr(function, "__self__", None))]
        function = getattr(function, "func", None) if inner is None else inner
    return Snapshot([*reachable_names(function), *arguments]).change


def _observe(function: Any, arguments: Any) -> Callable[[], Iterator[Changed]]:
    """Looks at what a function that is traced can reach, to tell what that changes."""
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
    snapshot = Snapshot(named)
    return lambda: _changed(snapshot, functions, arguments)


def _structures(value: Any) -> Iterator[Any]:
    """The lists, dicts and the like that a trace has in place of the caller's."""
    parts = nest.children(value)
    if parts is not None:
        yield value
        for _, part in parts:
            yield from _structures(part)


def _changed(
    snapshot: Snapshot, functions: Sequence[FunctionType], arguments: Any
) -> Iterator[Changed]:
    for change in snapshot.changes():
        seen = change.seen
        within = dict.fromkeys((*functions, *snapshot.functions()))
        copy = any(part is seen.value for part in _structures(arguments))
        for slot, old, new in change.places:
            if slot is None or isinstance(slot, ContentsSlot):
                known = set(map(id, seen.parts))
                traced = any(_is_traced(p) for p in seen.read() if id(p) not in known)
                yield Changed(seen.name(), True, traced, False, copy, within)
            elif slot.matters or _is_traced(new):
                first = old is UNBOUND or old is None
                yield Changed(slot.name, False, _is_traced(new), first, copy, within)


def _is_traced(value: Any) -> bool:
    """Whether a value is a tensor of a graph or made of such, or a list of some."""
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


autograph.add_library("runtime")
set_observer(_observe)
listen(note)
set_begin_and_end(ag.staging.begin, ag.staging.end)
Ordinary.convert = staticmethod(autograph.convert)
Ordinary.called = staticmethod(lambda function: ag.call(aware(function)))
_STAGING = Staging()
SymbolicTensor.__autograph_backend__ = _STAGING
SymbolicTensor.method_of_text = staticmethod(method_of_text)
SymbolicTensor.__autograph_is__ = StagedOptional.__autograph_is__ = is_same
SymbolicTensor.repeated = staticmethod(repeated)
SymbolicTensor.asked_by_pattern = staticmethod(ag.pattern_truth)
StagedSequence.__autograph_backend__ = _STAGING
StagedList.__autograph_backend__ = _Lists()
set_exchange(all_opened)
set_listener(note_replaced)
StagedDeque.__autograph_backend__ = StagedList.__autograph_backend__
StagedTruth.__autograph_backend__ = _STAGING
StagedTable.__autograph_backend__ = _Lists()
StagedOptional.__autograph_backend__ = _OptionalStaging()
Variable.__autograph_backend__ = _STAGING
EagerTensor.__autograph_backend__ = None
