"""Which tensors are one in Python, and copies in the program that is exported."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import torch

from autograph.diagnostics import Diagnostic
from autograph.errors import StagingError
from autograph.ownership import user_location

_TITLES = {
    "AG207": "a staged branch changes what a graph cannot carry",
    "AG216": "an integer does not fit",
    "AG218": "an exception that a program cannot raise",
    "AG302": "a tensor was used as a Python number",
    "AG304": "the length of a tensor is not known",
    "AG330": "an operation has no gradient",
}


def refused(code: str, message: str, fix: str, where: Any = None) -> StagingError:
    """The error of a code, at the line of the user's that is running, or another."""
    where = where or user_location()
    return StagingError(Diagnostic(code, _TITLES[code], message, where, fix))


def no_value(what: str) -> StagingError:
    """The error AG302, for what needs the value of a number."""
    fix = "keep it a tensor, with a length that is known: a mask can stand for a length"
    return refused("AG302", f"only the run knows this number: {what}", fix)


def storage_of(value: Any) -> Any:
    """What tensors have in common that share memory; of a node, its value."""
    value = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
    is_tensor = isinstance(value, torch.Tensor)
    return value.untyped_storage()._cdata if is_tensor else None


def changed_by(node: Any) -> Iterator[Any]:
    """The storages that a node changes."""
    schema = getattr(node.target, "_schema", None)
    if schema is not None and schema.is_mutable:
        for place, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                given = node.args[place : place + 1] or [node.kwargs[argument.name]]
                yield storage_of(given[0])


class Copies:
    """Storages that are copies in the program of what is, or may be, one in Python."""

    def __init__(self) -> None:
        self._groups: dict[Any, dict[Any, Any]] = {}
        self._lines: dict[Any, Any] = {}
        #: Those of tensors that a loop replaced once it had changed the first one.
        self.replacing: set[Any] = set()
        #: Whether any is staged: then there are no gradients.
        self.has_statements = False

    def group(self, tensor: Any) -> dict[Any, Any]:
        """The storages that are one with that of a tensor, which it keeps alive."""
        key = storage_of(tensor)
        return self._groups.setdefault(key, {key: tensor})

    def join(self, one: Any, other: Any) -> None:
        """Note that two tensors may be one in Python."""
        joined, others = self.group(one), self.group(other)
        joined.update(others)
        self._lines[storage_of(one)] = user_location()
        self._groups.update(dict.fromkeys(others, joined))

    def check(self, nodes: Iterable[Any], kept: Iterable[Any]) -> None:
        """Refuse changes that another storage of the group should have, too.

        ``kept`` are tensors that are used after the nodes.
        """
        first: dict[Any, int] = {}
        last: dict[Any, float] = {}
        changes = []
        for position, node in enumerate(nodes):
            last.update(dict.fromkeys(map(storage_of, node.all_input_nodes), position))
            changes += [(position, key) for key in changed_by(node)]
            key = storage_of(node)
            if first.setdefault(key, position) == position and key in self.replacing:
                changes.append((position, key))
        last.update(dict.fromkeys(map(storage_of, kept), math.inf))
        for position, key in changes:
            for other in self._groups.get(key, {}).keys() - {key}:
                if first.get(other, math.inf) < position < last.get(other, 0):
                    raise self.refusal(self._lines.get(key) or self._lines.get(other))

    def check_rounds(self, slots: list[tuple[Any, ...]], changed: set[Any]) -> None:
        """Refuse changes in a loop of what two of its variables have."""
        groups = [tuple(id(self.group(tensor)) for tensor in slot) for slot in slots]
        written = {id(self._groups[key]) for key in changed if key in self._groups}
        for one, other in itertools.combinations(groups, 2):
            shared = {*one} & {*other}
            if shared and written & {*shared, one[0], other[0]}:
                raise self.refusal()

    def refusal(self, where: Any = None) -> StagingError:
        """The error AG207."""
        message = (
            "a tensor that has several names or views, as only the run decides, is "
            "changed in place: the program would change one of two copies"
        )
        fix = "write `x = x + 1` in place of `x += 1`, or begin with `x = x.clone()`"
        return refused("AG207", message, fix, where)


#: That of the program that is being exported.
current: ContextVar[Copies] = ContextVar("copies")
