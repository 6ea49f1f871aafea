"""f-strings, ``str``, ``format``, ``%`` and ``print`` of values with tensors in them.

Python values are formatted at once, while the function is traced. Tensors are formatted
when the graph runs, by Python itself. Converted code gets here through `BUILTINS` and
`method_of_text`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.ops.arrays.indexing import getitem
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
from runtime.ops.variables import Variable
from runtime.staging.builtins.truth import StagedTruth
from runtime.staging.lists.sequences import weakened
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.refusals import Untold
from runtime.staging.state.optional import composed

#: Values whose text cannot change before the graph runs.
_ATOMS = (bool, int, float, complex, str, bytes, type(None))
_MARK = "\0"


def is_text(value: Any) -> bool:
    """Whether a tensor stands for a Python string."""
    return isinstance(value, SymbolicTensor) and value.is_text


class TensorValues:
    """The tensors within values, and functions that rebuild the values from them."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []

    def fill(self, value: Any) -> Fill:
        """The function that gives the value, from the arrays of all the tensors."""
        if isinstance(value, Variable):
            return self._variable(value)
        if isinstance(value, SymbolicTensor):
            pair = optional_parts(value)
            return self._tensor(value) if pair is None else self._optional(*pair)
        if isinstance(value, Untold):
            columns = [self._list(shown_list) for shown_list in value.lists_shown()]
            return lambda values: value.shown(*(column(values) for column in columns))
        if isinstance(value, StagedTruth):
            raise value.__staged_refusal__
        if type(value) is dict:
            items = {key: self.fill(item) for key, item in value.items()}
            return lambda values: {key: fill(values) for key, fill in items.items()}
        if type(value) is list:
            return SequenceFill(list, tuple(map(self.fill, value)))
        if type(value) is tuple:
            return SequenceFill(tuple, tuple(map(self.fill, value)))
        if isinstance(value, tuple):
            make = getattr(type(value), "_make", tuple)
            inner = list(map(self.fill, value))
            return lambda values: make(fill(values) for fill in inner)
        if type(value) in (set, frozenset):
            kind, members = type(value), list(map(self.fill, value))
            return lambda values: kind(fill(values) for fill in members)
        composition = None if isinstance(value, _ATOMS) else composed(value)
        if composition is None or is_tensor(value):
            return ValueFill(value if isinstance(value, _ATOMS) else _Shown(value))
        fills = list(map(self.fill, composition.parts))
        return lambda values: composition.rebuild([fill(values) for fill in fills])

    def _tensor(self, tensor: Tensor) -> Fill:
        index = len(self.tensors)
        self.tensors.append(tensor)
        return TensorFill(index)

    def _optional(self, value: Tensor, flag: Tensor) -> Fill:
        return OptionalFill(self._tensor(value), self._tensor(flag))

    def _list(self, value: StagedList) -> Fill:
        (element, _), (*buffers, count) = value.__tf_flatten__()
        weak = [buffer.spec.weak for buffer in buffers]
        columns, length = list(map(self._tensor, buffers)), self._tensor(count)

        def fill(values: Sequence[Any]) -> list[Any]:
            rows = zip(*(np.asarray(column(values)) for column in columns))
            shown = [element.pack(shown_values(row, weak)) for row in rows]
            return shown[: int(length(values))]

        return fill

    def _variable(self, variable: Variable) -> Fill:
        value = self._tensor(as_tensor(variable))
        head = repr(variable)[:-1]
        return lambda values: _VariableText(head, value(values), variable.dtype)

    def text(
        self, make: Any, fills: Sequence[Fill], template: str, raises: bool = False
    ) -> Any:
        """The text that `make` gives for the values, as a tensor; see `format_text`."""
        weak = [tensor.spec.weak for tensor in self.tensors]
        text = Format(make, fills, weak, template)
        return weakened(format_text(self.tensors, text, raises))

    def needs(self, value: Any) -> bool:
        """Whether a value cannot be formatted before the graph runs."""
        probe = TensorValues()
        probe.fill(value)
        return bool(probe.tensors)


