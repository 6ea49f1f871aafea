"""Structures as JSON, and the arguments of saved functions."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.core.types import nest
from runtime.files.saved_model.decode import ProgramReader
from runtime.files.saved_model.encode import ProgramWriter
from runtime.function.call import Specs
from runtime.staging.lists.elements import MaybeNone, Ragged, Row
from runtime.staging.tracing.signature import Signature

Leaf = Callable[[Any], Any]

#: Named tuples of the runtime's own, within the elements of lists.
_PARTS: dict[str, Any] = {"MaybeNone": MaybeNone, "Ragged": Ragged, "Row": Row}
_KINDS = {kind.name: kind for kind in inspect._ParameterKind}


class Unsaved:
    """Stands for a default that could not be saved."""

    def __repr__(self) -> str:
        return "<not saved>"


# --- structures -----------------------------------------------------------------------


def structure(value: Any, leaf: Leaf, is_result: bool = False) -> Any:
    """A list, tuple, dict or named tuple as JSON, around what `leaf` gives.

    So is a dataclass in a result. Raises TypeError for a structure of another class.
    """
    kind = type(value)
    if nest.children(value) is None:
        return {"leaf": leaf(value)}

    def inner(item: Any) -> Any:
        return structure(item, leaf, is_result)

    if kind is list or kind is tuple:
        return {kind.__name__: [inner(item) for item in value]}
    if kind in _PARTS.values():
        items = [inner(item) for item in value]
        return {"part": kind.__name__, "items": items}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        pairs = zip(kind._fields, value)
        fields = [[name, inner(item)] for name, item in pairs]
        return {"namedtuple": kind.__name__, "fields": fields}
    if kind in (dict, collections.OrderedDict, collections.defaultdict):
        # The leaves are counted in the order of sorted keys.
        found = {key: inner(value[key]) for key in sorted(_keys(value))}
        return {"dict": [[key, found[key]] for key in value]}
    if is_result and _is_plain_dataclass(value):
        fields = [[f.name, inner(getattr(value, f.name))] for f in _fields(value)]
        return {"dataclass": kind.__name__, "fields": fields}
    raise TypeError(f"a {kind.__name__}, a class that another process does not have")


def _is_plain_dataclass(value: Any) -> bool:
    """Whether the fields of an object, in this order, are all that there is to it."""
    if not dataclasses.is_dataclass(value) or hasattr(value, "__tf_flatten__"):
        return False
    names = [field.name for field in _fields(value)]
    return all(field.init for field in _fields(value)) and not nest.other_attributes(
        value, names
    )


def _fields(value: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(value)


def _keys(value: Mapping[Any, Any]) -> list[Any]:
    if not all(type(key) in (str, int, bool) for key in value):
        raise TypeError(f"a dict with keys that are neither texts nor ints: {value!r}")
    return list(value)


def read_structure(value: dict[str, Any], leaf: Leaf) -> Any:
    """The structure of its JSON."""
    if "leaf" in value:
        return leaf(value["leaf"])
    if "list" in value:
        return [read_structure(item, leaf) for item in value["list"]]
    if "tuple" in value:
        return tuple([read_structure(item, leaf) for item in value["tuple"]])
    if "part" in value:
        items = [read_structure(item, leaf) for item in value["items"]]
        return _PARTS[value["part"]](*items)
    if "dict" in value:
        pairs = value["dict"]
        return {_key(key): read_structure(item, leaf) for key, item in pairs}
    kind = "dataclass" if "dataclass" in value else "namedtuple"
    names = tuple([name for name, _ in value["fields"]])
    make = _class(kind, value[kind], names)
    return make(*[read_structure(item, leaf) for _, item in value["fields"]])


@functools.cache
def _class(kind: str, name: str, names: tuple[str, ...]) -> Any:
    """A class in the place of one of the program: with the fields, and nothing else."""
    for text in (name, *names):
        if not text.isidentifier() or keyword.iskeyword(text):
            raise ValueError(f"{text!r} is no name")
    if kind == "dataclass":
        return dataclasses.make_dataclass(name, names)
    return collections.namedtuple(name, names)


def _key(key: Any) -> Any:
    if type(key) not in (str, int, bool):
        raise TypeError(f"the key {key!r}")
    return key


# --- parameters -----------------------------------------------------------------------


def parameters(signature: Signature, writer: ProgramWriter) -> list[dict[str, Any]]:
    """The parameters of a function, with the defaults that are data."""
    found = []
    for parameter in signature.parameters.parameters.values():
        entry: dict[str, Any] = {"name": parameter.name, "kind": parameter.kind.name}
        if parameter.default is not inspect.Parameter.empty:
            try:
                entry["default"] = structure(parameter.default, writer.value)
            except TypeError:
                entry["default"] = None
        found.append(entry)
    return found


def read_parameters(
    name: str, entries: Sequence[dict[str, Any]], reader: ProgramReader
) -> Signature:
    """The signature of a function of that name."""
    found = []
    for entry in entries:
        default: Any = inspect.Parameter.empty
        if "default" in entry:
            own = entry["default"]
            default = Unsaved() if own is None else read_structure(own, reader.value)
        kind = _KINDS[entry["kind"]]
        found.append(inspect.Parameter(entry["name"], kind, default=default))
    return signature_of(name, found)


def signature_of(name: str, found: Sequence[inspect.Parameter]) -> Signature:
    """The signature of a function with these parameters."""

    def function() -> None:
        pass

    function.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    return Signature(function, name)


def specs_text(specs: Specs) -> str:
    """The arguments of a trace, for messages."""
    args, kwargs = specs
    texts = [_text(value) for value in args]
    texts += [f"{name}={_text(value)}" for name, value in kwargs.items()]
    return f"({', '.join(texts)})"


def _text(value: Any) -> str:
    return repr(nest.outline(value))
