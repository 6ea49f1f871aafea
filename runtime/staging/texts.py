"""f-strings, ``str``, ``format``, ``%`` and ``print`` of values with tensors in them.

Python values are formatted at once, as the program stands there; of tensors the text is
made when the graph runs, by Python itself.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from runtime.ops.convert import as_tensor, is_tensor
from runtime.ops.staged.flow import optional_parts
from runtime.ops.staged.python_text import (
    Fill,
    Format,
    MakeText,
    OptionalFill,
    SequenceFill,
    TensorFill,
    ValueFill,
    ask_text,
    format_text,
    print_text,
    shown_values,
)
from runtime.ops.values import to_array
from runtime.staging.builtins.truth import StagedTruth
from runtime.staging.lists.sequences import weakened
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.refusals import Untold
from runtime.staging.state.optional import composed
from runtime.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.types import dtypes
from runtime.types.dtypes import DType
from runtime.variable import Variable

__all__ = [
    "BUILTINS",
    "Values",
    "characters",
    "is_text",
    "method_of_text",
]

#: Values whose text cannot change before the graph runs.
_ATOMS = (bool, int, float, complex, str, bytes, type(None))
_MARK = "\0"


def is_text(value: Any) -> bool:
    """Whether a tensor stands for a Python string."""
    return isinstance(value, SymbolicTensor) and value.is_text


class Values:
    """The tensors within some values, and how to put the values together again."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []

    def fill(self, value: Any) -> Fill:
        """What gives the value when the values of the tensors are known."""
        if isinstance(value, Variable):
            return self._variable(value)
        if isinstance(value, SymbolicTensor):
            parts = optional_parts(value)
            return self._tensor(value) if parts is None else self._optional(*parts)
        if isinstance(value, Untold):
            columns = [self._list(part) for part in value.lists_shown()]
            return lambda found: value.shown(*(column(found) for column in columns))
        if isinstance(value, StagedTruth):
            raise value.__staged_refusal__
        if type(value) is dict:
            items = {key: self.fill(item) for key, item in value.items()}
            return lambda found: {key: fill(found) for key, fill in items.items()}
        if type(value) is list:
            return SequenceFill(list, tuple(map(self.fill, value)))
        if type(value) is tuple:
            return SequenceFill(tuple, tuple(map(self.fill, value)))
        if isinstance(value, tuple):
            make = getattr(type(value), "_make", tuple)
            inner = list(map(self.fill, value))
            return lambda found: make(fill(found) for fill in inner)
        if type(value) in (set, frozenset):
            kind, members = type(value), list(map(self.fill, value))
            return lambda found: kind(fill(found) for fill in members)
        inside = None if isinstance(value, _ATOMS) else composed(value)
        if inside is None or is_tensor(value):
            return ValueFill(value if isinstance(value, _ATOMS) else _Shown(value))
        fills = list(map(self.fill, inside.parts))
        return lambda found: inside.rebuild([fill(found) for fill in fills])

    def _tensor(self, tensor: Tensor) -> Fill:
        index = len(self.tensors)
        self.tensors.append(tensor)
        return TensorFill(index)

    def _optional(self, value: Tensor, some: Tensor) -> Fill:
        return OptionalFill(self._tensor(value), self._tensor(some))

    def _list(self, value: StagedList) -> Fill:
        (element, _), (*buffers, count) = value.__tf_flatten__()
        weak = [buffer.spec.weak for buffer in buffers]
        columns, length = list(map(self._tensor, buffers)), self._tensor(count)

        def fill(found: Sequence[Any]) -> list[Any]:
            rows = zip(*(np.asarray(column(found)) for column in columns))
            shown = [element.pack(shown_values(row, weak)) for row in rows]
            return shown[: int(length(found))]

        return fill

    def _variable(self, variable: Variable) -> Fill:
        value = self._tensor(as_tensor(variable))
        head = repr(variable)[:-1]
        return lambda found: _VariableText(head, value(found), variable.dtype)

    def text(
        self, make: Any, fills: Sequence[Fill], template: str, raises: bool = False
    ) -> Any:
        """The text that `make` gives for the values, as a tensor; see `format_text`."""
        weak = [tensor.spec.weak for tensor in self.tensors]
        text = Format(make, fills, weak, template)
        return weakened(format_text(self.tensors, text, raises))

    def needs(self, value: Any) -> bool:
        """Whether a value cannot be formatted before the graph runs."""
        probe = Values()
        probe.fill(value)
        return bool(probe.tensors)


