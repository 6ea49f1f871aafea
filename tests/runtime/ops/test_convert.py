"""Python values and arrays as tensors: dtypes, shapes, refusals, and promotion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.core import errors
from runtime.core.graph import Graph, record
from runtime.core.graph.context import building
from runtime.core.tensor import EagerTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops import convert
from runtime.ops.apply import apply
from runtime.ops.convert import (
    cast,
    constant,
    convert_to_tensor,
    get_static_value,
    is_symbolic_tensor,
    is_tensor,
    promote,
    promote_all,
    register_tensor_conversion_function,
)
from runtime.ops.variables import Variable

# --- values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1, "int32", 1),
        (-(2**31), "int32", -(2**31)),
        (2**31, "int64", 2**31),
        (1.5, "float32", 1.5),
        (1e300, "float32", np.inf),
        (True, "bool", True),
        (1 + 2j, "complex128", 1 + 2j),
        ("é", "string", b"\xc3\xa9"),
        (b"\xff", "string", b"\xff"),
        ([], "float32", []),
        ([[], []], "float32", [[], []]),
        ([1, 2], "int32", [1, 2]),
        ((1, 2), "int32", [1, 2]),
        (range(3), "int32", [0, 1, 2]),
        ([range(2), range(2)], "int32", [[0, 1], [0, 1]]),
        ([1, 2**31], "int64", [1, 2**31]),
        ([1, 2.5], "float32", [1, 2.5]),
        ([1, True], "int32", [1, 1]),
        ([True, False], "bool", [True, False]),
        ([1, 2j], "complex128", [1, 2j]),
        ([["a"], [b"b"]], "string", [[b"a"], [b"b"]]),
        (np.float64(2), "float64", 2),
        (np.int64(2), "int64", 2),
        (np.bool_(True), "bool", True),
        (np.str_("a"), "string", b"a"),
        ([np.float64(2)], "float64", [2]),
        ([np.float16(2)], "float16", [2]),
        ([np.int64(2)], "int32", [2]),
        ([np.float64(2), 1.0], "float32", [2, 1]),
        (np.array([1, 2], np.int8), "int8", [1, 2]),
        (np.array([1.5]), "float64", [1.5]),
        (np.array([1], ">i4"), "int32", [1]),
        (np.array([1], np.longlong), "int64", [1]),
        (np.array(["a", "bc"]), "string", [b"a", b"bc"]),
        (np.array(["a", b"b"], object), "string", [b"a", b"b"]),
        ([np.array([1, 2]), np.array([3, 4])], "int64", [[1, 2], [3, 4]]),
        (memoryview(b"\x01\x02"), "uint8", [1, 2]),
        (TensorShape([2, 3]), "int32", [2, 3]),
    ],
    ids=lambda value: repr(value).partition(" at 0x")[0],
)
def test_values(value: Any, dtype: str, expected: Any) -> None:
    if isinstance(value, memoryview):
        value = np.asarray(value)
    tensor = convert_to_tensor(value)

    assert isinstance(tensor, EagerTensor)
    assert tensor.dtype == dtype
    assert tensor._array.dtype == tensor.dtype.np_dtype
    assert tensor._array.dtype.isnative
    assert tensor._array.tolist() == expected
    assert type(tensor._array) is np.ndarray


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1, "float64", 1.0),
        (1, "complex64", 1 + 0j),
        (1.5, "float16", 1.5),
        (True, "int32", 1),
        (True, "float32", 1.0),
        ([1, 2.5], "float64", [1.0, 2.5]),
        (255, "uint8", 255),
        ("a", "string", b"a"),
        (np.array([1.5]), "int32", [1]),
        ([1, 2**64 - 1], "uint64", [1, 2**64 - 1]),
        ([-1, 2**64], "float64", [-1.0, 2.0**64]),
        (np.array([1, 2]), "float32", [1.0, 2.0]),
    ],
    ids=repr,
)
def test_asked_dtypes(value: Any, dtype: str, expected: Any) -> None:
    tensor = constant(value, dtype)

    assert tensor.dtype == dtype
    assert tensor.numpy().tolist() == expected if dtype != "string" else True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant(None), "None of type NoneType cannot become a tensor"),
        (lambda: constant(object()), "of type object cannot become a tensor"),
        (lambda: constant({1: 2}), "of type dict cannot become a tensor"),
        (lambda: constant([1, None]), r"\[1, None\] of type list cannot"),
        (lambda: constant([1, "a"]), "cannot become a tensor"),
        (lambda: constant([[1, 2], [3]]), r"\[\[1, 2\], \[3\]\] .* rows differ"),
        (lambda: constant([1, [2]]), "rows differ in length"),
        (lambda: constant([["a"], ["b", "c"]]), "rows differ in length"),
        (lambda: constant(1.5, "int32"), "1.5 cannot become a tensor of int32"),
        (lambda: constant(1, "bool"), "1 cannot become a tensor of bool"),
        (lambda: constant(1j, "float32"), "1j cannot become a tensor of float32"),
        (lambda: constant("a", "int32"), "'a' cannot become a tensor of int32"),
        (lambda: constant(1, "string"), "1 cannot become a tensor of string"),
        (
            lambda: constant(np.array([1]), "string"),
            r"\[1\] cannot become a tensor of string",
        ),
        (
            lambda: constant(np.array([1j]), "float32"),
            "cannot become a tensor of float32",
        ),
        (lambda: constant(300, "uint8"), "300 is out of the range of uint8, 0 to 255"),
        (lambda: constant([-1], "uint8"), r"\[-1\] is out of the range of uint8"),
        (lambda: constant(2**31, "int32"), "out of the range of int32"),
        (lambda: constant(2**63), "out of the range of int64"),
        (lambda: constant([2**63]), "no dtype can hold"),
        (lambda: constant([1, 2**63]), "no dtype can hold"),
        (lambda: constant([-1, 2**63], "uint64"), "is out of the range of uint64"),
        (lambda: constant([2**64]), "no dtype can hold"),
        (lambda: constant(np.array(["2020"], "M8[Y]")), "cannot become a tensor"),
        (lambda: constant(np.array([None])), "of type NoneType cannot become"),
        (lambda: constant(TensorShape([None])), "is not fully known"),
        (lambda: constant([1, 2, 3], shape=[2, 2]), r"3 values .* \(2, 2\) of 4"),
        (lambda: convert_to_tensor(constant(1), "float32"), "has the dtype int32"),
        (lambda: constant("x" * 100, "int32"), r"'xxx[x]+\.\.\. cannot"),
    ],
)
def test_refusals(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(errors.ConversionError, match=message) as caught:
        make()
    assert "AG312" in str(caught.value)


def test_shape_argument() -> None:
    assert constant(3, shape=[2, 2]).numpy().tolist() == [[3, 3], [3, 3]]
    assert constant([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    assert constant("a", shape=[2]).numpy().tolist() == [b"a", b"a"]
    with building(Graph("f")):
        assert constant(3, shape=[2, 2]).shape == [2, 2]


def test_hints_are_taken_where_they_fit() -> None:
    def hinted(value: Any, hint: str) -> Any:
        return convert_to_tensor(value, dtype_hint=hint).dtype

    assert hinted(1, "float64") == "float64"
    assert hinted(1.5, "int32") == "float32"
    assert hinted([True], "float32") == "float32"
    assert hinted(constant(1), "float32") == "int32"
    assert hinted(Variable(1), "float32") == "int32"


def test_lists_of_tensors_are_stacked() -> None:
    mixed = convert_to_tensor([constant(1.0), 2, Variable(3.0)])

    assert mixed.dtype == "float32"
    assert mixed.numpy().tolist() == [1, 2, 3]
    nested = convert_to_tensor([[constant(1), 2], [3, 4]])
    assert nested.numpy().tolist() == [[1, 2], [3, 4]]
    assert convert_to_tensor([constant(1), 2.5]).dtype == "float32"
    with building(Graph("f")) as graph:
        assert graph is not None
        x = graph.add_input(TensorSpec([], "float32"))
        assert convert_to_tensor([x, 1]).shape == [2]


def test_questions() -> None:
    with building(Graph("f")) as graph:
        assert graph is not None
        x = graph.add_input(TensorSpec([], "int32"))
        c = constant([1, 2])
        assert is_symbolic_tensor(x)
        assert get_static_value(x) is None
        assert get_static_value(c).tolist() == [1, 2]
    assert not is_symbolic_tensor(constant(1))
    assert [is_tensor(v) for v in (x, constant(1), Variable(1), 1, None)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert get_static_value(constant(3)) == 3
    assert get_static_value(3) is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4))
def test_ints_are_int32_where_they_fit(values: list[int]) -> None:
    tensor = convert_to_tensor([0, *values])
    small = all(-(2**31) <= v < 2**31 for v in values)

    assert tensor.dtype == ("int32" if small else "int64")
    assert tensor.numpy().tolist() == [0, *values]


nested = st.recursive(
    st.lists(st.integers(0, 9), max_size=3),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float64", "string"])
def test_empty_lists_become_any_dtype(dtype: str) -> None:
    for value, shape in (([], (0,)), ([[], []], (2, 0))):
        tensor = convert_to_tensor(value, dtype)
        assert (tensor.dtype.name, tensor.shape) == (dtype, shape)


@given(nested)
def test_nested_lists_agree_with_numpy(value: Any) -> None:
    try:
        expected = np.array(value)
    except ValueError:
        expected = None
    if expected is not None:
        assert convert_to_tensor(value).numpy().tolist() == expected.tolist()
    else:
        with pytest.raises(errors.ConversionError, match="rows differ"):
            convert_to_tensor(value)


class Celsius:
    """A type of another library, which knows nothing of tensors."""

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees


def test_types_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "_conversions", [])
    with pytest.raises(errors.ConversionError):
        convert_to_tensor(Celsius(1))
    register_tensor_conversion_function(
        Celsius, lambda value, dtype: constant(value.degrees, dtype)
    )

    assert convert_to_tensor(Celsius(1.5)).numpy() == 1.5
    assert convert_to_tensor(Celsius(1), "float64").dtype == "float64"
    assert (constant(2.0) * Celsius(1.5)).numpy() == 3.0
    register_tensor_conversion_function(Celsius, lambda v, _: constant(7.0), 50)
    assert convert_to_tensor(Celsius(1.5)).numpy() == 7.0


# --- casts ----------------------------------------------------------------------------


@pytest.mark.parametrize("source", dtypes.ALL, ids=lambda d: d.name)
@pytest.mark.parametrize("target", dtypes.ALL, ids=lambda d: d.name)
def test_casts_agree_with_numpy(source: DType, target: DType) -> None:
    if dtypes.string in (source, target):
        if source is not target:
            with pytest.raises(errors.UnimplementedError, match=r"\[Op:Cast\]"):
                cast(constant("a") if source is dtypes.string else 1, target)
        return
    values = np.array([0, 1, 3, 120], source.np_dtype)
    tensor = cast(values, target)
    real = values.real if source.is_complex and target.kind not in "cb" else values

    inferred = record.get("Cast").infer(TensorSpec([None], source), dtype=target)

    assert inferred == TensorSpec([None], target)
    assert (tensor.dtype, tensor.shape) == (target, [4])
    assert tensor.numpy().tolist() == real.astype(target.np_dtype).tolist()


def test_casting_to_the_same_dtype_is_free() -> None:
    tensor = constant([1])
    weak = Graph("f").add_input(TensorSpec([], "int64", weak=True))

    assert cast(tensor, "int32") is tensor
    with building(weak.graph):
        assert not cast(weak, "int64").spec.weak


def test_casting_out_of_range_is_silent() -> None:
    assert cast(300, "uint8").numpy() == 44
    assert cast(-2.7, "int32").numpy() == -2
    assert cast([1, 2], "bool").numpy().tolist() == [True, True]
    cast([np.nan, np.inf, 1e30], "int32")


# --- promotion ------------------------------------------------------------------------

#: What a tensor of a dtype becomes beside a Python value; None is an error.
WEAK_TABLE: dict[str, dict[type, str | None]] = {
    dtype: dict(zip((bool, int, float, complex, str), row))
    for dtype, row in {
        "bool": ("bool", None, None, None, None),
        "uint8": ("uint8", "uint8", "float32", "complex128", None),
        "int32": ("int32", "int32", "float32", "complex128", None),
        "int64": ("int64", "int64", "float32", "complex128", None),
        "float16": ("float16", "float16", "float16", "complex64", None),
        "float32": ("float32", "float32", "float32", "complex64", None),
        "float64": ("float64", "float64", "float64", "complex128", None),
        "complex64": ("complex64", "complex64", "complex64", "complex64", None),
        "string": (None, None, None, None, "string"),
    }.items()
}


def expected_dtype(dtype: str, value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0]
    return WEAK_TABLE[dtype][float if isinstance(value, float) else type(value)]


@pytest.mark.parametrize("dtype", WEAK_TABLE)
@pytest.mark.parametrize(
    "value", [True, 1, 1.5, 1j, "a", np.float64(2), [1, 1]], ids=repr
)
def test_python_numbers_are_weak(dtype: str, value: Any) -> None:
    tensor = constant("a") if dtype == "string" else cast(constant(1), dtype)
    expected = expected_dtype(dtype, value)
    for pair in ((tensor, value), (value, tensor)):
        if expected is None:
            with pytest.raises(errors.DTypeMismatchError, match=f"{dtype} and, of a"):
                promote(*pair, op="AddV2")
        else:
            x, y = promote(*pair, op="AddV2")
            assert (x.dtype, y.dtype) == (expected, expected)


@pytest.mark.parametrize("dtype", WEAK_TABLE)
@pytest.mark.parametrize("value", [1, 1.5, 1j], ids=repr)
def test_weak_tensors_do_as_their_numbers(dtype: str, value: Any) -> None:
    """A weak symbolic tensor meets others as the number does that it stands for."""
    own = dtypes.wide(convert_to_tensor(value).dtype)
    graph = Graph("f")
    weak = graph.add_input(TensorSpec([], own, weak=True))
    strong = graph.add_input(TensorSpec([3], dtype))
    expected = expected_dtype(dtype, value)
    becomes_weak = strong.dtype.is_integer and type(value) is not int
    if becomes_weak:
        expected = own.name  # a float with an int is a float of Python's
    with building(graph):
        for pair in ((weak, strong), (strong, weak)):
            if expected is None:
                with pytest.raises(errors.DTypeMismatchError):
                    promote(*pair, op="AddV2")
            else:
                tensors = promote(*pair, op="AddV2")
                assert [t.dtype for t in tensors] == [expected, expected]
                assert [t.spec.weak for t in tensors] == [becomes_weak] * 2


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (1, 2, "int32"),
        (1, 2.5, "float32"),
        (2.5, 1, "float32"),
        (2.0, 1j, "complex128"),
    ],
)
def test_two_numbers_meet_in_the_wider(x: Any, y: Any, expected: str) -> None:
    assert [t.dtype for t in promote(x, y, "AddV2")] == [expected, expected]
    graph = Graph("f")
    with building(graph):
        # Without a tensor there is nothing to give way to later.
        assert not any(t.spec.weak for t in promote(x, y, "AddV2"))
        a = graph.add_input(TensorSpec([], convert_dtype(x), weak=True))
        b = graph.add_input(TensorSpec([], convert_dtype(y), weak=True))
        tensors = promote(a, b, "AddV2")
        wide = dtypes.wide(dtypes.as_dtype(expected))
        assert [t.dtype for t in tensors] == [wide, wide]
        assert all(t.spec.weak for t in tensors)


def convert_dtype(value: Any) -> DType:
    return dtypes.wide(convert_to_tensor(value).dtype)


def test_results_of_weak_operands_are_weak() -> None:
    graph = Graph("f")
    weak = graph.add_input(TensorSpec([], "int64", weak=True))
    strong = graph.add_input(TensorSpec([], "int64"))
    with building(graph):
        assert (weak + 1).spec == TensorSpec([], "int64", weak=True)
        assert (weak + 1.5).spec == TensorSpec([], "float64", weak=True)
        assert (weak / 2).spec == TensorSpec([], "float64", weak=True)
        assert (weak * weak - 1).spec.weak
        assert (weak + strong).spec == TensorSpec([], "int64")
        assert (strong * 0.5).spec == TensorSpec([], "float64", weak=True)
        assert (strong**0.5).spec == TensorSpec([], "float64", weak=True)
        assert (strong * 0.5 * strong).spec == TensorSpec([], "float64", weak=True)
        assert (weak + constant(1)).spec == TensorSpec([], "int32")
        assert not (weak < 3).spec.weak
        assert not cast(weak, "int32").spec.weak
        assert (weak + np.array([1], "int64")).spec == TensorSpec([1], "int64")


@pytest.mark.parametrize("a", [d for d in dtypes.ALL], ids=lambda d: d.name)
@pytest.mark.parametrize("b", [dtypes.int32, dtypes.float32], ids=lambda d: d.name)
def test_two_tensors_must_agree(a: DType, b: DType) -> None:
    x = constant("a") if a is dtypes.string else cast(1, a)
    y = cast(1, b)
    if a is b:
        assert promote(x, y, "AddV2") == (x, y)
        return
    message = f"cannot compute AddV2: .* dtypes, {a.name} and {b.name}; cast one"
    with pytest.raises(errors.DTypeMismatchError, match=message):
        promote(x, y, "AddV2")
    with pytest.raises(TypeError):
        promote(x, y, "AddV2")
    with pytest.raises(errors.InvalidArgumentError):
        promote(x, y, "AddV2")


def test_numpy_arrays_give_way_to_tensors() -> None:
    tensor = constant([1.0, 2.0])
    for array_ in (np.array([1, 2]), np.array([1.0, 2.0]), np.array([True, False])):
        assert [t.dtype for t in promote(tensor, array_, "Mul")] == ["float32"] * 2
    with pytest.raises(errors.DTypeMismatchError, match="int32 and float64"):
        promote(constant(1), np.array([1.5]), "Mul")
    with pytest.raises(errors.ConversionError, match="out of the range of int32"):
        promote(constant(1), np.array([2**40]), "Mul")


def test_many_operands() -> None:
    tensors = promote_all([1, constant(2.0), 3, Variable(4.0)], "Pack")

    assert [t.dtype for t in tensors] == ["float32"] * 4
    assert [t.dtype for t in promote_all([1, 2], "Pack", dtypes.float64)] == [
        "float64"
    ] * 2


def test_const_op() -> None:
    assert apply("Const", value=np.array(3, np.int32)).numpy() == 3
