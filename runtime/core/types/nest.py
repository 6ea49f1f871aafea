"""Structures of values: lists, tuples, named tuples, dicts, dataclasses, attrs classes.

>>> flatten({"b": 1, "a": [2, (3,)]})
[2, 3, 1]
>>> map_structure(lambda x: x + 1, {"b": 1, "a": [2, (3,)]})
{'b': 2, 'a': [3, (4,)]}

Dicts are walked in the order of their sorted keys, class by class. A dataclass with the
methods ``__tf_flatten__`` (which gives metadata and components) and
``__tf_unflatten__`` is made of its components; its metadata belong to its type.
Everything else, ``None`` and strings among it, is a leaf.

`expand_composites` is accepted everywhere, without effect: no tensor is made of others.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MemberDescriptorType
from typing import Any

from runtime.core.types.classes import defines, remembered

__all__ = [
    "assert_same_structure", "check_composites", "children", "declared", "endless",
    "flatten", "flatten_up_to", "flatten_with_paths", "is_nested", "map_structure",
    "other_attributes", "outline", "pack_sequence_as", "rebuild", "with_attributes",
    "with_parts", "with_parts_beside",
]  # fmt: skip

_SEQUENCE = (list, tuple)


def is_nested(structure: Any) -> bool:
    """Whether this is a structure rather than a leaf.

    >>> is_nested([]), is_nested("text"), is_nested({"a": 1})
    (True, False, True)
    """
    return children(structure) is not None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves in order; a leaf alone is a list of one.

    Raises ValueError if the structure contains itself.
    """
    leaves: list[Any] = []
    try:
        _collect(structure, leaves)
    except RecursionError:
        raise endless() from None
    return leaves


def endless() -> ValueError:
    """The error for a structure that contains itself."""
    return ValueError(
        "AG312: a list, dict or object contains itself, or is nested too deeply, so "
        "that it is no structure of tensors"
    )


def flatten_up_to(shallow: Any, structure: Any) -> list[Any]:
    """The parts of `structure` that stand where `shallow` has its leaves, in order.

    Raises ValueError if `structure` does not begin as `shallow` does.

    >>> flatten_up_to({"x": 0, "y": [0, 0]}, {"x": [1, 2], "y": [3, 4]})
    [[1, 2], 3, 4]
    """
    parts: list[Any] = []
    _collect_up_to(shallow, structure, "", parts)
    return parts


def flatten_with_paths(structure: Any) -> list[tuple[str, Any]]:
    """The leaves with the way to each, as it is written behind the structure's name.

    >>> flatten_with_paths({"w": [1, 2]})
    [("['w'][0]", 1), ("['w'][1]", 2)]
    """
    return list(_walk(structure, ""))


def pack_sequence_as(
    structure: Any, flat_sequence: Iterable[Any], expand_composites: bool = False
) -> Any:
    """`structure` with its leaves replaced by those of `flat_sequence`, in order.

    Raises TypeError if that is no sequence, ValueError if it is too long or too short.

    >>> pack_sequence_as({"b": 0, "a": (0, 0)}, [1, 2, 3])
    {'b': 3, 'a': (1, 2)}
    """
    if not isinstance(flat_sequence, Iterable):
        raise TypeError(f"flat_sequence must be a sequence, not {flat_sequence!r}")
    leaves = list(flat_sequence)
    expected = len(flatten(structure))
    if len(leaves) != expected:
        raise ValueError(
            f"the structure has {expected} leaves, but {len(leaves)} values were "
            f"given: {outline(structure)!r}"
        )
    return _pack(structure, iter(leaves))


