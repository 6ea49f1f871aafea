"""`Perhaps`: the value of a variable that may be unbound, or None.

Where a library decides which branch is taken, a variable may have a value after one
branch and none after the other. `Forms` then gives it a `Perhaps`: the value, and a
flag that tells whether it is present. A read has the library check the flag, unless the
tests around the read imply that the value is present. `control_flow` and `logical` note
these tests for every library (`assuming`), which asks for a flag (`fact`).
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...diagnostics import Diagnostic, Location
from ...errors import StagingError
from ...ownership import user_location
from ..dispatch import UNBOUND, backend_of

#: Tests whose outcome is known at this point of staging, by their ids.
_facts: ContextVar[dict[int, tuple[Any, bool]]] = ContextVar("facts")
#: How many consequences of a test to follow: the exit tests of an unrolled loop are a
#: chain as long as the loop.
_LIMIT = 50


@contextmanager
def assuming(test: Any, holds: bool) -> Iterator[None]:
    """Assume within the block that the test of a library holds, or does not.

    The library tells what follows from that: see `Backend.consequences`.
    """
    facts = dict(_facts.get({}))
    pending = deque([(test, holds)])
    for _ in range(_LIMIT):
        if not pending:
            break
        test, holds = pending.popleft()
        facts[id(test)] = test, holds
        backend = backend_of(test)
        if backend is not None:
            pending.extend(backend.consequences(test, holds))
    token = _facts.set(facts)
    try:
        yield
    finally:
        _facts.reset(token)


def fact(flag: Any) -> bool | None:
    """The outcome of a flag at this point of staging; None if it is not known."""
    if isinstance(flag, bool):
        return flag
    return _facts.get({}).get(id(flag), (flag, None))[1]


class Perhaps:
    """A value, if it is ``present``; else ``absent``, which is `UNBOUND` or None.

    Operations apply to the value. Before each one `is_missing` has the library check
    the flag, unless the value is known to be present.
    """

    __slots__ = ("__weakref__", "absent", "name", "place", "present", "value")

    def __init__(self, present: Any, value: Any, absent: Any, name: str = "") -> None:
        self.present = present
        self.value = value
        self.absent = absent
        self.name = name
        #: Where it came to be, for what is told of a result.
        self.place = user_location()

    def read(self) -> Any:
        """The value, after a check that it is present."""
        if not self.is_there():
            self.is_missing()
        value = self.value
        return value.read() if isinstance(value, Perhaps) else value

    def is_there(self) -> bool:
        """Whether the tests around this point imply that the value is present."""
        return fact(self.present) is True

    def is_missing(self) -> None:
        """Have the program raise an error when it runs, if the value is missing.

        Raises:
            StagingError: this library cannot; AG209.
        """
        raise self.refusal()

    def refusal(self, place: Location | None = None) -> StagingError:
        """The error AG209, for a use that needs the value, here or at another place."""
        lacks = "have no value" if self.absent is UNBOUND else "be None"
        return StagingError(
            Diagnostic(
                "AG209",
                "a value may be None, as a tensor decides",
                f"`{self.name or 'the result'}` may {lacks} here, and only the run can "
                "know",
                place or user_location(),
                "assign it before the statement that may leave it so, or test it first "
                "(a function that comes to its end returns None)",
            )
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.read(), name)

    def __hash__(self) -> int:
        return hash(self.read())


def text_of_missing(value: Perhaps) -> str:
    """Python's message for reading the missing value."""
    if value.absent is UNBOUND:
        return (
            f"UnboundLocalError: cannot access local variable '{value.name}' where it "
            "is not associated with a value"
        )
    return f"TypeError: '{value.name}' is None"


_ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_OTHERS = (
    *("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert"),
    *("getitem", "index"),
)
_PYTHONS: dict[str, Any] = {
    "__bool__": bool,
    "__call__": lambda value, *args, **options: value(*args, **options),
    "__float__": float,
    "__int__": int,
    "__iter__": iter,
    "__len__": len,
}


def _read(value: Any) -> Any:
    return value.read() if isinstance(value, Perhaps) else value


def _define(name: str, function: Any) -> None:
    def method(*values: Any, **options: Any) -> Any:
        return function(*map(_read, values), **options)

    setattr(Perhaps, name, method)


def _define_reflected(name: str, function: Any) -> None:
    setattr(Perhaps, name, lambda self, other: function(other, self.read()))


for _name in (*_ARITHMETIC, *_OTHERS):
    _define(f"__{_name}__", getattr(operator, f"__{_name}__"))
for _name in _ARITHMETIC:
    _define_reflected(f"__r{_name}__", getattr(operator, f"__{_name}__"))
for _name, _function in _PYTHONS.items():
    _define(_name, _function)