class _Shown:
    """An object beside a tensor, as it looked when the program came to it."""

    def __init__(self, value: Any) -> None:
        self._texts = str(value), repr(value)
        self._value = value

    def __str__(self) -> str:
        return self._texts[0]

    def __repr__(self) -> str:
        return self._texts[1]

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)


class _VariableText:
    """A variable as it was when the program came to it."""

    def __init__(self, head: str, value: Any, dtype: DType) -> None:
        self._head = head
        self._value = value
        self._dtype = dtype

    def __repr__(self) -> str:
        value = self._value
        if not is_tensor(value):
            value = EagerTensor(to_array(value, self._dtype)[0])
        value = repr(value)
        return f"{self._head}, {value[value.index('numpy=') :]}"

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)


# --- str.format -----------------------------------------------------------------------


def _fstring(template: str, /, *values: Any, **named: Any) -> Any:
    """``template.format(*values, **named)``: fields without tensors are filled now."""
    found = Values()
    fields = _Fields(template, values, named)
    fills: list[Fill] = []
    pieces = []
    for literal, field in fields:
        pieces.append(_escaped(literal))
        if field is None:
            continue
        value, conversion, spec = field
        own = getattr(value, "__autograph_text__", None)
        if own is not None:
            value = own(conversion[1:], spec[0].format(*spec[1:]))
            conversion, spec = "", [""]
        if found.needs(value) or any(map(found.needs, spec)):
            pieces.append(_field(conversion, spec[0]))
            fills += map(found.fill, (value, *spec[1:]))
        else:
            one = _field(conversion, spec[0])
            pieces.append(_escaped(one.format(value, *spec[1:])))
    text = "".join(pieces)
    return found.text(MakeText("format", text), fills, text)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _field(conversion: str, spec: str) -> str:
    return f"{{{conversion}:{spec}}}" if spec else f"{{{conversion}}}"


class _Fields:
    """The fields of a template: text before each, its value, conversion and spec.

    A spec is a list: its own template, and the values that are filled into that.
    """

    def __init__(
        self, template: str, values: tuple[Any, ...], named: dict[str, Any]
    ) -> None:
        self._template = template
        self._values = values
        self._named = named
        self._next = 0
        from string import Formatter  # for texts with tensors alone

        self._formatter = Formatter()

    def __iter__(self) -> Iterator[tuple[str, tuple[Any, str, list[Any]] | None]]:
        for literal, name, spec, conversion in self._formatter.parse(self._template):
            if name is None:
                yield literal, None
                continue
            value = self._value(name)
            shown = f"!{conversion}" if conversion else ""
            yield literal, (value, shown, self._spec(spec))

    def _spec(self, spec: str | None) -> list[Any]:
        template, values = [], []
        for literal, name, _, conversion in self._formatter.parse(spec or ""):
            template.append(literal)
            if name is not None:
                template.append(f"{{!{conversion}}}" if conversion else "{}")
                values.append(self._value(name))
        return ["".join(template), *values]

    def _value(self, name: str) -> Any:
        first = name.partition(".")[0].partition("[")[0]
        if not first:
            name, self._next = f"{self._next}{name}", self._next + 1
        return self._formatter.get_field(name, self._values, self._named)[0]


# --- parts ----------------------------------------------------------------------------


def characters(text: Any, key: Any) -> Any:
    """``text[key]`` for an index or a slice; IndexError comes when the graph runs."""
    found = Values()
    whole = found.fill(text)
    if not isinstance(key, slice):
        parts = [whole, found.fill(key)]
        return found.text(MakeText("item"), parts, "str[i]", raises=True)
    ends = map(found.fill, (key.start, key.stop, key.step))
    return found.text(MakeText("slice"), [whole, *ends], "str[i:j]")


# --- the others -----------------------------------------------------------------------


def _str(value: Any = "") -> Any:
    return weakened(value) if is_text(value) else _fstring("{!s}", value)