def map_structure(
    func: Callable[..., Any],
    *structures: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any:
    """The structure of the results of `func` on the leaves of all `structures`.

    Raises ValueError if the structures differ, TypeError if only their types do, which
    `check_types` can allow, or if `func` cannot be called.

    >>> map_structure(max, {"a": [1, 5]}, {"a": [4, 2]})
    {'a': [4, 5]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, not {func!r}")
    if not structures:
        raise ValueError("map_structure needs at least one structure")
    first = structures[0]
    for other in structures[1:]:
        assert_same_structure(first, other, check_types)
    results = [func(*leaves) for leaves in zip(*map(flatten, structures))]
    return _pack(first, iter(results))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ValueError if two structures differ, TypeError if only their types do.

    Without `check_types` lists and tuples of one length stand for each other.

    >>> assert_same_structure([1, {"a": 2}], [3, {"b": 4}])
    Traceback (most recent call last):
    ValueError: the structures differ at [1]: {'a': 2} against {'b': 4}
    """
    _compare(nest1, nest2, "", check_types)


def check_composites(one: Any, other: Any) -> None:
    """Raise ValueError where objects made of tensors cannot stand for each other.

    Both structures have the same form; such objects say so by ``_same_structure``.
    """
    for (path, left), right in zip(flatten_with_paths(one), flatten(other)):
        alike = getattr(left, "_same_structure", None)
        if alike is not None and not (type(left) is type(right) and alike(right)):
            where = f" at {path}" if path else ""
            raise ValueError(f"the values differ{where}: {left!r} and {right!r}")


class _Label:
    """Prints as a text, without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def outline(structure: Any) -> Any:
    """The structure for messages: its tensors print as their dtypes and shapes."""
    leaves = [_label(leaf) for leaf in flatten(structure)]
    return _pack(structure, iter(leaves))


def _label(leaf: Any) -> Any:
    describe = getattr(getattr(leaf, "spec", leaf), "describe", None)
    return leaf if describe is None or isinstance(leaf, type) else _Label(describe())


# --- the kinds of structures ----------------------------------------------------------


#: Types whose values are leaves, as tracing asks for most values. Other types may be of
#: leaves, too. `runtime.core.tensor` adds its own.
leaf_types: set[type] = {bool, int, float, str, type(None)}


def children(structure: Any) -> list[tuple[str, Any]] | None:
    """The ``(path, value)`` pairs directly in a structure; None for a leaf."""
    kind: Any = type(structure)
    if kind in leaf_types:
        return None
    if kind is list or kind is tuple:
        return [(f"[{index}]", value) for index, value in enumerate(structure)]
    if issubclass(kind, tuple) and defines(kind, "_fields"):
        return [(f".{name}", getattr(structure, name)) for name in kind._fields]
    if issubclass(kind, (list, tuple)):
        return [(f"[{index}]", value) for index, value in enumerate(structure)]
    if issubclass(kind, Mapping):
        return [(f"[{key!r}]", structure[key]) for key in _sorted_keys(structure)]
    fields = field_names(kind)
    if fields is None:
        return None
    if defines(kind, "__tf_flatten__"):
        return _components(structure, fields)
    return [(f".{name}", getattr(structure, name)) for name in fields]


class _Step(str):
    """The way to a component; it is the same only beside the same metadata."""

    metadata: Any

    def __eq__(self, other: object) -> bool:
        same = getattr(other, "metadata", None) == self.metadata
        return same and str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        try:
            return hash((str.__hash__(self), self.metadata))
        except TypeError:
            raise TypeError(
                f"the metadata that __tf_flatten__ gives, {self.metadata!r}, must be "
                "hashable: write tuples for lists"
            ) from None


def _components(structure: Any, fields: list[str]) -> list[tuple[str, Any]]:
    """The components of an object that takes itself apart, by the names of fields."""
    metadata, components = structure.__tf_flatten__()
    steps = structure.part_steps() if defines(type(structure), "part_steps") else None
    found: list[tuple[str, Any]] = []
    for index, part in enumerate(components):
        names = [name for name in fields if getattr(structure, name) is part]
        text = f".{names[0]}" if names else f".__tf_flatten__()[1][{index}]"
        text = steps[index] if steps else text
        step = _Step(text)
        step.metadata = metadata
        found.append((step, part))
    return found


def field_names(kind: type) -> list[str] | None:
    """The fields of a dataclass or an attrs class, None for other types."""
    if defines(kind, "__dataclass_fields__"):
        return [field.name for field in dataclasses.fields(kind) if field.init]
    if not defines(kind, "__attrs_attrs__"):
        return None
    attributes = getattr(kind, "__attrs_attrs__")  # noqa: B009  (attrs adds it)
    return [field.name for field in attributes if getattr(field, "init", True)]


def other_attributes(structure: Any, names: Iterable[str]) -> dict[str, Any]:
    """What an object has besides some fields: what its constructor does not take.

    Those that a ``cached_property`` computes again are left out.
    """
    kind = type(structure)
    found = {n: getattr(structure, n) for n in declared(kind) if hasattr(structure, n)}
    found.update(getattr(structure, "__dict__", {}))
    return {
        name: value
        for name, value in found.items()
        if name not in names
        and not isinstance(getattr(kind, name, None), functools.cached_property)
    }


@remembered
def declared(kind: type) -> list[str]:
    """The attributes that a class says its objects have: fields, and slots."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    names = [field.name for field in (*fields, *getattr(kind, "__attrs_attrs__", ()))]
    slots = (
        name
        for base in kind.__mro__
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType)
    )
    return [*dict.fromkeys((*names, *slots))]


def with_attributes(structure: Any, attributes: dict[str, Any]) -> Any:
    """An object of the same class with other attributes, made by no constructor."""
    made = object.__new__(type(structure))
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        pass
    try:  # those of one class beside each other: a Counter of numbers and texts
        return sorted(mapping, key=lambda key: (type(key).__qualname__, key))
    except TypeError:
        raise TypeError(
            f"the keys of a dict in a structure must be sortable: {list(mapping)!r}"
        ) from None


