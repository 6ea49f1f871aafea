"""`verify`: the original, the converted form and the staged ones on equal arguments."""

from __future__ import annotations

import copy
import inspect
import linecache
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from ..api import convert
from ..diagnostics import Diagnostic, Location
from ..errors import AutographError, VerificationError
from ..ownership import as_written, functions_of
from ..source.text import code_of
from .comparison import Outcome, described, difference, outcome, same
from .library import Library, libraries
from .observation import observed

#: The code of an operation that an executor does not have.
_UNIMPLEMENTED = "AG362"
_FIX = "docs/limitations.md lists intended differences; please report any other"


def verify(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Verification:
    """Run a function in every way, and compare what that gives with the original.

    The original and the converted form get the arguments as they are. For the tensor
    libraries that are installed, numbers, arrays and lists of numbers become tensors;
    the converted form runs on these, too, and the function staged by each executor.
    Results, exceptions, printed output and changes of the arguments are compared:
    exactly for the converted form, and floats to single precision for tensors.

    Args:
        f: a function or method; of a staged function, the Python function is taken.
        args, kwargs: its arguments, which are copied for each way.

    Gives:
        What each way gave. Its text has a line for each.

    Raises:
        VerificationError: AG410, a way differs, or refuses the function. It names the
            first statement where the two part, with both values, if that can be found.
        TypeError: the arguments do not fit the parameters.

    >>> def clip(x):
    ...     return x if x < 10 else 10
    >>> verify(clip, 12).agrees
    True
    """
    verification = Verifier(f).compare(Call(args, kwargs))
    if not verification.agrees:
        raise verification.error()
    return verification


class WayResult(NamedTuple):
    """What a way of running gave: ``same``, ``different``, ``refused``, or ``unable``
    where an executor lacks an operation, which says nothing about the function.
    """

    way: str
    verdict: str
    text: str = ""
    #: The first statement where it parts from the original.
    location: Location | None = None


class Verification(NamedTuple):
    """What each way gave for one call."""

    name: str
    #: The call for people, ``clip(12)``, and what the original gave.
    call: str
    expected: str
    results: tuple[WayResult, ...]
    location: Location | None = None

    @property
    def agrees(self) -> bool:
        """Whether every way that is able to gave what the original does, and one of a
        tensor library was able to, if there is any.
        """
        staged = self.results[1:]
        is_able = not staged or any(one.verdict == "same" for one in staged)
        return is_able and not any(map(_differs, self.results))

    def __str__(self) -> str:
        ways: dict[tuple[str, str], list[str]] = {}
        for result in self.results:
            ways.setdefault((result.verdict, result.text), []).append(result.way)
        lines = [f"{self.call} gives {self.expected}"]
        for (verdict, text), names in ways.items():
            lines.append(f"  {verdict:9}  {'; '.join(names)}")
            lines += [f"  {'':9}  {line}" for line in text.splitlines()]
        return "\n".join(lines)

    def error(self) -> VerificationError:
        """The error that says which ways differ."""
        first = next(filter(_differs, self.results), self.results[-1])
        location = first.location or self.location
        title = f"{self.name} does not behave the same in every way"
        return VerificationError(Diagnostic("AG410", title, str(self), location, _FIX))


class Call(NamedTuple):
    """The arguments of a call as values of Python.

    Where there are `specs`, a structure like theirs, the values that stand for one of
    them become tensors; else all numbers do.
    """

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    specs: tuple[Sequence[Any], Mapping[str, Any]] | None = None

    def of(self, library: Library | None) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with tensors of a library, or as they are."""
        args, kwargs = list(self.args), dict(self.kwargs)
        if library is None:
            return args, kwargs
        if self.specs is None:
            tensors = {name: library.tensor(value) for name, value in kwargs.items()}
            return [*map(library.tensor, args)], tensors
        return (
            _as_tensors(args, list(self.specs[0]), library),
            _as_tensors(kwargs, dict(self.specs[1]), library),
        )


def _as_tensors(value: Any, specs: Any, library: Library) -> Any:
    """The values that stand for specs as tensors, and all others as they are."""
    if library.is_spec(specs):
        return library.tensor(value, specs)
    if isinstance(specs, dict):
        return {k: _as_tensors(v, specs[k], library) for k, v in value.items()}
    if isinstance(specs, (list, tuple)):
        pairs = zip(value, specs, strict=True)
        return type(specs)(_as_tensors(v, s, library) for v, s in pairs)
    return value


class _Way(NamedTuple):
    """A way of running: how it takes a function, and arguments as values of Python."""

    name: str
    prepared: Callable[[Any], Callable[..., Any]]
    library: Library | None


class Verifier:
    """Compares calls of one function; what was staged for one serves the next."""

    def __init__(self, f: Callable[..., Any]) -> None:
        #: The object of a method, of which each call gets a copy.
        self._owner = f.__self__ if isinstance(f, MethodType) else None
        self.function = _original(f)
        self._ways = [*_ways()]
        self._prepared = (
            {}
            if self._owner is not None
            else {way: way.prepared(self.function) for way in self._ways}
        )

    def check(self, call: Call) -> None:
        """Raise TypeError if the arguments do not fit the parameters."""
        args = call.args if self._owner is None else [self._owner, *call.args]
        inspect.signature(self.function).bind(*args, **call.kwargs)

    def compare(self, call: Call) -> Verification:
        """The results of all ways for one call; raises TypeError if it does not fit."""
        self.check(call)
        expected = self._outcome(_ORIGINAL, self.function, call)
        results = []
        for way in self._ways:
            found = self._outcome(way, self._prepared.get(way), call)
            results.append(self._result(way, found, expected, call))
        name = getattr(self.function, "__qualname__", repr(self.function))
        named = (f"{key}={value!r}" for key, value in call.kwargs.items())
        text = f"{name}({', '.join([*map(repr, call.args), *named])})"
        code = code_of(self.function)
        location = code and _line(code.co_filename, code.co_firstlineno)
        return Verification(name, text, expected.told(), tuple(results), location)

    def _outcome(self, way: _Way, function: Any, call: Call) -> Outcome:
        """What a way gives; ``function`` is what it made of a plain function."""
        owner = copy.deepcopy(self._owner)
        if owner is not None:
            function = way.prepared(MethodType(self.function, owner))
        as_python = _as_python(way.library)
        found = outcome(function, *call.of(way.library), as_python, owner)
        if way.library is None:
            return found
        return found._replace(printed=way.library.printed(found.printed))

    def _result(
        self, way: _Way, found: Outcome, expected: Outcome, call: Call
    ) -> WayResult:
        parted = difference(found, expected, exact=way.library is None)
        if parted is None:
            return WayResult(way.name, "same")
        code = str(getattr(found.error, "code", ""))
        is_refusal = code.startswith("AG") and expected.error is None
        if is_refusal and found.error is not None:
            diagnostics = getattr(found.error, "diagnostics", ())
            location = next((d.location for d in diagnostics if d.location), None)
            verdict = "unable" if code == _UNIMPLEMENTED else "refused"
            return WayResult(way.name, verdict, _headline(found.error), location)
        first = self._first_difference(way, call)
        if first is None:
            return WayResult(way.name, "different", str(parted))
        location, text = first
        place = f"{location.filename}:{location.lineno}"
        return WayResult(
            way.name, "different", f"{parted}\nfirst at {place}: {text}", location
        )

    def _first_difference(self, way: _Way, call: Call) -> tuple[Location, str] | None:
        """The first variable that is another one in a way than in the original."""
        if self._owner is not None or not isinstance(self.function, FunctionType):
            return None
        try:
            wanted = self._notes(_ORIGINAL, call)
            found = self._notes(way, call)
        except (AutographError, ValueError, SyntaxError):
            return None
        filename = self.function.__code__.co_filename
        for (line, name, value), (at, other, expected) in zip(
            found, wanted, strict=False
        ):
            if (line, name) != (at, other):
                text = f"line {line} runs next, not line {at}"
                return _line(filename, min(line, at)), text
            is_known = value is not NotImplemented
            if is_known and not same(value, expected, exact=way.library is None):
                text = f"`{name}` is {value!r}, not {expected!r}"
                return _line(filename, line), text
        return None

    def _notes(self, way: _Way, call: Call) -> list[tuple[int, str, Any]]:
        """What the variables are on the way: lines, names and values."""
        notes: list[tuple[int, str, Any]] = []
        as_python = _as_python(way.library)

        def note(line: int, name: str, value: Any) -> None:
            def add(value: Any) -> None:
                is_known = value is not NotImplemented
                shown = described(value, as_python) if is_known else value
                notes.append((line, name, shown))

            if way.library is None:
                add(value)
            else:
                way.library.observe(add, value)

        function = way.prepared(observed(self.function, note))
        self._outcome(way, function, call)
        return notes


_ORIGINAL = _Way("original", lambda f: f, None)


def _ways() -> Iterator[_Way]:
    """All ways but the original, those of each library that is installed last."""
    yield _Way("converted", convert, None)
    known = libraries()
    for name, library in known.items():
        head = f"{name}, " if len(known) > 1 else ""
        yield _Way(f"{head}eager", convert, library)
        for executor, stager in library.stagers().items():
            yield _Way(f"{head}{executor}", stager, library)


def _as_python(library: Library | None) -> Callable[[Any], Any]:
    """What makes values of Python of tensors; of arrays, where there is no library."""
    known = [library] if library else list(libraries().values())

    def as_python(value: Any) -> Any:
        for one in known:
            value = one.to_python(value)
        return value

    return as_python


def _original(f: Any) -> Any:
    """The Python function to compare with."""
    if isinstance(f, MethodType):
        f = f.__func__
    if isinstance(f, FunctionType):
        return as_written(f)
    wrapped = getattr(f, "__wrapped__", None)
    if isinstance(wrapped, FunctionType):
        return wrapped  # as of a `tf.function`
    if next(functions_of(f), None) is None and not isinstance(f, type):
        what = "is written in C" if callable(f) else "is no function"
        raise TypeError(f"{f!r} {what}: there is nothing to convert")
    return f


def _differs(result: WayResult) -> bool:
    return result.verdict not in ("same", "unable")


def _line(filename: str, number: int) -> Location:
    """The place of a line, from its first character that is no space."""
    text = linecache.getline(filename, number).rstrip()
    indent = len(text) - len(text.lstrip())
    inside = os.path.join(os.getcwd(), "")
    filename = filename.removeprefix(inside)  # as a person would name it
    return Location(filename, number, indent, number, len(text.encode()))


def _headline(error: BaseException) -> str:
    return str(error).partition("\n")[0]
