"""Lists that other objects stand for, kept from being used.

`trials.replace` puts a library's object into all variables, attributes and items that
have a list. What Python is in the middle of has the list as it was: an iterator, the
object of a `with`, the operands of ``out.append(visit(x))`` where `visit` appends, too.
Nobody can look there. So the list is *retired* until the traced function, or the body
that is tried, has ended: its items cannot be used, and whether it was changed is seen
at the end. `trials` retires; who runs user code revives.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from ...diagnostics import Diagnostic
from ...errors import StagingError
from ...ownership import user_location

__all__ = ["check_in_use", "check_unused", "count", "retire", "retiring", "revive"]


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise StagingError(
        Diagnostic(
            "AG210",
            "a list whose length a tensor decides is also used elsewhere",
            "since a staged statement changed it the list is another object, and this "
            "expression, loop or `with`, which had begun before, still has the list as "
            "it was",
            user_location(),
            "compute what changes the list in a statement of its own, before this one: "
            "`item = visit(x)`, then `out.append(item)`",
        )
    )


class _Stale:
    """Stands in a retired list for its items: nothing can be done with it."""

    __slots__ = ()
    __hash__ = _refuse


#: What Python asks objects for; to make, tell apart and inspect one stays possible.
_USES = """
    getattr setattr call iter next len bool contains getitem setitem delitem int float
    index complex str repr format bytes array enter exit eq ne lt le gt ge add radd sub
    rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow
    lshift rlshift rshift rrshift and rand xor rxor or ror neg pos abs invert round
    divmod rdivmod copy deepcopy reduce_ex
"""
for _name in _USES.split():
    setattr(_Stale, f"__{_name}__", _refuse)

STALE = _Stale()

#: The lists that are retired at present, and their items, the latest last; None where
#: nobody would revive them.
_retired: ContextVar[list[tuple[list[Any], list[Any]]] | None] = ContextVar(
    "retired lists", default=None
)


def retire(value: Any) -> None:
    """Keep a list, which another object stands for, from being used."""
    retired = _retired.get()
    if retired is None or not isinstance(value, list) or _is_retired(value):
        return
    retired.append((value, list.copy(value)))
    # One more than there were: an iterator that has given all items comes to it.
    list.__setitem__(value, slice(None), [STALE] * (len(value) + 1))


def _is_retired(value: list[Any]) -> bool:
    return any(item is STALE for item in list.__iter__(value))


def check_in_use(value: Any) -> None:
    """Raise AG210 for a retired list, an item of one, or a tuple of such items."""
    kind = type(value)
    if kind is _Stale:
        _refuse()
    if kind is list and value and value[0] is STALE:
        _refuse()
    if kind is tuple and any(part is STALE for part in value):
        _refuse()


def count() -> int:
    """How many lists are retired, for `revive`."""
    return len(_retired.get() or ())


def check_unused(count: int) -> None:
    """Give the lists their items back that were retired after the first ``count``.

    Raises:
        StagingError: AG210, one was changed in the meantime.
    """
    if revive(count):
        _refuse()


def revive(count: int) -> bool:
    """As `check_unused`; tells whether a list was changed in the meantime."""
    retired, was_changed = _retired.get() or [], False
    while len(retired) > count:
        value, items = retired.pop()
        now = list.copy(value)
        stale = [item for item in now if item is STALE]
        was_changed |= len(stale) != len(now) or len(now) != len(items) + 1
        list.__setitem__(value, slice(None), items)
    return was_changed


@contextmanager
def retiring() -> Iterator[None]:
    """Revive the lists that are retired within the block when it ends.

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