def rebuild(structure: Any, values: list[Any]) -> Any:
    """A structure of the same kind with other values, in the order of `children`.

    Of dataclasses and attrs classes no constructor is called, which could compute
    fields anew: their other attributes are those of `structure`.
    """
    kind = type(structure)
    if defines(kind, "__like_me__"):
        return structure.__like_me__(rebuild(structure.__plain__(), values))
    if kind is list or kind is tuple:
        return kind(values)
    if issubclass(kind, tuple) and defines(kind, "_fields"):
        return kind(*values)
    if issubclass(kind, (list, tuple)):
        return kind(values)
    if issubclass(kind, Mapping):
        return _rebuild_mapping(structure, values)
    names = field_names(kind)
    assert names is not None
    if defines(kind, "__tf_unflatten__"):
        return kind.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(values))
    others = other_attributes(structure, names)
    return with_attributes(structure, {**dict(zip(names, values)), **others})


def with_parts(structure: Any, change: Callable[[Any], Any]) -> Any:
    """`structure` with each of its direct parts changed; itself if all stay the same.

    >>> with_parts((1, [2]), str)
    ('1', '[2]')
    """
    inside = children(structure)
    if inside is None:
        return structure
    parts = [change(part) for _, part in inside]
    same = all(new is old for new, (_, old) in zip(parts, inside))
    return structure if same else rebuild(structure, parts)


def with_parts_beside(
    template: Any, structure: Any, change: Callable[[Any, Any], Any]
) -> Any:
    """As `with_parts`; `change` is also given the part in the same place of `template`.

    The structure itself if the two have not the same places.
    """
    outer, inside = children(template), children(structure)
    if outer is None or inside is None:
        return structure
    if [step for step, _ in outer] != [step for step, _ in inside]:
        return structure
    beside = iter(outer)
    return with_parts(structure, lambda part: change(next(beside)[1], part))


def plain(structure: Any) -> Any:
    """The structure with the user's own kinds of lists, dicts and objects in it.

    What is a copy of one says by ``__plain__`` which it is.
    """
    if defines(type(structure), "__plain__"):
        structure = structure.__plain__()
    return with_parts(structure, plain)


def _rebuild_mapping(structure: Mapping[Any, Any], values: list[Any]) -> Any:
    """A mapping of the same type, with the keys in the order that they had."""
    found = dict(zip(_sorted_keys(structure), values))
    pairs = [(key, found[key]) for key in structure]
    kind: Any = type(structure)
    if isinstance(structure, Counter):
        return kind(dict(pairs))  # of pairs it would count each
    if isinstance(structure, defaultdict):
        return kind(structure.default_factory, pairs)
    return kind(pairs)


# --- walking --------------------------------------------------------------------------


def _collect(structure: Any, leaves: list[Any]) -> None:
    found = None if type(structure) in leaf_types else children(structure)
    if found is None:
        leaves.append(structure)
        return
    for _, value in found:
        _collect(value, leaves)


def _collect_up_to(shallow: Any, structure: Any, path: str, parts: list[Any]) -> None:
    outer = children(shallow)
    if outer is None:
        parts.append(structure)
        return
    inner = children(structure)
    if inner is None or [step for step, _ in outer] != [step for step, _ in inner]:
        where = f" at {path}" if path else ""
        one, other = outline(shallow), outline(structure)
        raise ValueError(f"the structures differ{where}: {one!r} and {other!r}")
    for (step, x), (_, y) in zip(outer, inner):
        _collect_up_to(x, y, path + step, parts)


def _walk(structure: Any, path: str) -> Iterator[tuple[str, Any]]:
    found = children(structure)
    if found is None:
        yield path, structure
        return
    for step, value in found:
        yield from _walk(value, path + step)


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    found = None if type(structure) in leaf_types else children(structure)
    if found is None:
        return next(leaves)
    return rebuild(structure, [_pack(value, leaves) for _, value in found])


def _compare(left: Any, right: Any, path: str, check_types: bool) -> None:
    a, b = children(left), children(right)
    where = f" at {path}" if path else ""
    if a is None and b is None:
        return
    if a is None or b is None:
        raise ValueError(
            f"the structures differ{where}: {outline(left)!r} against "
            f"{outline(right)!r}, of which only one is nested"
        )
    alike = [step for step, _ in a] == [step for step, _ in b]
    if not check_types and isinstance(left, _SEQUENCE) and isinstance(right, _SEQUENCE):
        alike = len(a) == len(b)
    if not alike:
        one, other = outline(left), outline(right)
        raise ValueError(f"the structures differ{where}: {one!r} against {other!r}")
    if (
        check_types
        and type(left) is not type(right)
        and not _both_mappings(left, right)
    ):
        raise TypeError(
            f"the structures have different types{where}: {type(left).__name__} "
            f"against {type(right).__name__}"
        )
    for (step, x), (_, y) in zip(a, b):
        _compare(x, y, path + step, check_types)


def _both_mappings(left: Any, right: Any) -> bool:
    return isinstance(left, Mapping) and isinstance(right, Mapping)
