"""Numbers of Python's that only the run of an exported program knows."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch._prims_common import get_higher_dtype
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from .copies import current, no_value, refused

DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}
_CLASSES = {dtype: cls for cls, dtype in DTYPES.items()}


class Number:
    """A number of Python's, or a row of such, that only the run knows."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array

    def __autograph_type__(self) -> type:
        return _CLASSES[self.array.dtype]

    @classmethod
    def __torch_function__(cls, call: Any, _: Any, args: Any, kwargs: Any) -> Any:
        """A function of PyTorch's: a tensor among its arguments gives the dtype."""
        flat, tree = pytree.tree_flatten((args, kwargs or {}))
        args, kwargs = pytree.tree_unflatten(alike(flat), tree)
        try:
            return call(*args, **kwargs)
        except TypeError as error:
            raise no_value(str(error)) from None

    def __getitem__(self, index: Any) -> Number:
        return Number(self.array[index])

    def __len__(self) -> int:
        return len(self.array)

    def __divmod__(self, other: Any) -> Any:
        return _divmod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _divmod(other, self)

    def _asked(self, *_: Any) -> Any:
        raise no_value("it is asked for, as a length or by a function of Python's")

    __bool__ = __int__ = __float__ = __index__ = __str__ = __format__ = _asked
    __repr__ = __round__ = __trunc__ = __floor__ = __ceil__ = __hash__ = _asked


def dtype_beside(dtype: Any, number: Any) -> Any:
    """The dtype of an operation on a tensor of one and a number with another dtype."""
    given, other = (
        2 if x.is_floating_point or x.is_complex else int(x != torch.bool)
        for x in (dtype, number)
    )
    if other <= given:
        return dtype
    return torch.int64 if other == 1 else torch.get_default_dtype()


def array_of(value: Any) -> Any:
    """A value as a tensor: a number has its own dtype."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, Number):
        return value.array
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise refused("AG216", f"{value} does not fit 64 bits", "begin with a float")
    return torch.full((), value, dtype=DTYPES[type(value)])


def cast(array: Any, dtype: Any) -> Any:
    """A tensor of a dtype: itself, where PyTorch would note that it has a new name."""
    return array if array.dtype == dtype else array.to(dtype)


def alike(values: Iterable[Any]) -> list[Any]:
    """The values, with numbers as tensors of the dtype that the first tensor gives."""
    values = list(values)
    dtype = next((x.dtype for x in values if isinstance(x, torch.Tensor)), None)

    def alike(value: Any) -> Any:
        if not isinstance(value, Number):
            return value
        array = value.array
        return array if dtype is None else cast(array, dtype_beside(dtype, array.dtype))

    return list(map(alike, values))


def _operate(name: str, *values: Any) -> Any:
    """An operator of Python's on numbers, or numbers and a tensor."""
    function = getattr(operator, f"__{name}__")
    if any(isinstance(x, torch.Tensor) for x in values):
        return function(*alike(values))
    if not all(type(x) in DTYPES or isinstance(x, Number) for x in values):
        return NotImplemented
    arrays = list(map(array_of, values))
    if not any(x.is_floating_point() for x in arrays):
        is_negative = type(values[-1]) is int and values[-1] < 0
        if name == "truediv" or (name == "pow" and is_negative):
            arrays = [cast(x, torch.float64) for x in arrays]
        elif name not in (*_COMPARING, "and", "or", "xor"):
            arrays = [cast(x, torch.int64) for x in arrays]
    return Number(function(*arrays))


_COMPARING = ("lt", "le", "gt", "ge", "eq", "ne")
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")


def _define(name: str) -> None:
    setattr(Number, f"__{name}__", lambda *values: _operate(name, *values))
    if name in _BINARY:
        reflected = lambda one, other: _operate(name, other, one)  # noqa: E731
        setattr(Number, f"__r{name}__", reflected)


for _name in (*_COMPARING, *_BINARY, "neg", "pos", "abs", "invert"):
    _define(_name)


