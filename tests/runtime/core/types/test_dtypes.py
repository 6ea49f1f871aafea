"""The element types: identity, equality, what they tell, lookups."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
def test_round_trips(dtype: DType) -> None:
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(dtype.as_numpy_dtype) is dtype
    assert as_dtype(dtype.np_dtype) is dtype
    assert as_dtype(dtype.as_datatype_enum) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert repr(dtype) == f"tf.{dtype.name}"
    assert str(dtype) == f"<dtype: '{dtype.name}'>"
    assert getattr(dtypes, dtype.name) is dtype


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
def test_equals_its_other_names(dtype: DType) -> None:
    assert dtype == dtype.name
    assert dtype == dtype.as_numpy_dtype
    assert dtype == dtype.np_dtype
    assert hash(dtype) == hash(as_dtype(dtype.name))
    assert dtype != None  # noqa: E711
    assert dtype != "nonsense"
    assert [other for other in dtypes.ALL if dtype == other] == [dtype]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (bool, "bool"),
        (int, "int32"),
        (float, "float32"),
        (complex, "complex128"),
        (str, "string"),
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        (np.dtype(">i4"), "int32"),
        (np.dtype("U7"), "string"),
        (np.intc, "int32"),
        (np.longlong, "int64"),
    ],
)
def test_as_dtype(value: Any, expected: str) -> None:
    assert as_dtype(value).name == expected


@pytest.mark.parametrize(
    "value", [None, "int33", 99, object(), np.dtype("M8[s]"), list]
)
def test_as_dtype_refuses(value: Any) -> None:
    with pytest.raises(TypeError, match="not a dtype of tensors"):
        as_dtype(value)


def test_kinds() -> None:
    def names(attribute: str) -> str:
        return " ".join(d.name for d in dtypes.ALL if getattr(d, attribute))

    assert names("is_floating") == "float16 float32 float64"
    assert names("is_integer") == ("int8 int16 int32 int64 uint8 uint16 uint32 uint64")
    assert names("is_unsigned") == "uint8 uint16 uint32 uint64"
    assert names("is_complex") == "complex64 complex128"
    assert names("is_bool") == "bool"
    assert len(names("is_numeric").split()) == len(dtypes.ALL) - 2


def test_limits() -> None:
    assert (dtypes.int8.min, dtypes.int8.max) == (-128, 127)
    assert dtypes.uint64.limits == (0, 2**64 - 1)
    assert dtypes.float16.max == 65504
    assert dtypes.float32.min == np.finfo(np.float32).min
    assert dtypes.bool.limits == (False, True)
    with pytest.raises(TypeError, match=r"tf\.string has no smallest"):
        _ = dtypes.string.max


def test_relations() -> None:
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.int32.real_dtype is dtypes.int32
    assert dtypes.int32.base_dtype is dtypes.int32
    assert dtypes.int32.is_compatible_with("int32")
    assert not dtypes.int32.is_compatible_with("int64")
    assert [d.size for d in (dtypes.bool, dtypes.float64, dtypes.string)] == [1, 8, 0]
