"""``for i in range(n)`` over Python's numbers, rolled up while a library traces it.

Python runs the first iterations. Where a library finds that they add the same to its
graph, the rest may become one loop there, if Python would do nothing else in it: these
iterations called no function that is not known to have no effect, and changed nothing
but variables of the loop that are tensors.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType
from typing import Any, Protocol

from ..ownership import is_library_module, is_registered
from .calls import call
from .dispatch import Backend, State
from .state.trials import Restage
from .state.variables import Variables

__all__ = ["Unrolled", "run_range", "set_unrolling", "unrolling"]

#: Iterations that Python runs in any case.
FIRST = 16
#: With fewer left, they stay unrolled.
LEFT = 64


class Unrolled(Protocol):
    """What a library knows of a loop that Python runs while a graph is being built."""

    @property
    def backend(self) -> Backend:
        """Stages what the body contains."""

    @property
    def acting(self) -> frozenset[CodeType]:
        """Functions of the library that act at once, whatever is traced."""

    def iterated(self) -> None:
        """Note the end of an iteration."""

    def repeats(self) -> bool:
        """Whether the iterations after the first have added the same kinds of nodes."""

    def rolled(
        self,
        numbers: range,
        states: list[State],
        step: Callable[[Any, State], State],
        names: tuple[str, ...],
    ) -> State | None:
        """Roll up what is left; the state after it, or None if that cannot be.

        ``states`` are those before each iteration that Python has run, and after them.
        """

    def done(self, iterated: Any) -> None:
        """Note the end of the loop, and what it was over."""


_begin: Callable[[], Unrolled | None] = lambda: None  # noqa: E731


def set_unrolling(begin: Callable[[], Unrolled | None]) -> None:
    """Let a tensor library know of the loops that Python runs.

    ``begin()`` is called before each, and gives None where no graph is being built.
    """
    global _begin
    _begin = begin


def unrolling() -> Unrolled | None:
    """What a library knows of a loop that is about to begin."""
    return _begin()


def run_range(
    numbers: range, body: Callable[[Any], Any], state: str, unrolled: Unrolled
) -> None:
    """Run a loop in Python, or roll up what is left of it after some iterations."""
    if len(numbers) < FIRST + LEFT:
        for number in numbers:
            body(number)
        return
    variables = Variables(state, (body,))
    states = [variables.read()]
    may_roll = True
    for number in numbers[:FIRST]:
        if number == numbers[FIRST - 1] and unrolled.repeats():
            may_roll = _has_no_effect(body, number, variables, unrolled)
        else:
            body(number)
        unrolled.iterated()
        states.append(variables.read())
    if may_roll and unrolled.repeats():
        if _roll(numbers, body, variables, states, unrolled):
            return
    for number in numbers[FIRST:]:
        body(number)


class _NotRolled(BaseException):
    """The loop stays unrolled."""


def _roll(
    numbers: range,
    body: Callable[[Any], Any],
    variables: Variables,
    states: list[State],
    unrolled: Unrolled,
) -> bool:
    """Whether what is left of the loop is done."""
    name = body.__code__.co_varnames[0]

    def step(number: Any, values: State) -> State:
        def run() -> None:
            with _watched(unrolled.acting, refuse=True):
                body(number)

        return variables.trial(values, run, (name, number), repeats=True)[1]

    def attempt() -> None:
        try:
            after = unrolled.rolled(numbers, states, step, variables.names)
        except Restage:
            after = None  # it changes what the first iterations did not
        if after is None:
            raise _NotRolled
        variables.write(after)

    try:
        variables.stage(attempt, unrolled.backend)
    except _NotRolled:
        return False
    return True


# --- effects --------------------------------------------------------------------------


def _has_no_effect(
    body: Callable[[Any], Any], number: int, variables: Variables, unrolled: Unrolled
) -> bool:
    """Run one iteration; whether it did nothing but assign variables of the loop."""
    before = variables.snapshot()
    with _watched(unrolled.acting) as found:
        body(number)
    return not found and variables.alone_changed(before)


#: Names of what may act, or may call what acts, without that being seen; and of what
#: may answer for the number of an iteration as it would not for a tensor.
_NAMES = frozenset(
    {"delattr", "exec", "eval", "filter", "globals", "input", "locals", "map", "next"}
    | {"methodcaller", "open", "partial", "print", "reduce", "setattr", "vars", "write"}
    # Those that tell a number of Python's from the tensor that stands for it.
    | {"Tensor", "__class__", "class_of", "getattr", "hasattr", "id", "is_", "is_not"}
    | {"is_tensor", "type"}
)
#: Builtins that do nothing but compute.
_PURE = frozenset(
    getattr(builtins, name)
    for name in (
        *(
            "abs",
            "all",
            "any",
            "bin",
            "callable",
            "chr",
            "divmod",
            "getattr",
            "hasattr",
        ),
        *("hash", "hex", "id", "isinstance", "issubclass", "iter", "len", "max", "min"),
        *("oct", "ord", "pow", "repr", "round", "sorted", "sum"),
    )
)
#: Builtins that act wherever they are called.
_ACTING = frozenset({print, input, open, exec, eval, breakpoint, __import__})
#: The types of values that never change: their methods only compute.
_FUNCTIONS = (BuiltinFunctionType, FunctionType, MethodType, type)
_FIXED = (bool, bytes, complex, float, int, str, tuple, frozenset, range)
#: Methods of lists and dicts that only read.
_READING = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})


class _Watch:
    """Hears of each call in a block, and collects those that may do more than compute.

    With ``refuse`` none of them happens: the block ends there.
    """

    def __init__(self, acting: frozenset[CodeType], outer: Any, refuse: bool) -> None:
        self.found: list[Any] = []
        self._acting, self._outer, self._refuse = acting, outer, refuse

    def __call__(self, frame: FrameType, event: str, function: Any) -> None:
        if self._outer is not None:
            self._outer(frame, event, function)
        if event == "call":
            acts = frame.f_code in self._acting or _may_act(frame)
        else:
            acts = event == "c_call" and _acts(function, frame)
        if acts:
            self.found.append(function or frame.f_code)
            if self._refuse:
                raise _NotRolled


@contextmanager
def _watched(acting: frozenset[CodeType], refuse: bool = False) -> Iterator[list[Any]]:
    """Collects the calls in the block that may do more than compute: see `_Watch`."""
    outer = sys.getprofile()
    if not isinstance(outer, _Watch | None):
        if refuse:
            raise _NotRolled
        yield [outer]  # a profiler: it cannot be put back
        return
    watch = _Watch(acting, outer, refuse)
    sys.setprofile(watch)
    try:
        yield watch.found
    finally:
        sys.setprofile(outer)


def _is_users(frame: FrameType | None) -> bool:
    return frame is not None and not is_library_module(
        frame.f_globals.get("__name__") or ""
    )


def _may_act(frame: FrameType) -> bool:
    """Whether a function of Python, which is called, may do more than compute.

    Those of tensor libraries are known, and what the user's own call is watched.
    """
    if _is_users(frame):
        names = frame.f_code.co_names
        return not _NAMES.isdisjoint(names) or any(map(_is_opaque, _named(frame)))
    if frame.f_code is call.__code__:
        return not isinstance(frame.f_locals["function"], _FUNCTIONS)
    module = frame.f_globals.get("__name__") or ""
    return _is_users(frame.f_back) and not is_registered(module)


def _named(frame: FrameType) -> Iterator[Any]:
    """The values of the variables from outside that a function names."""
    code = frame.f_code
    yield from (frame.f_globals.get(name) for name in code.co_names)
    yield from (frame.f_locals.get(name) for name in code.co_freevars)


def _is_opaque(value: Any) -> bool:
    """Whether nobody hears of what an object calls: a partial, say."""
    if not callable(value) or isinstance(value, _FUNCTIONS):
        return False
    return not isinstance(getattr(type(value), "__call__", None), FunctionType)


def _acts(function: Any, frame: FrameType) -> bool:
    """Whether a function of C may do more than compute."""
    if function in _ACTING:
        return True
    if not _is_users(frame):
        return False
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and function.__name__ == "__new__":
        return False
    if type(owner) in (list, dict):
        return function.__name__ not in _READING
    return type(owner) not in _FIXED and function not in _PURE
