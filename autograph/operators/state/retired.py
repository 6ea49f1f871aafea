"""Lists, dicts and the like that other objects stand for, kept from being used.

`trials.replace` puts a library's object into all variables, attributes and items that
have a list. What Python is in the middle of has the list as it was: an iterator, the
object of a `with`, the operands of ``out.append(visit(x))`` where `visit` appends, too.
Nobody can look there. So the list is *retired* until the traced function, or the body
that is tried, has ended: its items cannot be used, and whether it was changed is seen
at the end. `trials` retires; who runs user code revives.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import is_
from typing import Any, NamedTuple, NoReturn

from ...diagnostics import Diagnostic
from ...errors import StagingError
from ...ownership import user_location
from ..classes import ATOMS


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise StagingError(
        Diagnostic(
            "AG210",
            "a container whose length a tensor decides is also used elsewhere",
            "since a staged statement changed the list, dict, set or deque, it is "
            "another object, and this expression, loop or `with`, which had begun "
            "before, still has it as it was",
            user_location(),
            "compute what changes the list in a statement of its own, before this one: "
            "`item = visit(x)`, then `out.append(item)`",
        )
    )


class _Stale:
    """Stands in a retired container for its items: nothing can be done with it."""

    __slots__ = ()
    __hash__ = object.__hash__  # what a retired set has among its elements

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # who looks at modules asks all that is in them
            raise AttributeError(name)
        _refuse()


#: What Python asks objects for; to make, tell apart and inspect one stays possible.
_USES = """
    setattr call iter next len bool contains getitem setitem delitem int float
    index complex str repr format bytes array enter exit eq ne lt le gt ge add radd sub
    rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow
    lshift rlshift rshift rrshift and rand xor rxor or ror neg pos abs invert round
    divmod rdivmod copy deepcopy reduce_ex
"""
for _name in _USES.split():
    setattr(_Stale, f"__{_name}__", _refuse)

STALE = _Stale()


class _Retired(NamedTuple):
    """A container, the class whose methods fill it, what was in it and what is."""

    value: Any
    base: Any
    parts: list[Any]
    stale: list[Any]


_BASES = (list, OrderedDict, dict, set, deque)
#: The containers that are retired at present, the latest last; None where nobody would
#: revive them.
_retired: ContextVar[list[_Retired] | None] = ContextVar("retired", default=None)


def _parts(value: Any, base: Any) -> list[Any]:
    return list(base.items(value) if issubclass(base, dict) else base.__iter__(value))


def _fill(value: Any, base: Any, parts: list[Any]) -> None:
    """Put other parts into a container."""
    if base is set:  # the others stay, and so does their order
        base.difference_update(value, base(value).difference(parts))
        base.update(value, parts)
        return
    base.clear(value)
    if not issubclass(base, dict):
        base.extend(value, parts)
        return
    for key, part in parts:
        base.__setitem__(value, key, part)


def retire(value: Any) -> None:
    """Keep a container, which another object stands for, from being used."""
    retired = _retired.get()
    base = next((base for base in _BASES if issubclass(type(value), base)), None)
    if retired is None or base is None or is_retired(value):
        return
    parts = _parts(value, base)
    # One more than there were: an iterator that has given all items comes to it.
    stale: list[Any] = [STALE] * (len(parts) + 1)
    if base is set:
        stale = [*parts, STALE]
    elif issubclass(base, dict):
        stale = [*((key, STALE) for key, _ in parts), (STALE, STALE)]
    _fill(value, base, stale)
    retired.append(_Retired(value, base, parts, _parts(value, base)))


def check_in_use(value: Any) -> None:
    """Raise AG210 for a retired container, an item of one, or a tuple of such items."""
    kind = type(value)
    if kind in ATOMS:
        return
    if kind is tuple:
        for part in value:
            if part is STALE:
                _refuse()
    elif kind is _Stale or (issubclass(kind, _BASES) and is_retired(value)):
        _refuse()


def is_retired(value: Any) -> bool:
    """Whether a container is retired; asks no class of the user's."""
    cls = type(value)
    if issubclass(cls, dict):
        return dict.__contains__(value, STALE)
    if issubclass(cls, set):
        return set.__contains__(value, STALE)
    base: Any = list if issubclass(cls, list) else deque
    return base.__len__(value) > 0 and base.__getitem__(value, 0) is STALE


def count() -> int:
    """How many containers are retired, for `revive`."""
    return len(_retired.get() or ())


def check_unused(since: int) -> None:
    """Give the containers their items back that were retired since `count` said so.

    Raises:
        StagingError: AG210, one was changed in the meantime.
    """
    if revive(since):
        _refuse()


def revive(since: int) -> bool:
    """As `check_unused`; tells whether one was changed in the meantime."""
    retired, was_changed = _retired.get() or [], False
    while len(retired) > since:
        value, base, parts, stale = retired.pop()
        was_changed |= not _alike(_parts(value, base), stale)
        _fill(value, base, parts)
    return was_changed


@contextmanager
def as_they_were() -> Iterator[None]:
    """Within the block, which runs no code of the user's, nothing is retired."""
    retired = list(_retired.get() or ())
    now = [_parts(one.value, one.base) for one in retired]
    for one in retired:
        _fill(one.value, one.base, one.parts)
    try:
        yield
    finally:
        for one, parts in zip(retired, now, strict=True):
            _fill(one.value, one.base, parts)


@contextmanager
def retiring() -> Iterator[None]:
    """Revive the containers that are retired within the block when it ends.

    Raises:
        StagingError: AG210, one was changed in the meantime.
    """
    token = None if _retired.get() is not None else _retired.set([])
    before = count()
    try:
        yield
        check_unused(before)
    finally:
        revive(before)
        if token is not None:
            _retired.reset(token)


def _alike(one: list[Any], other: list[Any]) -> bool:
    """Whether two lists, or lists of pairs, have the same objects in them."""
    if len(one) != len(other):
        return False
    pairs = zip(one, other, strict=True)
    return all(
        a is b or (type(a) is tuple and len(a) == 2 and all(map(is_, a, b)))
        for a, b in pairs
    )
