"""How an operator finds the library that answers for a value.

The question is asked of the value alone: its type carries ``__autograph_backend__``, or
somebody called `register` for a type they do not own; otherwise plain Python answers.
No library is ever imported from here.

A backend is an object with the methods of `Backend`. They are pure functions over
tuples of state values: the operators read the user's variables, hand their values to
the backend, and write back what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import CodeType, EllipsisType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from .activity import staging
from .classes import PYTHON, defines

State = tuple[Any, ...]
#: What stands in place of a function that would give it.
Constant = bool | complex | str | bytes | EllipsisType | None
Names = tuple[str, ...]
_F = TypeVar("_F", bound=Callable[..., Any])


#: Items of a Python iterable that a loop may go on for once a tensor decides whether it
#: stops: each is staged on its own.
UNROLL_LIMIT = 10_000


#: The library that traces a branch or a round here, for what has no tensor in it, such
#: as ``print("text")``.
tracing_by: ContextVar[Backend | None] = ContextVar("tracing_by", default=None)


class Unbound:
    """The value of a state variable that has no value (yet): see `UNBOUND`."""

    def __repr__(self) -> str:
        return "UNBOUND"


#: Stands for an unbound variable in the state tuples that a backend sees.
UNBOUND = Unbound()


class Later(NamedTuple):
    """An item of a loop that is made when the body runs, by the user's ``functions``.

    What they change is state of the loop, as what the body changes.
    """

    make: Callable[[], Any]
    functions: tuple[Any, ...] = ()


class LoopOver(Exception):
    """Raised by `Backend.for_loop`: the loop goes over other items, which it gives."""

    def __init__(self, items: Any) -> None:
        super().__init__(items)
        self.items = items


class Backend(Protocol):
    """What a tensor library implements to have Python control flow staged.

    A class whose attribute ``__autograph_backend__`` is to be its backend derives that
    from this one, or is registered: converted functions run as plain Python as long as
    nobody may stage anything.

    ``state`` is the tuple of values of the variables called ``names``, any of which may
    be `UNBOUND` or a plain Python object. The callables given to a backend take such a
    tuple, run the user's code on it, and may be called any number of times (or never):
    they leave no trace on the user's variables. A backend may lack methods; asking for
    one of them raises NotImplementedError.
    """

    #: Whether the library says when it stages, by `autograph.operators.staging`; or a
    #: function that is asked. A library that does neither may stage at any time.
    tells: ClassVar[bool | Callable[[], bool]] = False
    #: Whether branches that end with an exception of the user's give it as a result,
    #: an `autograph.operators.Raised`, in place of raising it.
    takes_raised: ClassVar[bool] = False

    def __set_name__(self, owner: type, name: str) -> None:
        if name == "__autograph_backend__":
            _announce(self, owner)

    def stages(self, value: Any) -> bool:
        """Whether ``value``, of a type of this library, is staged now.

        Plain Python answers for it otherwise: for an object that is a tensor within a
        graph and has a value outside.
        """
        raise _lacking(self, "stages")

    def cond(
        self,
        test: Any,
        if_true: Callable[[State], tuple[Any, State]],
        if_false: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> tuple[Any, State]:
        """Run one branch, by ``test``; each returns its result and its new state."""
        raise _lacking(self, "cond")

    def while_loop(
        self,
        test: Any,
        body: Callable[[State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """Repeat ``body`` while the test holds.

        That is at first ``test``, then the first part of what the body returns. The two
        are there by themselves, too: ``body.test(state)`` gives the value of the test
        and the state after it, ``body.once(state)`` whether the body ended with a
        ``break`` (None where it has none) and the state after it. ``body.stopped`` is
        whether a round before the first of these ended so.
        """
        raise _lacking(self, "while_loop")

    def for_loop(
        self,
        iterated: Any,
        body: Callable[[Any, State], tuple[Any, State]],
        state: State,
        names: Names,
    ) -> State:
        """Run ``body(item, state)`` for each item, which may be a `Later`.

        It returns whether to stop (None in a loop without ``break``) and the state.

        Raises:
            LoopOver: the loop goes over a Python iterable instead, or another value of
                a library.
        """
        raise _lacking(self, "for_loop")

    def rest(self, iterator: Any) -> Any:
        """A value of this library that a loop goes over in place of a Python iterator.

        It is asked for what is left of the iterator once a value of the library decides
        when the loop ends. None: each round is staged by itself.
        """
        return None

    def and_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left and right()``, evaluating the right side only where Python would.

        By default a `cond`, as `or_` is.
        """
        return self.cond(left, lambda _: (right(), ()), lambda _: (left, ()), (), ())[0]

    def or_(self, left: Any, right: Callable[[], Any]) -> Any:
        """``left or right()``, evaluating the right side only where Python would."""
        return self.cond(left, lambda _: (left, ()), lambda _: (right(), ()), (), ())[0]

    def not_(self, value: Any) -> Any:
        """``not value``."""
        raise _lacking(self, "not_")

    def consequences(self, test: Any, holds: bool) -> Iterable[tuple[Any, bool]]:
        """The tests that a test, which holds or does not, decides; their outcomes.

        Within a branch `autograph.operators.fact` gives the outcome of each.
        """
        return ()

    def settled(self, value: Any) -> Any:
        """A result or variable of a branch, in which facts of the branch are used.

        A value that may be missing, and is there wherever the branch is taken, becomes
        the value itself.
        """
        return value

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """What answers for the builtin ``name`` (``len``, …), if anything.

        Also asked for are operations that are no builtins; docs/extending.md lists
        them. Without an answer, Python's own operation is tried.
        """
        return None