def _repr(value: Any) -> Any:
    return _fstring("{!r}", value)


def _format(value: Any, spec: Any = "") -> Any:
    return _fstring("{:{}}", value, spec)


def _percent(template: str, values: Any) -> Any:
    found = Values()
    fill = found.fill(values)
    return found.text(MakeText("percent", template), [fill], template)


def _join(separator: str, items: Any) -> Any:
    found = Values()
    fill = found.fill(items)
    return found.text(MakeText("join", separator), [fill], f"{separator!r}.join")


def _print(*values: Any, **options: Any) -> None:
    """``print``: of texts when the graph runs, else at once.

    Printing while a function is traced is how programs show that it is traced.
    """
    if not any(is_text(value) and value.spec.weak for value in values):
        builtins.print(*values, **options)
        return
    found = Values()
    print_text(found.tensors, [found.fill(value) for value in values], options)


def _in_base(kind: str) -> Callable[[Any], Any]:
    """``bin``, ``hex`` or ``oct``, by the kind of format that gives the same text."""

    def text(number: Any) -> Any:
        if not _is_integer(number):
            raise _error_of(hex, number)
        return _fstring(f"{{:#{kind}}}", number)

    return text


def _is_integer(value: Any) -> bool:
    """Whether a tensor stands for an int or a bool."""
    dtype = getattr(value, "dtype", dtypes.string)
    return (dtype.is_integer or dtype.is_bool) and value.shape.rank in (0, None)


def _error_of(function: Callable[[Any], Any], value: Any) -> Exception:
    """What Python raises for a value of another kind."""
    kind = getattr(value, "__autograph_value_type__", lambda: None)()
    try:
        function(() if kind is None else kind())
    except TypeError as error:
        return error.with_traceback(None)
    return TypeError(f"{function.__name__}() does not take {value!r}")


def _chr(number: Any) -> Any:
    if not _is_integer(number):
        raise _error_of(chr, number)
    found = Values()
    return found.text(MakeText("chr"), [found.fill(number)], "chr")


def _ord(text: Any) -> Any:
    if not is_text(text):
        raise _error_of(ord, text)
    found = Values()
    fills = [found.fill(text)]
    asked = Format(MakeText("ord"), fills, [True], "ord")
    return weakened(ask_text(found.tensors, asked, dtypes.int64))


BUILTINS: dict[str, Callable[..., Any]] = {
    "bin": _in_base("b"),
    "chr": _chr,
    "format": _format,
    "fstring": _fstring,
    "hex": _in_base("x"),
    "join": _join,
    "oct": _in_base("o"),
    "ord": _ord,
    "percent": _percent,
    "print": _print,
    "repr": _repr,
    "str": _str,
}


# --- The methods of a str, of texts that are known when the graph runs

_TEXTS = frozenset(
    {"capitalize", "casefold", "center", "expandtabs", "ljust", "lower", "lstrip"}
    | {"removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip"}
    | {"swapcase", "title", "upper", "zfill"}
)
_BOOLS = frozenset(
    {"endswith", "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper"}
    | {"startswith"}
)
_INTS = frozenset({"count", "find", "rfind", "rindex"})


def method_of_text(text: SymbolicTensor, name: str) -> Callable[..., Any] | None:
    """``text.name`` of a text in a graph; None if it has no such method there.

    Those that give a text, a bool or an int are there, and indices and slices.
    """
    if name == "__getitem__":
        return functools.partial(characters, text)
    if name not in _TEXTS | _BOOLS | _INTS:
        return None

    def method(*args: Any) -> Any:
        found = Values()
        fills = [found.fill(value) for value in (text, *args)]
        if name in _TEXTS:
            return found.text(MakeText("method", name), fills, f"str.{name}")
        weak = [tensor.spec.weak for tensor in found.tensors]
        asked = Format(MakeText("method", name), fills, weak, f"str.{name}")
        dtype = dtypes.bool if name in _BOOLS else dtypes.int32
        answer = ask_text(found.tensors, asked, dtype, raises=name == "rindex")
        return answer if name in _BOOLS else weakened(answer)

    method.__name__ = method.__qualname__ = name
    return method
