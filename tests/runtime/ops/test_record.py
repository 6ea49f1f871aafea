"""The facts in the records of ops are true: each is compared with the kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import OpError
from runtime.core.graph import Graph, record
from runtime.core.graph.record import Fails, Family, Op
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec

Array = np.ndarray[Any, Any]

OPS = [record.get(name) for name in record.names()]
SHAPES = [(), (3,), (1,), (0,), (2, 3), (2, 1), (2, 0)]

#: Attributes for ops that cannot do without.
ATTRS: dict[str, dict[str, Any]] = {
    "Cast": {"dtype": dtypes.float64},
    "CastExactly": {"dtype": dtypes.float64},
    "LeakyRelu": {"alpha": 0.2},
    "OnesLike": {"dtype": dtypes.float32},
    "Rank": {"out_type": dtypes.int32},
    "Shape": {"out_type": dtypes.int32},
    "Size": {"out_type": dtypes.int64},
    "ZerosLike": {"dtype": dtypes.int8},
}

#: Inputs and attributes for ops that fail only where shapes are unknown or empty.
SHAPED: dict[str, list[tuple[list[Any], dict[str, Any]]]] = {
    "BatchMatMulV2": [
        ([(2, 2, 3), (2, 3, 4)], {"transpose_a": False, "transpose_b": False})
    ],
    "BroadcastTo": [([(3,)], {"shape": (2, 3)})],
    "ConcatV2": [([(2, 3), (1, 3)], {"axis": 0})],
    "ExpandDims": [([(2, 3)], {"axis": -1}), ([()], {"axis": 0})],
    "MatMul": [([(2, 3), (4, 3)], {"transpose_a": False, "transpose_b": True})],
    "Mean": [([(2, 3)], {"axis": None, "keepdims": False})],
    "Ones": [([], {"shape": (2, 3), "dtype": dtypes.float32})],
    "Pack": [([(2, 3), (2, 3)], {"axis": 1})],
    "Range": [
        ([], {"start": 1, "limit": 9, "delta": 2, "dtype": dtypes.int32}),
    ],
    "Reshape": [([(2, 3)], {"shape": (-1, 2)})],
    "Softmax": [([(2, 3)], {"axis": -1})],
    "StridedSlice": [([(2, 3)], {"key": (1,)})],
    "Sum": [([(2, 3)], {"axis": (0,), "keepdims": True})],
    "Tile": [([(2, 3)], {"multiples": (2, 1)})],
    "Transpose": [([(2, 3)], {"perm": (1, 0), "conjugate": False})],
    "Zeros": [([], {"shape": (), "dtype": dtypes.int8})],
}


def named(op: Op) -> str:
    return op.name


def having(fact: str) -> list[Op]:
    return [op for op in OPS if getattr(op, fact)]


def of_numbers(op: Op) -> list[DType]:
    """The dtypes of numbers and bools that the first input may have."""
    return [d for d in op.takes or dtypes.ALL if d.kind in "biufc"]


def values(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Numbers of all sorts, the ends of the dtype, NaN and infinities among them."""
    kind = dtype.as_numpy_dtype
    if dtype.is_bool:
        pool = np.array([True, False])
    elif dtype.is_integer:
        pool = np.array([0, 1, 2, 7, dtype.min, dtype.max], kind)
    else:
        pool = np.array([0.0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 1e-3], kind)
    return np.random.default_rng(seed).choice(pool, shape)


def arity(op: Op) -> int:
    if op.name == "SelectV2":
        return 3
    return 1 if op.fails is Fails.NEVER else 2


def operands(op: Op, dtype: DType) -> Iterator[list[Array]]:
    """Operands of one dtype whose shapes broadcast."""
    for seed, shapes in enumerate(itertools.product(SHAPES, repeat=min(arity(op), 2))):
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            continue
        arrays = [values(dtype, shape, seed + i) for i, shape in enumerate(shapes)]
        if op.name == "SelectV2":
            arrays.insert(0, values(dtypes.bool, shapes[0], seed))
        yield arrays


def computed(op: Op, arrays: list[Array]) -> Any:
    with np.errstate(all="ignore"):
        return op.kernel(*arrays, **ATTRS.get(op.name, {}))


# --- records --------------------------------------------------------------------------


@pytest.mark.parametrize("op", OPS, ids=named)
def test_records_are_complete(op: Op) -> None:
    assert op.family in get_args(Family)
    assert callable(op.kernel)
    assert callable(op.infer)
    if op.stateful:
        assert op.fails is Fails.VALUES
        assert op.bare_kernel is None
        assert not op.is_symmetric
    if op.family in ("text", "python", "check", "state"):
        assert not op.is_symmetric
    if op.raises is not None:
        # What has to raise is not dropped, unless nobody reads what it guards.
        assert op.stateful or op.guards_input
    if op.kernel_in_place is not None:
        assert not op.is_alias
    if op.label:
        assert Graph.node_names[op.name] == op.label
    assert op.guards_input is (op.name in Graph.guards)


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="'Neg' is registered already"):
        record.register(record.get("Neg"))


