"""What a call gives, as values that can be compared, and how two of them differ."""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import math
import random
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

_EQ_OF_OBJECTS: Any = object.__eq__
#: How many items of a generator are compared.
_ITEMS = 1000
_NUMBERS = (bool, int, float, complex)


class Outcome(NamedTuple):
    """What a call gave: a result or exception, output, and the arguments after it."""

    result: Any
    error: BaseException | None
    printed: str
    arguments: Any

    def told(self) -> str:
        """For people: the result, or the exception."""
        return repr(self.result) if self.error is None else _told(self.error)


def _told(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class Difference(NamedTuple):
    """In what two outcomes differ: ``result``, ``error``, ``output``, ``arguments``."""

    what: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.what} {self.found}, not {self.expected}"


def outcome(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    as_python: Callable[[Any], Any],
    owner: Any = None,
) -> Outcome:
    """Call a function, and note what that gives as values of Python.

    The arguments are copied before. What becomes of them, and of ``owner``, the object
    of a method, is a part of the outcome. Random numbers of Python begin at the same
    seed each time.
    """
    arguments, keywords = copy.deepcopy((list(arguments), dict(keywords)))
    printed = io.StringIO()
    result, error = None, None
    state = random.getstate()
    random.seed(0)
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about one way of running
        try:
            result = described(function(*arguments, **keywords), as_python)
        except (Exception, SystemExit) as raised:
            error = raised
        finally:
            random.setstate(state)
    after = described([owner, arguments, keywords], as_python)
    return Outcome(result, error, printed.getvalue(), after)


def described(value: Any, as_python: Callable[[Any], Any]) -> Any:
    """A value without tensors. Objects become their class's name with their attributes,
    so that those of two runs can be equal.
    """
    return _described(value, as_python, ())


def _described(value: Any, as_python: Callable[[Any], Any], around: Any) -> Any:
    value = as_python(value)
    if isinstance(value, (*_NUMBERS, str, bytes, type)) or value is None:
        return value
    if callable(value):  # another one in each way, with other cells
        return f"<{getattr(value, '__qualname__', type(value).__qualname__)}>"
    if isinstance(value, Generator):
        value = list(itertools.islice(value, _ITEMS))
    if any(value is outer for outer in around):
        return "..."
    inside = (*around, value)
    if isinstance(value, Mapping):
        return {key: _described(v, as_python, inside) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [_described(part, as_python, inside) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, (set, frozenset)):
        parts = [_described(part, as_python, inside) for part in value]
        return {type(value).__name__: sorted(parts, key=repr)}
    attributes = getattr(value, "__dict__", None) or _slots(value)
    if attributes:
        return {type(value).__name__: _described(attributes, as_python, inside)}
    compares_itself = type(value).__eq__ is not _EQ_OF_OBJECTS
    return value if compares_itself else type(value).__name__


def _slots(value: Any) -> dict[str, Any]:
    """The attributes of an object whose class has ``__slots__``."""
    classes = [cls for cls in type(value).__mro__ if "__slots__" in vars(cls)]
    names = [name for cls in classes for name in _names(vars(cls)["__slots__"])]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _names(slots: Any) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)


def same(left: Any, right: Any, exact: bool) -> bool:
    """Whether two described values are equal: exactly, types too, or as tensors are,
    floats to single precision.
    """
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        alike = type(left) is type(right) and len(left) == len(right)
        return alike and all(
            same(a, b, exact) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        keys = list(left) == list(right) if exact else left.keys() == right.keys()
        return keys and all(same(left[key], right[key], exact) for key in left)
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        if exact and type(left) is not type(right):
            return False
        if left != left or right != right:
            return left != left and right != right
        if exact or (isinstance(left, int) and isinstance(right, int)):
            return left == right
        return left == right or _is_close(left, right)
    return bool(left == right)


def _is_close(left: complex, right: complex) -> bool:
    a, b = complex(left), complex(right)
    return all(
        math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6)
        for x, y in ((a.real, b.real), (a.imag, b.imag))
    )


def difference(found: Outcome, expected: Outcome, exact: bool) -> Difference | None:
    """The first thing in which an outcome is not what was expected."""
    if found.error is not None or expected.error is not None:
        if found.told() != expected.told() or not (found.error and expected.error):
            return Difference("gives", found.told(), expected.told())
    elif not same(found.result, expected.result, exact):
        return Difference("gives", found.told(), expected.told())
    if found.printed != expected.printed:
        return Difference("prints", repr(found.printed), repr(expected.printed))
    if not same(found.arguments, expected.arguments, exact):
        after, wanted = (_arguments(one) for one in (found, expected))
        return Difference("leaves the arguments", after, wanted)
    return None


def _arguments(found: Outcome) -> str:
    owner, positional, named = found.arguments
    head = [] if owner is None else [repr(owner)]
    texts = [*head, *map(repr, positional), *(f"{k}={v!r}" for k, v in named.items())]
    return f"({', '.join(texts)})"
