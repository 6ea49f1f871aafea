"""The backend for PyTorch's tensors: see `autograph.operators.array_backend`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.scan import scan_op
from torch._higher_order_ops.while_loop import while_loop_op
from torch._prims_common import get_higher_dtype
from torch.fx.experimental import proxy_tensor
from torch.utils import _pytree as pytree

import autograph
from autograph.operators import Perhaps, fact, register
from autograph.operators.array_backend import ArrayBackend, Arrays, Text
from autograph.operators.sequences import Items

from .bodies import Body, Kind, distinct, operands
from .copies import current, no_value, refused, storage_of
from .numbers import DTYPES, Number, Target, array_of, cast, dtype_beside, number


class MaybeTensor(Perhaps):
    """A value that there may not be: to read it without a test is refused."""

    __slots__ = ()

    def is_there(self) -> bool:
        """Whether the tests around this point imply that the value is present."""
        flag = self.present
        is_known = isinstance(flag, Number) and fact(flag.array) is True
        return is_known or super().is_there()


class TorchValues:
    """What PyTorch says of its values, for `Forms`."""

    perhaps: type[Perhaps] = MaybeTensor

    def kind(self, value: Any, carried: bool) -> Any:
        """The shape, dtype and device."""
        if isinstance(value, torch.Tensor):
            if not all(type(size) is int for size in value.shape):
                message = f"{tuple(value.shape)} is the shape of a tensor here"
                raise refused("AG304", message, "pad it, and use a mask")
            return Kind(tuple(value.shape), value.dtype, value.device)
        if isinstance(value, Number):
            return Kind(tuple(value.array.shape), value.array.dtype, None, True)
        is_number = carried and type(value) in DTYPES
        return Kind((), DTYPES[type(value)], None, True) if is_number else None

    def join(self, one: Any, other: Any) -> Any:
        """The dtype that both are promoted to: a number's gives way."""
        one, other = (one, other) if other.is_number else (other, one)
        if one.shape != other.shape:
            return None
        if one.is_number or not other.is_number:
            is_mixed = (one.dtype == torch.bool) != (other.dtype == torch.bool)
            if one.device != other.device or (is_mixed and one.shape):
                return None
            return one._replace(dtype=get_higher_dtype(one.dtype, other.dtype))
        return one._replace(dtype=dtype_beside(one.dtype, other.dtype))

    def flatten(self, value: Any) -> Any:
        """One level of a pytree."""
        items, tree = pytree.tree_flatten(value, is_leaf=lambda x: x is not value)
        return None if len(items) == 1 and items[0] is value else (items, tree)

    def unflatten(self, structure: Any, items: Any) -> Any:
        """The pytree of these items."""
        return pytree.tree_unflatten(list(items), structure)

    def convert(self, value: Any, kind: Any) -> Any:
        """The tensor, with another dtype if it has another."""
        array = cast(array_of(value), kind.dtype)
        if kind.device not in (None, array.device):
            array = array.to(kind.device)
        return Number(array) if kind.is_number else array

    def blank(self, kind: Any) -> Any:
        """Zeros."""
        zeros = torch.zeros(kind.shape, dtype=kind.dtype, device=kind.device)
        return Number(zeros) if kind.is_number else zeros

    def trace(self, function: Any, kinds: Any) -> Any:
        """The function as a graph; one that changes tensors has new results."""
        body = Body(function, list(kinds))
        nodes = body.module.graph.find_nodes(op="placeholder")
        known = dict(zip(nodes[len(kinds) :], body.outer.values()))
        (found,) = body.module.graph.output_node().args
        atoms = [object() if body.changed else known.get(x, x) for x in found]
        return body.call, nodes[: len(kinds)], atoms


class TorchItems(Items):
    """What a loop over tensors goes over."""

    __slots__ = ()


