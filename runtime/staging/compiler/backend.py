"""The backend of symbolic tensors: the compiler's staging protocol for this runtime.

Converted code finds these `autograph.operators.Backend` objects at the values that it
branches on, loops over or passes to builtins (`install` puts them there). They add
nodes to the graph being built.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from autograph import operators as ag
from autograph.operators.dispatch import Later, LoopOver
from autograph.operators.state.trials import memory
from runtime.core.graph.context import current_graph
from runtime.core.tensor import SymbolicTensor, truth_of_items
from runtime.ops.elementwise.logical import logical_not
from runtime.ops.variables import Variable
from runtime.staging.builtins.functions import BUILTINS, OF_LISTS, for_lists, watched
from runtime.staging.builtins.library_functions import (
    FUNCTIONS as LIBRARY_FUNCTIONS,
)
from runtime.staging.builtins.refused_functions import refused
from runtime.staging.builtins.truth import StagedTruth, staged_and, staged_or
from runtime.staging.library.heaps import FUNCTIONS
from runtime.staging.lists.list_methods import METHODS
from runtime.staging.lists.sequences import as_sequence, first_index, functions_of
from runtime.staging.state.branches import stage_cond
from runtime.staging.state.loop_state import LoopMemory, stage_loop
from runtime.staging.state.optional import (
    consequences,
    is_none,
    matched,
    settled,
    unwrapped,
)
from runtime.staging.state.reasons import explaining
from runtime.staging.state.values import MISSING
from runtime.staging.tracing.subgraph import predicate

State = tuple[Any, ...]
Names = tuple[str, ...]


class Staging(ag.Backend):
    """Stages converted statements as nodes of the graph being built."""

    tells = True
    settled = staticmethod(settled)

    def stages(self, value: Any) -> bool:
        """True for symbolic tensors; variables are staged within graphs only."""
        return not isinstance(value, Variable) or current_graph() is not None

    def cond(
        self,
        test: Any,
        if_true: Callable[[State], tuple[Any, State]],
        if_false: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> tuple[Any, State]:
        """An ``If`` node, unless the shape of the test decides."""
        truth = _static_truth(test)
        if truth is not None:
            return (if_true if truth else if_false)(state)
        condition = predicate(test)
        branches = _branch(if_true), _branch(if_false)
        bodies = dict(zip(("where the condition holds", "where it does not"), branches))
        with explaining("the condition", condition, bodies, names):
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
        # The body may be an object whose method `once` has the user's code.
        steps = {"in the loop": getattr(body, "once", body)}
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

        start = first_index(sequence.length)
        inside = (start, *_inside(state))
        cause = "the length of what it loops over"
        with explaining(cause, sequence.length, {"in the loop": body}, names):
            after = stage_loop(
                start < sequence.length, step, inside, ("index", *names), _memory()
            )
        return _outside(after[1:])

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left and right()``: the right side is computed only if it is needed."""
        truth = _static_truth(left)
        if truth is None:
            return staged_and(left, right)
        return right() if truth else left

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left or right()``: the right side is computed only if it is needed."""
        truth = _static_truth(left)
        if truth is None:
            return staged_or(left, right)
        return left if truth else right()

    def not_(self, value: Any) -> Any:
        """``not value``."""
        truth = _static_truth(value)
        return logical_not(predicate(value)) if truth is None else not truth

    def consequences(self, test: Any, holds: bool) -> Iterator[tuple[Any, bool]]:
        """What the node of a test, or of a value that may be None, is made of."""
        if isinstance(test, StagedTruth):
            return iter([(test.__staged_truth__(), holds)])
        return consequences(test, holds)

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The staged form of a builtin function."""
        return for_lists(name, _BUILTINS.get(name)) or refused(name)


class _Lists(Staging):
    """Stages operations of lists, dicts and sets in graphs."""

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The staged form of a builtin function; patterns see the list itself."""
        if name == "subject":
            return None
        return super().builtin(name) or OF_LISTS.get(name)


class _OptionalStaging(Staging):
    """Stages operations of values that may be None and are not tensors."""

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A loop over the value, which must not be None from here on."""
        raise LoopOver(unwrapped(iterated))

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """A test for None, or the builtin applied to the value within."""
        if name in ("bool", "is_none", "is_not_none", "subject"):
            return super().builtin(name)
        function = getattr(ag, name, None) or getattr(ag, f"{name}_", None)
        if function is None:
            return None
        return lambda *args, **kwargs: function(*map(unwrapped, args), **kwargs)