def _divmod(one: Any, other: Any) -> Any:
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return NotImplemented  # as of numbers and tensors in Python
    return one // other, one % other


def number(tensor: Any, cls: type | None = None) -> Any:
    """A copy of a tensor of one item, of Python's class for it or of another."""
    array = array_of(tensor).reshape(()).clone()
    if cls is None:
        is_bool = array.dtype == torch.bool
        cls = float if array.is_floating_point() else bool if is_bool else int
    return Number(cast(array, DTYPES[cls]))


# --- what functions of PyTorch's do ---------------------------------------------------


def _is_place(index: Any) -> bool:
    is_scalar = isinstance(index, torch.Tensor) and not index.ndim
    return isinstance(index, Number) or (is_scalar and index.dtype != torch.bool)


def places_of(array: Any, index: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """A view of an array with the axes in front that numbers index, and these."""
    index = index if type(index) is tuple else (index,)
    if not any(map(_is_place, index)):
        return None
    if not all(_is_place(x) or type(x) in (int, slice) for x in index):
        raise no_value("it indexes beside `...`, None or a tensor with axes")
    view = array[tuple(slice(None) if _is_place(x) else x for x in index)]
    left = [x for x in index if type(x) is not int]
    axes = [axis for axis, x in enumerate(left) if _is_place(x)]
    rows = tuple(array_of(left[axis]).reshape(1) for axis in axes)
    return view.movedim(axes, list(range(len(axes)))), rows


class PythonNumbers(TorchFunctionMode):  # type: ignore[misc]
    """Lets functions of PyTorch's take numbers of the program, and give them."""

    def __torch_function__(
        self, call: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name, kwargs = getattr(call, "__name__", ""), kwargs or {}
        if name == "item":
            return number(args[0])
        if name.startswith("set_.") or call == torch.Tensor.data.__set__:
            what, fix = "PyTorch loses the new data of a tensor", "`x.copy_(y)` does it"
            raise refused("AG207", what, fix)
        if name in ("__getitem__", "__setitem__"):
            found = places_of(*args[:2])
            if found is not None and name == "__getitem__":
                item = found[0][found[1]][0]
                current.get().join(item, args[0])
                return item
            if found is not None:
                value = cast(array_of(args[2]), args[0].dtype)
                shape = found[0].shape[len(found[1]) :]
                return found[0].index_put_(found[1], value.expand(shape)[None])
        if name == "tensor" and _is_small(args[0]):
            made = _made(args[0])
            return made.to(**kwargs) if kwargs else made
        try:
            return call(*args, **kwargs)
        except GuardOnDataDependentSymNode as error:
            raise no_value("code that is not converted asks for it") from error


def _is_small(value: Any) -> bool:
    """Whether there are numbers of the program, or few: constants cannot be saved."""
    leaves = pytree.tree_leaves(value)
    kinds = (Number, torch.Tensor)
    is_known = all(type(x) in DTYPES or isinstance(x, kinds) for x in leaves)
    return is_known and (len(leaves) < 20 or any(isinstance(x, kinds) for x in leaves))


def _made(value: Any) -> Any:
    """What `torch.tensor` makes of numbers."""
    if isinstance(value, (list, tuple)):
        rows = list(map(_made, value))
        dtype = functools.reduce(get_higher_dtype, (row.dtype for row in rows))
        return torch.stack([cast(row, dtype) for row in rows])
    array = array_of(value)
    is_number = not isinstance(value, torch.Tensor)
    dtype = (
        torch.get_default_dtype()
        if is_number and array.dtype.is_floating_point
        else array.dtype
    )
    return array.clone() if array.dtype == dtype else array.to(dtype)


class Target:
    """A tensor in ``tensor[index] += value``: what is read is no view of it."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> Any:
        found = places_of(self._tensor, index)
        return self._tensor[index] if found is None else found[0][found[1]][0]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._tensor[index] = value