class _Shown:
    """An object with its texts at the time of tracing."""

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
    """A variable with its value at this point of the program."""

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
    operands = TensorValues()
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
        if operands.needs(value) or any(map(operands.needs, spec)):
            pieces.append(_field(conversion, spec[0]))
            fills += map(operands.fill, (value, *spec[1:]))
        else:
            pattern = _field(conversion, spec[0])
            pieces.append(_escaped(pattern.format(value, *spec[1:])))
    text = "".join(pieces)
    return operands.text(MakeText("format", text), fills, text)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _field(conversion: str, spec: str) -> str:
    return f"{{{conversion}:{spec}}}" if spec else f"{{{conversion}}}"


class _Fields:
    """The fields of a template: text before each, its value, conversion and spec.

    A spec is a list: its own template, and the values to fill in.
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


# --- characters -----------------------------------------------------------------------


def characters(text: Any, key: Any) -> Any:
    """``text[key]`` for an index or a slice; IndexError comes when the graph runs."""
    if key is None or key is Ellipsis or isinstance(key, tuple):
        return getitem(text, key)  # an index of tensors, which no text of Python takes
    operands = TensorValues()
    fill = operands.fill(text)
    if not isinstance(key, slice):
        fills = [fill, operands.fill(key)]
        return operands.text(MakeText("item"), fills, "str[i]", raises=True)
    ends = map(operands.fill, (key.start, key.stop, key.step))
    return operands.text(MakeText("slice"), [fill, *ends], "str[i:j]")


# --- str, repr, join, print -----------------------------------------------------------


def _str(value: Any = "") -> Any:
    return weakened(value) if is_text(value) else _fstring("{!s}", value)


def _repr(value: Any) -> Any:
    return _fstring("{!r}", value)


def _format(value: Any, spec: Any = "") -> Any:
    return _fstring("{:{}}", value, spec)


def _percent(template: str, values: Any) -> Any:
    operands = TensorValues()
    fill = operands.fill(values)
    return operands.text(MakeText("percent", template), [fill], template)


def _join(separator: str, items: Any) -> Any:
    operands = TensorValues()
    fill = operands.fill(items)
    return operands.text(MakeText("join", separator), [fill], f"{separator!r}.join")


def _print(*values: Any, **options: Any) -> None:
    """``print``: of texts in a graph when it runs, of other values at once.

    Printing while a function is traced is how programs show that it is traced.
    """
    if not any(is_text(value) and value.spec.weak for value in values):
        builtins.print(*values, **options)
        return
    operands = TensorValues()
    print_text(operands.tensors, [operands.fill(value) for value in values], options)


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
    """The exception that Python raises for a value of this kind."""
    kind = getattr(value, "__autograph_value_type__", lambda: None)()
    try:
        function(() if kind is None else kind())
    except TypeError as error:
        return error.with_traceback(None)
    return TypeError(f"{function.__name__}() does not take {value!r}")


def _chr(number: Any) -> Any:
    if not _is_integer(number):
        raise _error_of(chr, number)
    operands = TensorValues()
    return operands.text(MakeText("chr"), [operands.fill(number)], "chr")


def _ord(text: Any) -> Any:
    if not is_text(text):
        raise _error_of(ord, text)
    operands = TensorValues()
    fills = [operands.fill(text)]
    asked = Format(MakeText("ord"), fills, [True], "ord")
    return weakened(ask_text(operands.tensors, asked, dtypes.int64))


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


# --- the methods of a str, of texts in a graph

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

    There are the methods that give a text, a bool or an int, and ``__getitem__``.
    """
    if name == "__getitem__":
        return functools.partial(characters, text)
    if name not in _TEXTS | _BOOLS | _INTS:
        return None

    def method(*args: Any) -> Any:
        operands = TensorValues()
        fills = [operands.fill(value) for value in (text, *args)]
        if name in _TEXTS:
            return operands.text(MakeText("method", name), fills, f"str.{name}")
        weak = [tensor.spec.weak for tensor in operands.tensors]
        question = Format(MakeText("method", name), fills, weak, f"str.{name}")
        dtype = dtypes.bool if name in _BOOLS else dtypes.int32
        answer = ask_text(operands.tensors, question, dtype, raises=name == "rindex")
        return answer if name in _BOOLS else weakened(answer)

    method.__name__ = method.__qualname__ = name
    return method
