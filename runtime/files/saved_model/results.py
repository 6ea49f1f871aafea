"""The results of saved functions as JSON: structures, lists and dicts of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.core.errors import UnsavableError
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.files.saved_model.decode import ProgramReader, spec
from runtime.files.saved_model.encode import ProgramWriter
from runtime.files.saved_model.forms import read_structure, structure
from runtime.ops.containers.array_parts import Kind
from runtime.ops.containers.tensor_array import TensorArray
from runtime.ops.staged.flow import optional_parts
from runtime.staging.library import dict_kinds, sets, tables
from runtime.staging.library.deques import StagedDeque
from runtime.staging.lists.elements import Element, Fixed
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.state.optional import NOTHING, StagedOptional
from runtime.staging.tracing.form import (
    Composition,
    Form,
    Results,
    made_of_tensors,
    nested,
    optional_composition,
)

#: What becomes lists, dicts and sets of Python outside of graphs.
_LISTS: dict[str, Any] = {cls.__name__: cls for cls in (StagedList, StagedDeque)}
_TABLES: dict[str, Any] = {
    cls.__name__: cls
    for home in (tables, dict_kinds, sets)
    for cls in vars(home).values()
    if isinstance(cls, type) and issubclass(cls, tables.StagedTable)
}


def results(found: Results, name: str, writer: ProgramWriter) -> Any:
    """The structure of a result, with the kinds of its leaves.

    Raises UnsavableError for an object of a class that another process does not have.
    """
    forms = _leaves(found.form)
    kinds = iter(found.are_tensors)

    def leaf(value: Any) -> Any:
        form = next(forms)
        own = [next(kinds) for _ in range(form.size)]
        if form.is_leaf:
            return "tensor" if own[0] else None
        if optional_parts(value) is not None:
            return {"optional": value.node.attrs["variable"]}
        return {"tensors": form.size, **_composite(value, form, writer)}

    try:
        return structure(found.structure, leaf, is_result=True)
    except TypeError as error:
        raise UnsavableError(
            f"AG340: {name!r} cannot be saved: its result has {error}. Return tensors, "
            "and lists, tuples and dicts of tensors"
        ) from None


def _leaves(form: Form) -> Iterator[Form]:
    """The forms of the leaves of a structure: of tensors, and what is made of some."""
    if form.is_leaf or nest.children(form.value) is None:
        yield form
        return
    for inner in form.inside:
        yield from _leaves(inner)


def _composite(value: Any, form: Form, writer: ProgramWriter) -> dict[str, Any]:
    name = type(value).__name__
    if isinstance(value, StagedOptional):
        like, inner = form.metadata
        is_none = like._value is NOTHING
        found = None if is_none else results(inner, like._name, writer)
        return {"nullable": like._name, "inner": found}
    if type(value) is TensorArray:
        return {"array": writer.value(value._kind.key())}
    if _LISTS.get(name) is type(value):
        return {"list": name, "name": value.name, "element": _element(value, writer)}
    if _TABLES.get(name) is type(value):
        elements = [_element(part, writer) for part in value._lists]
        return {"table": name, "name": value.name, "elements": elements}
    raise TypeError(f"a {name}, a class that another process does not have")


def _element(part: StagedList, writer: ProgramWriter) -> dict[str, Any]:
    element = part._element
    return {
        "structure": structure(element.structure, writer.value),
        "leaves": [
            writer.value(leaf)
            if isinstance(leaf, TensorSpec)
            else {"fixed": writer.value(leaf.value)}
            for leaf in element.leaves
        ],
    }


class _Leaf:
    """Stands for a leaf that is made of several tensors."""

    def __init__(self, composition: Any) -> None:
        self.compose = composition


def read_results(value: dict[str, Any], reader: ProgramReader) -> Results:
    """What `results` wrote."""

    def leaf(kind: Any) -> Any:
        if kind is None or kind == "tensor":
            return kind
        return _made(kind, reader)

    def compose(value: Any) -> Composition | None:
        return value.compose(value) if type(value) is _Leaf else nested(value)

    made = read_structure(value, leaf)
    form, leaves = Form.of(made, compose)
    return Results(made, form, tuple([kind is not None for kind in leaves]))


def _made(kind: dict[str, Any], reader: ProgramReader) -> _Leaf:
    if "optional" in kind:
        variable, both = str(kind["optional"]), ("tensor", "tensor")
        return _Leaf(lambda value: optional_composition(value, variable, both))
    cls: Any
    metadata: Any
    if "nullable" in kind:
        name, inner = str(kind["nullable"]), kind["inner"]
        cls = StagedOptional
        like = StagedOptional(NOTHING if inner is None else 0, None, name)
        metadata = like, None if inner is None else read_results(inner, reader)
    elif "array" in kind:
        cls, metadata = TensorArray, Kind(*reader.value(kind["array"]))
    elif "list" in kind:
        cls = _LISTS[kind["list"]]
        metadata = _read_element(kind["element"], reader), str(kind["name"])
    else:
        cls = _TABLES[kind["table"]]
        elements = tuple([_read_element(part, reader) for part in kind["elements"]])
        metadata = elements, str(kind["name"])
    parts = ["tensor"] * kind["tensors"]
    return _Leaf(lambda value: made_of_tensors(value, cls, metadata, parts))


def _read_element(value: dict[str, Any], reader: ProgramReader) -> Element:
    leaves = tuple([_read_leaf(leaf, reader) for leaf in value["leaves"]])
    return Element(read_structure(value["structure"], reader.value), leaves)


def _read_leaf(leaf: dict[str, Any], reader: ProgramReader) -> TensorSpec | Fixed:
    if "fixed" in leaf:
        return Fixed(reader.value(leaf["fixed"]))
    return spec(leaf["spec"])
