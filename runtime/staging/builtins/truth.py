"""``a and b`` and ``a or b``: the truth where a graph cannot choose between the values.

The backend calls `staged_and` and `staged_or` for the operators of converted code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

from runtime.core.errors import StagedStateError
from runtime.core.location.user_code import state_error
from runtime.core.tensor import Tensor
from runtime.core.types.dtypes import DType
from runtime.ops.convert import cast
from runtime.staging.state.branches import stage_cond
from runtime.staging.state.values import can_be_tensor
from runtime.staging.tracing.subgraph import predicate


class StagedTruth:
    """The value of ``a and b`` where a graph knows only its truth.

    The truth is enough for ``if items and n > 3`` and ``while n and x > 0``. Any other
    use raises ``refusal``: a graph cannot choose between the two objects.
    """

    #: The staging protocol of the compiler; `staging.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]
    __slots__ = ("__staged_refusal__", "_number", "_truth")

    def __init__(
        self, truth: Any, refusal: StagedStateError, number: Any = None
    ) -> None:
        self._truth = truth
        self.__staged_refusal__ = refusal
        #: The value, where it is a bool or an int: Python compares bools as 0 and 1.
        self._number = number

    def __staged_truth__(self) -> Any:
        """``bool(value)``."""
        return self._truth

    def _flatten(self) -> list[Any]:
        return [self._truth] if self._number is None else [self._truth, self._number]

    def _unflatten(self, tensors: Sequence[Any]) -> StagedTruth:
        truth, number = (*tensors, None)[:2]
        return StagedTruth(truth, self.__staged_refusal__, number)

    def __bool__(self) -> NoReturn:
        raise state_error(
            "AG301",
            "`and` or `or` of a list whose length a tensor decides was used as a "
            "Python bool by code that is not converted",
            "use it in converted code",
        )


def _refuse(self: StagedTruth, *_: Any) -> NoReturn:
    raise self.__staged_refusal__


def _of_number(name: str) -> Callable[..., Any]:
    """The operator of the number, if the value is a number."""

    def operation(self: StagedTruth, *others: Any) -> Any:
        if self._number is None:
            raise self.__staged_refusal__
        return getattr(self._number, name)(*others)

    return operation


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(StagedTruth, f"__{_name}__", _of_number(f"__{_name}__"))
    setattr(StagedTruth, f"__r{_name}__", _of_number(f"__r{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"):
    setattr(StagedTruth, f"__{_name}__", _of_number(f"__{_name}__"))
for _name in ("matmul", "rmatmul", "getitem", "len", "iter", "str"):
    setattr(StagedTruth, f"__{_name}__", _refuse)


def staged_and(left: Any, right: Callable[[], Any]) -> Any:
    """``left and right()``: the right side is computed only if it is needed."""
    return _chosen(predicate(left), right, lambda: left)


def staged_or(left: Any, right: Callable[[], Any]) -> Any:
    """``left or right()``: the right side is computed only if it is needed."""
    return _chosen(predicate(left), lambda: left, right)


def _chosen(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
    values: list[Any] = []

    def value(compute: Callable[[], Any]) -> Any:
        values.append(compute())
        return values[-1]

    def stage(wanted: Callable[[Any], Any]) -> Any:
        result, _ = stage_cond(
            test,
            lambda _: (wanted(value(if_true)), ()),
            lambda _: (wanted(value(if_false)), ()),
            (),
            (),
        )
        return result

    try:
        return stage(lambda side: side)
    except StagedStateError as error:
        # The graph has at least the truth of lists, deques and other objects.
        if error.code != "AG206" and all(map(can_be_tensor, values)):
            raise
        refusal = error
    types = [_integer_type(side) for side in values]
    integers = {kind for kind in types if kind is not None and not kind.is_bool}
    if None in types or len(integers) != 1:
        return StagedTruth(stage(_truth), refusal)
    (kind,) = integers
    number = stage(lambda side: cast(side, kind))
    return StagedTruth(number != 0, refusal, number)


def _integer_type(value: Any) -> DType | None:
    """The dtype of a tensor of a bool or an int."""
    if not isinstance(value, Tensor) or value.shape.rank != 0:
        return None
    return value.dtype if value.dtype.is_bool or value.dtype.is_integer else None


def _truth(value: Any) -> Any:
    is_staged = can_be_tensor(value) or hasattr(type(value), "__staged_truth__")
    return predicate(value) if is_staged else bool(value)