def _lacking(backend: Backend, method: str) -> NotImplementedError:
    cls = type(backend).__qualname__
    return NotImplementedError(f"the backend {cls} has no method `{method}`")


_registered: dict[type, Backend] = {}
#: What answers for the values of a class, by its id as long as it lives.
_known: dict[int, tuple[ref[type], Backend | None]] = {}


def register(cls: type, backend: Backend) -> None:
    """Let ``backend`` answer for values of ``cls`` (and subclasses).

    For types of another library; your own types carry ``__autograph_backend__``.

    Raises:
        ValueError: another backend already answers for ``cls``, or Python itself does.
    """
    if cls in PYTHON:
        raise ValueError(f"Python itself answers for {cls.__qualname__}")
    if _registered.setdefault(cls, backend) is not backend:
        raise ValueError(f"a backend is already registered for {cls.__qualname__}")
    _announce(backend, cls)
    _known.clear()


def unregister(cls: type) -> None:
    """Undo `register`.

    Raises:
        KeyError: nothing is registered for ``cls``.
    """
    del _registered[cls]
    _known.clear()
    _retract(cls)


#: The classes whose values may be staged at any time, or whenever somebody says so.
_always: WeakKeyDictionary[type, Callable[[], bool] | None] = WeakKeyDictionary()


def _announce(backend: Backend, cls: type) -> None:
    tells = getattr(backend, "tells", False)
    if tells is not True and cls not in _always:
        _always[cls] = tells or None
        staging.begin(anywhere=True, asking=_always[cls])


def _retract(cls: type) -> None:
    if cls in _always:
        staging.end(anywhere=True, asking=_always.pop(cls))


def backend_of(value: Any) -> Backend | None:
    """The backend that answers for ``value``; None where plain Python does."""
    cls = type(value)
    if cls in PYTHON:
        return None
    try:
        backend = _known[id(cls)][1]
    except KeyError:
        backend = _look_up(cls)
    return None if backend is None or not backend.stages(value) else backend


def answer_for(name: str, *values: Any) -> Callable[..., Any] | None:
    """The answer for an operation of the library that a value belongs to.

    The first value of a library decides. None if Python answers, or the library has no
    answer for ``name``.
    """
    backend = next(filter(None, map(backend_of, values)), None)
    return None if backend is None else backend.builtin(name)


def _look_up(cls: Any) -> Backend | None:
    backend: Backend | None = None
    if defines(cls, "__autograph_backend__"):
        backend = cls.__autograph_backend__
        if backend is not None:
            _announce(backend, cls)
    if backend is None:
        backend = next((_registered[b] for b in cls.__mro__ if b in _registered), None)
    key = id(cls)
    _known[key] = ref(cls, lambda _: _known.pop(key, None)), backend
    return backend


_traces: set[CodeType] = set()


def begins_trace(function: _F) -> _F:
    """Mark a function of a tensor library that calls what is traced.

    What runs around it is not part of the trace, so that nothing has to be asked of it.
    """
    _traces.add(cast(Any, function).__code__)
    return function


def is_around_trace(code: CodeType) -> bool:
    """Whether this is the code of a function that `begins_trace`."""
    return code in _traces