class _Iterated(Staging):
    """Stages loops over data sets and their iterators, whose items come one by one.

    ``__staged_items__`` of the iterated object gives two functions that add nodes: one
    tells whether there is another item, the other fetches it.
    """

    def stages(self, value: Any) -> bool:
        """Python iterates in eager code."""
        return current_graph() is not None

    def cond(
        self,
        test: Any,
        if_true: Callable[[State], tuple[Any, State]],
        if_false: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> tuple[Any, State]:
        """The true branch: such objects are true."""
        return if_true(state)

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """The right side."""
        return right()

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """The left side."""
        return left

    def not_(self, value: Any) -> Any:
        """False: such objects are true."""
        return False

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """A ``While`` node that asks for items until there is none."""
        has_next, get_next = iterated.__staged_items__()

        def step(inside: State) -> tuple[Any, State]:
            stop, after = body(get_next(), _outside(inside))
            # As in Python, no item is fetched once the loop is left.
            go_on = has_next() if stop is None else self.items_left(stop, has_next)
            return go_on, _inside(after)

        with explaining(
            "what tells whether there is another item",
            None,
            {"in the loop": body},
            names,
        ):
            after = stage_loop(has_next(), step, _inside(state), names, _memory())
        return _outside(after)

    def items_left(self, stop: Any, has_next: Callable[[], Any]) -> Any:
        """Whether a loop goes on: it was not left, and there is another item."""
        return STAGING.and_(STAGING.not_(stop), has_next)

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The builtins for which data sets have methods."""
        return _OF_ITERATED.get(name)


def _enumerate_items(items: Any, start: Any = 0) -> Any:
    return items.__staged_enumerate__(start)


def _zip_items(*items: Any) -> Any:
    return items[0].__staged_zip__(items)


def _iterator(items: Any) -> Any:
    return items.__staged_iter__()


def _length(items: Any) -> Any:
    return items.__staged_len__()


def _next_item(iterator: Any, *default: Any) -> Any:
    if not default:
        return next(iterator)
    has_next, get_next = iterator.__staged_items__()
    branches = (lambda _: (get_next(), ()), lambda _: (*default, ()))
    return STAGING.cond(has_next(), *branches, (), ())[0]


_OF_ITERATED: dict[str, Callable[..., Any]] = {
    "enumerate": _enumerate_items,
    "iter": _iterator,
    "len": _length,
    "next": _next_item,
    "zip": _zip_items,
}


def _static_truth(value: Any) -> bool | None:
    """The truth of a tensor that stands for a list, where its shape tells."""
    return truth_of_items(value) if isinstance(value, SymbolicTensor) else None


def _branch(
    body: Callable[[State], tuple[Any, State]],
) -> Callable[[State], tuple[Any, State]]:
    def run(state: State) -> tuple[Any, State]:
        result, after = body(_outside(state))
        return result, _inside(after)

    return run


def _memory() -> LoopMemory:
    """The memory of the loop that is being staged."""
    loop_memory: LoopMemory = memory().setdefault("loop", LoopMemory())
    return loop_memory


def _inside(state: State) -> State:
    return tuple(MISSING if value is ag.UNBOUND else value for value in state)


def _outside(state: State) -> State:
    return tuple(ag.UNBOUND if value is MISSING else value for value in state)


# --- builtins -------------------------------------------------------------------------


def _is_bool(value: Any, expected: bool) -> Any:
    """Whether a value is ``True`` or ``False``, which only bools of rank 0 can be."""
    if isinstance(value, StagedTruth):
        raise value.__staged_refusal__
    dtype = getattr(value, "dtype", None)
    if dtype is None or not dtype.is_bool or value.shape.rank:
        return False
    return value == expected


_BUILTINS: dict[str, Callable[..., Any]] = {
    **BUILTINS,
    **METHODS,
    **FUNCTIONS,
    **LIBRARY_FUNCTIONS,
    "is_bool": _is_bool,
    "is_none": is_none,
    "is_not_none": functools.partial(is_none, negated=True),
    "subject": matched,
}


STAGING = Staging()
LISTS = _Lists()
OPTIONAL = _OptionalStaging()
ITERATED = _Iterated()