class Staging(ArrayBackend):
    """The backend: see `autograph.operators.array_backend`."""

    tells = staticmethod(lambda: current.get(None) is not None)
    sequence = TorchItems
    is_mutable = True

    def stages(self, value: Any) -> bool:
        """Every tensor, while a program is exported."""
        return current.get(None) is not None

    def choose(self, test: Any, if_true: Any, if_false: Any) -> Arrays:
        """``cond``."""
        sides = [Body(if_true, []), Body(if_false, [])]
        outer, changed = operands(*sides)
        runs = (functools.partial(side.run, outer, changed) for side in sides)
        arrays = iter(
            cond_op(test, *runs, tuple(distinct(*changed.values(), *outer.values())))
        )
        found = []
        for one, other, is_number in zip(*(s.results for s in sides), sides[0].numbers):
            array = next(arrays)
            if one is other and any(one is x for x in sides[0].outer.values()):
                array = one
            for side in () if array is one or is_number else (one, other):
                current.get().join(array, side)
            found.append(Number(array) if is_number else array)
        for tensor, array in zip(changed.values(), arrays):
            tensor.copy_(array)
        return found

    def repeat(self, test: Any, body: Any, arrays: Arrays) -> Arrays:
        """``while_loop``."""
        kinds = [_VALUES.kind(array, True) for array in arrays]
        ask = Body(lambda *inside: [test(list(inside))], kinds)
        step = Body(lambda *inside: body(list(inside)), kinds)
        outer, changed = operands(ask, step)
        if ask.changed:
            raise current.get().refusal()
        last = while_loop_op(
            lambda *inside: ask.run(outer, changed, *inside)[0],
            functools.partial(step.run, outer, changed),
            tuple(array_of(x).detach().clone() for x in (*arrays, *changed.values())),
            tuple(distinct(*outer.values())),
        )
        return _after(step, arrays, [], changed, list(last))

    def scan(self, body: Any, arrays: Arrays, rows: Any) -> Arrays:
        """``scan``."""
        flat, tree = pytree.tree_flatten(rows)
        count = len(arrays)
        kinds = [_VALUES.kind(value, True) for value in (*arrays, *flat)]
        kinds[count:] = [kind._replace(shape=kind.shape[1:]) for kind in kinds[count:]]

        def once(*inside: Any) -> Arrays:
            given = pytree.tree_unflatten(list(inside[count:]), tree)
            result: Arrays = body(list(inside[:count]), given)
            return result

        step = Body(once, kinds)
        outer, changed = operands(step)
        first = [array_of(x).detach().clone() for x in (*arrays, *changed.values())]
        end, scanned = len(first), list(map(array_of, flat))
        if end == 1:
            first.append(torch.zeros(()))  # Inductor fails where there is one alone

        def run(*inside: Any) -> tuple[Any, ...]:
            start = len(first)
            given, others = inside[start:], inside[start + len(flat) :]
            own = (*inside[:count], *given[: len(flat)], *inside[count:end])
            found = step.run(outer, changed, *own, *others)
            return (*found, *(spare.clone() for spare in inside[end:start]))

        given = distinct(*scanned, *outer.values())
        last = scan_op(run, first, given[: len(flat)], tuple(given[len(flat) :]))
        return _after(step, arrays, scanned, changed, list(last))

    def row(self, rows: Any) -> Any:
        """The first of the rows, outside of the program."""
        with proxy_tensor.disable_proxy_modes_tracing():
            return pytree.tree_map(lambda row: row[0], rows)

    def indices(self, length: int) -> Any:
        """`torch.arange`, as numbers."""
        return Number(torch.arange(length))

    def rows_of(self, iterated: Any) -> Items:
        """Along the first axis."""
        length = _VALUES.kind(iterated, True).shape[0]
        return TorchItems(length, lambda index: iterated[index], lambda: iterated)

    def stack(self, items: list[Any]) -> Any:
        """`torch.stack`."""
        kinds = [_VALUES.kind(item, True) for item in items]
        kind = functools.reduce(lambda a, b: a and b and _VALUES.join(a, b), kinds)
        if kind is None:
            raise TypeError("a tensor decides which item this is, and they differ")
        rows = torch.stack([array_of(_VALUES.convert(item, kind)) for item in items])
        return Number(rows) if kind.is_number else _copied(rows, *items)

    def where(self, test: Any, one: Any, other: Any) -> Any:
        """`torch.where`."""
        found = torch.where(array_of(test), *map(array_of, (one, other)))
        is_tensor = any(isinstance(value, torch.Tensor) for value in (one, other))
        return _copied(found, one, other) if is_tensor else Number(found)

    def truth(self, value: Any) -> Any:
        """As Python asks for it: of one element."""
        if not isinstance(value, (torch.Tensor, Number)):
            return torch.full((), bool(value))
        array = array_of(value)
        if array.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value")
        array = array.reshape(()) if array.ndim else array
        return array if array.dtype == torch.bool else array != 0

    def not_(self, value: Any) -> Any:
        """The opposite of the truth, which is a bool of Python's."""
        return Number(super().not_(value))

    def consequences(self, test: Any, holds: bool) -> Iterable[tuple[Any, bool]]:
        """What is known of a number is known of its tensor."""
        known = [(test.array, holds)] if isinstance(test, Number) else []
        return [*known, *super().consequences(test, holds)]

    def check(self, holds: Any, template: str, *values: Any) -> None:
        """Refused: programs that are compiled leave assertions out."""
        fix = "return a flag beside the result, and raise the exception outside"
        message = f"the program cannot raise {template!r}: once compiled, it goes on"
        raise refused("AG218", message, fix)

    def _place(self, items: Any, index: Any, what: str) -> Any:
        return index  # what reads the item fails outside of the list

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The answer for a builtin."""
        return _BUILTINS.get(name) or super().builtin(name)


def _after(
    step: Body, arrays: Arrays, rows: Arrays, changed: Any, last: Arrays
) -> Arrays:
    """The values after a loop: a tensor that the rounds only change stays itself."""
    copies = current.get()
    slots: list[tuple[Any, ...]] = [(tensor,) for tensor in step.outer.values()]
    count = len(arrays)
    for given, first in zip(step.given, (*arrays, *rows)):
        if isinstance(first, torch.Tensor):
            copies.join(given, first)
    pairs = list(zip(step.given, step.results, step.numbers))
    slots += [pair[:2] for pair in pairs if not pair[2]]
    slots += [(row,) for row in step.given[count:]]
    copies.check_rounds(slots, step.changed)
    written = {id(copies.group(x)) for x in step.given if storage_of(x) in step.changed}
    if any(id(copies.group(row)) in written for row in step.given[count:]):
        raise copies.refusal()
    found = []
    for array, first, (given, result, is_number) in zip(last, arrays, pairs):
        is_changed = not is_number and id(copies.group(given)) in written
        if is_number:
            found.append(Number(array))
        elif result is given:
            found.append(first.copy_(array) if is_changed else first)
        else:
            copies.join(array, result)
            copies.join(array, first)
            copies.replacing |= {storage_of(array)} if is_changed else set()
            found.append(array)
    for tensor, array in zip(changed.values(), last[count:]):
        tensor.copy_(array)
    return found


def _copied(copy: Any, *sources: Any) -> Any:
    """A tensor, noted to be a copy of what may be one with it in Python."""
    for source in sources:
        if isinstance(source, torch.Tensor):
            current.get().join(copy, source)
    return copy


def _put(items: list[Any], indices: Any, value: Any) -> None:
    """``items[index] = value``."""
    if len(indices) > 1 or isinstance(indices[0], slice):
        raise no_value("it is an index before the last one, or in a slice")
    rows = _BACKEND.stack([*items, value])
    array, place = array_of(rows), number(indices[0]).array.reshape(1)
    # Not in place: a copy may not change after that.
    array = array[:-1].index_put((place,), array[-1:])
    rows = Number(array) if isinstance(rows, Number) else _copied(array, rows)
    items[:] = [rows[index] for index in range(len(items))]


def _print(*_: Any, **__: Any) -> None:
    raise no_value("a program prints nothing")


_BUILTINS: dict[str, Callable[..., Any]] = {
    "bool": lambda value: number(_BACKEND.truth(value), bool),
    "float": lambda value: number(value, float),
    "int": lambda value: number(value, int),
    "print": _print,
    "setitem": _put,
    "target": Target,
}
_VALUES = TorchValues()
_BACKEND: Staging = Staging(_VALUES)
for _class in (torch.Tensor, Number, MaybeTensor, TorchItems, Text):
    register(_class, _BACKEND)
autograph.add_library("torch")