def test_what_moves_elements_computes_none() -> None:
    moving = {op.name for op in OPS if op.moves}

    assert {op.name for op in OPS if op.family == "movement"} <= moving
    assert {"Maximum", "SelectV2", "ReadVariableOp", "ListGet", "Const"} <= moving
    assert not {"AddV2", "Sum", "Range", "ScatterNd", "Cumsum"} & moving


# --- what cannot fail -----------------------------------------------------------------

ELEMENTWISE = [
    op
    for op in OPS
    if op.fails in (Fails.NEVER, Fails.UNFIT, Fails.DIVISOR) and op.name != "Const"
]


@pytest.mark.parametrize("op", ELEMENTWISE, ids=named)
def test_what_cannot_fail_does_not(op: Op) -> None:
    flags = op.name in ("IsNone", "IsNotNone")
    second = op.fails is Fails.DIVISOR
    for dtype in [dtypes.bool] if flags else of_numbers(op):
        if op.name == "SelectV2":
            dtypes_of_values = list(dtypes.ALL[:-1])
        else:
            dtypes_of_values = [dtype]
        for found in dtypes_of_values:
            for arrays in operands(op, found):
                if second:
                    arrays[1] = np.where(arrays[1] == 0, 1, arrays[1])
                    arrays[1] = arrays[1].astype(found.np_dtype)
                computed(op, arrays)


@pytest.mark.parametrize(
    "op", [op for op in OPS if op.fails is Fails.UNKNOWN], ids=named
)
def test_what_cannot_fail_once_shapes_are_known_does_not(op: Op) -> None:
    for shapes, attrs in SHAPED[op.name]:
        for dtype in of_numbers(op):
            arrays = [values(dtype, shape) for shape in shapes]
            with np.errstate(all="ignore"):
                op.kernel(*arrays, **attrs)


@pytest.mark.parametrize("name", ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"])
def test_divisors_of_zero_do(name: str) -> None:
    op = record.get(name)
    assert op.fails is Fails.DIVISOR
    for dtype in of_numbers(op):
        arrays = [np.ones(2, dtype.np_dtype), np.zeros(2, dtype.np_dtype)]
        if dtype.is_integer:
            with pytest.raises(OpError):
                computed(op, arrays)
        else:
            computed(op, arrays)


def test_negative_exponents_do() -> None:
    op = record.get("Pow")
    assert op.fails is Fails.EXPONENT
    for dtype in of_numbers(op):
        arrays = [np.full(2, 2, dtype.np_dtype), np.zeros(2, dtype.np_dtype)]
        computed(op, arrays)
        if dtype.kind == "u":
            continue
        arrays[1] -= 1
        if dtype.is_integer:
            with pytest.raises(OpError):
                computed(op, arrays)
        else:
            computed(op, arrays)


# --- what is equal --------------------------------------------------------------------


def assert_same(found: Any, expected: Any) -> None:
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("op", having("is_symmetric"), ids=named)
def test_symmetric_ops_give_the_same_swapped(op: Op) -> None:
    for dtype in of_numbers(op):
        if dtype.kind == "c":
            continue  # Which of several NaNs comes out is no part of the meaning.
        for one, other in operands(op, dtype):
            assert_same(computed(op, [one, other]), computed(op, [other, one]))


@pytest.mark.parametrize("op", having("is_alias"), ids=named)
def test_aliases_give_their_input(op: Op) -> None:
    array = np.array([True, False])
    assert op.kernel(array) is array


# --- inference ------------------------------------------------------------------------


@pytest.mark.parametrize("op", ELEMENTWISE, ids=named)
def test_dtypes_that_are_not_taken_are_refused(op: Op) -> None:
    refused = [dtype for dtype in dtypes.ALL if op.takes and dtype not in op.takes]
    attrs = ATTRS.get(op.name, {})
    for dtype in refused:
        with pytest.raises(OpError):
            op.infer(*[TensorSpec([], dtype)] * arity(op), **attrs)


def test_exceptions_are_those_that_programs_catch() -> None:
    """What a record says that an op raises is what running it raises."""

    @tf.function
    def item(i: Any) -> Any:
        values = []
        for k in tf.range(3):
            values.append(k)
        return values[i]

    expected = record.get("ListPlace").raises, record.get("ListGet").raises
    with pytest.raises(IndexError) as caught:
        item(tf.constant(5))
    assert all(type(error) is type(caught.value) for error in expected)
