"""Eager and symbolic tensors: what they print, and what Python may ask of them."""

from __future__ import annotations

import copy
import inspect
import operator
import pickle
import re
import sys
from typing import Any

import numpy as np
import pytest

from runtime.core import errors
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor, operators
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import constant
from runtime.ops.elementwise import arithmetic
from runtime.ops.variables import Variable

# --- printing -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "representation", "text"),
    [
        (
            1.0,
            "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>",
            "tf.Tensor(1.0, shape=(), dtype=float32)",
        ),
        (
            11,
            "<tf.Tensor: shape=(), dtype=int32, numpy=11>",
            "tf.Tensor(11, shape=(), dtype=int32)",
        ),
        (
            True,
            "<tf.Tensor: shape=(), dtype=bool, numpy=True>",
            "tf.Tensor(True, shape=(), dtype=bool)",
        ),
        (
            1 + 2j,
            "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>",
            "tf.Tensor((1+2j), shape=(), dtype=complex128)",
        ),
        (
            float("nan"),
            "<tf.Tensor: shape=(), dtype=float32, numpy=nan>",
            "tf.Tensor(nan, shape=(), dtype=float32)",
        ),
        (
            "aa",
            "<tf.Tensor: shape=(), dtype=string, numpy=b'aa'>",
            "tf.Tensor(b'aa', shape=(), dtype=string)",
        ),
        (
            ["a", "é"],
            "<tf.Tensor: shape=(2,), dtype=string, "
            "numpy=array([b'a', b'\\xc3\\xa9'], dtype=object)>",
            "tf.Tensor([b'a' b'\\xc3\\xa9'], shape=(2,), dtype=string)",
        ),
        (
            [4, 1],
            "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 1], dtype=int32)>",
            "tf.Tensor([4 1], shape=(2,), dtype=int32)",
        ),
        (
            [3.0, 0.0],
            "<tf.Tensor: shape=(2,), dtype=float32, "
            "numpy=array([3., 0.], dtype=float32)>",
            "tf.Tensor([3. 0.], shape=(2,), dtype=float32)",
        ),
        (
            [[2.0, 2.0], [2.0, 2.0]],
            "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\n"
            "array([[2., 2.],\n       [2., 2.]], dtype=float32)>",
            "tf.Tensor(\n[[2. 2.]\n [2. 2.]], shape=(2, 2), dtype=float32)",
        ),
        (
            [],
            "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>",
            "tf.Tensor([], shape=(0,), dtype=float32)",
        ),
        (
            [0.21746822, 0.21890487, 0.21917202, 0.18925412, 0.14400077],
            "<tf.Tensor: shape=(5,), dtype=float32, numpy=\n"
            "array([0.21746822, 0.21890487, 0.21917202, 0.18925412, 0.14400077],\n"
            "      dtype=float32)>",
            "tf.Tensor([0.21746822 0.21890487 0.21917202 0.18925412 0.14400077], "
            "shape=(5,), dtype=float32)",
        ),
    ],
    ids=repr,
)
def test_prints_as_in_the_guides(value: Any, representation: str, text: str) -> None:
    tensor = constant(value)

    assert repr(tensor) == representation
    assert str(tensor) == text


def test_formats_as_the_value() -> None:
    assert f"{constant([[4.0]])}" == "[[4.]]"
    assert f"{constant(1.25):.1f}" == "1.2"
    assert f"{constant(7):03d}" == "007"
    assert f"{constant('a')}" == "b'a'"


# --- eager ----------------------------------------------------------------------------


def test_facts() -> None:
    tensor = constant([[1, 2, 3]])

    assert tensor.shape == tensor.get_shape() == [1, 3]
    assert (tensor.dtype, tensor.ndim) == ("int32", 2)
    assert tensor.spec == TensorSpec([1, 3], "int32")
    assert tensor.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert isinstance(tensor, Tensor)
    with pytest.raises(AttributeError, match="eager tensor has no name"):
        _ = tensor.name
    assert not hasattr(tensor, "name")
    tensor.set_shape([None, 3])
    with pytest.raises(ValueError, match=r"\(1, 3\), not \(3, 1\)"):
        tensor.set_shape([3, 1])


def test_numpy() -> None:
    assert type(constant(1.5).numpy()) is np.float32
    assert type(constant(1).numpy()) is np.int32
    assert type(constant(True).numpy()) is np.bool_
    assert type(constant("a").numpy()) is bytes
    assert type(constant([1]).numpy()) is np.ndarray


def test_nobody_can_change_a_tensor() -> None:
    source = np.array([1, 2])
    tensor = constant(source)
    source[0] = 99
    tensor.numpy()[0] = 99
    np.array(tensor)[0] = 99
    view = np.asarray(tensor)

    assert view.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 99
    with pytest.raises(TypeError, match="item assignment"):
        tensor[0] = 99  # type: ignore[index]


def test_as_a_python_number() -> None:
    assert bool(constant(0.5)) is True
    assert bool(constant([0, 0])) is True
    assert bool(constant([])) is False
    assert bool(constant("")) is False
    assert int(constant(2.7)) == 2
    assert float(constant(2)) == 2.0
    assert complex(constant(1 + 1j)) == 1 + 1j
    assert operator.index(constant(3)) == 3
    assert [10, 20, 30][constant(1)] == 20
    assert list(range(constant(3))) == [0, 1, 2]
    assert round(constant(1.5)) == 2.0


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: bool(constant([True, False])), ValueError, "2 elements .* ambiguous"),
        (lambda: bool(constant([0])), ValueError, r"\(1,\) is ambiguous"),
        (lambda: int(constant([1])), TypeError, r"Python int; .* shape \(1,\)"),
        (lambda: float(constant([1.0])), TypeError, "Python float"),
        (lambda: operator.index(constant(1.0)), TypeError, r"not float32\[\]"),
        (lambda: operator.index(constant([1])), TypeError, r"not int32\[1\]"),
        (lambda: operator.index(constant(True)), TypeError, r"not bool\[\]"),
        (lambda: len(constant(1)), TypeError, r"has no len\(\)"),
        (lambda: iter(constant(1)), TypeError, "cannot be iterated"),
        (lambda: hash(constant([1])), TypeError, r"AG313: .* tensor\.ref\(\)"),
        (lambda: {constant([1])}, errors.UnhashableTensorError, "AG313"),
    ],
)
def test_refuses(ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ask()


def test_as_a_sequence() -> None:
    tensor = constant([[1, 2], [3, 4]])

    assert len(tensor) == 2
    assert [row.numpy().tolist() for row in tensor] == [[1, 2], [3, 4]]
    assert all(isinstance(x, EagerTensor) for x in constant([1, 2]))
    assert [int(x) for x in constant([1, 2])] == [1, 2]
    assert 4 in tensor
    assert 5 not in tensor
    a, b = constant([5, 6])
    assert (int(a), int(b)) == (5, 6)


def test_references() -> None:
    one, other = constant(1), constant(1)

    assert one.ref() == one.ref()
    assert one.ref() != other.ref()
    assert len({one.ref(), one.ref(), other.ref()}) == 2
    assert one.ref().deref() is one
    assert repr(one.ref()) == f"<Reference wrapping {one!r}>"


def test_arrays_that_must_share_memory() -> None:
    tensor = constant([1.0, 2.0])

    assert np.shares_memory(np.array(tensor, copy=False), tensor._array)
    with pytest.raises(ValueError, match="copy"):
        np.array(tensor, np.float64, copy=False)


def test_copies() -> None:
    tensor = constant(["a", "b"])

    assert copy.copy(tensor) is tensor
    assert copy.deepcopy([tensor])[0] is tensor
    assert pickle.loads(pickle.dumps(tensor)).numpy().tolist() == [b"a", b"b"]


def test_comparison_with_none_and_other_shapes() -> None:
    tensor = constant([1, 2])

    assert (tensor == None) is False  # noqa: E711
    assert (tensor != None) is True  # noqa: E711
    assert bool(tensor == constant([1, 2, 3])) is False
    assert bool(tensor != constant([1, 2, 3])) is True
    assert (tensor == [1, 3]).numpy().tolist() == [True, False]
    with pytest.raises(errors.DTypeMismatchError):
        _ = tensor == constant(1.0)


# --- NumPy ----------------------------------------------------------------------------


def test_numpy_functions_take_tensors() -> None:
    a, b = constant([[1, 2], [3, 4]]), constant([[2, 3], [4, 5]])
    product = np.multiply(a, b)

    assert type(product) is np.ndarray
    assert str(product) == "[[ 2  6]\n [12 20]]"
    assert np.sum(a) == 10
    assert np.asarray(a, dtype="float64").dtype == np.float64
    assert np.stack([constant(1), constant(2)]).tolist() == [1, 2]


def test_numpy_on_the_left_gives_tensors() -> None:
    tensor = constant([1.0, 2.0])

    for value in (np.array([1, 2]), np.array([1.0, 2.0]), np.float32(2), np.float64(2)):
        for result in (value + tensor, value * tensor, tensor - value):
            assert isinstance(result, EagerTensor)
            assert result.dtype == "float32"
    assert isinstance(np.array([1.0, 9.0]) < tensor, EagerTensor)


class Unit:
    """A type of its own that knows what to do with a tensor on the left."""

    def __radd__(self, other: Any) -> str:
        return "radd"

    def __rtruediv__(self, other: Any) -> str:
        return "rtruediv"


def test_other_types_may_answer() -> None:
    assert constant(1) + Unit() == "radd"
    assert constant(1) / Unit() == "rtruediv"
    with building(Graph("f")):
        assert constant(1) + Unit() == "radd"
    with pytest.raises(errors.ConversionError, match="Unit cannot become a tensor"):
        constant(1) * Unit()
    for function in (arithmetic.add, arithmetic.truediv):
        with pytest.raises(errors.ConversionError, match="Unit cannot become a tensor"):
            function(constant(1), Unit())
    with pytest.raises(
        errors.ConversionError, match="300 is out of the range of uint8"
    ):
        constant(1, "uint8") + 300


def test_operators_can_be_bound_by_known_names_only() -> None:
    with pytest.raises(ValueError, match="no operator 'plus'"):
        operators.bind(plus=print)


# --- symbolic -------------------------------------------------------------------------


def symbol(shape: Any = (), dtype: str = "int32", name: str = "a") -> SymbolicTensor:
    return Graph("f").add_input(TensorSpec(shape, dtype), name)


def test_a_scalar_is_a_key_as_its_value_is() -> None:
    counts = {constant(1): "one", 2.5: "more"}

    assert (counts[1], counts[constant(2.5)]) == ("one", "more")
    assert constant(1) in {1, 2}
    assert len({constant(3), 3, constant(3)}) == 1


def test_symbolic_prints_as_in_the_guides() -> None:
    assert str(symbol()) == 'Tensor("a:0", shape=(), dtype=int32)'
    assert str(symbol([None])) == 'Tensor("a:0", shape=(None,), dtype=int32)'
    assert str(symbol(None)) == 'Tensor("a:0", dtype=int32)'
    assert f"{symbol()}" == str(symbol())
    assert repr(symbol([2])) == "<tf.Tensor 'a:0' shape=(2,) dtype=int32>"
    assert repr(symbol(None)) == "<tf.Tensor 'a:0' shape=<unknown> dtype=int32>"


def test_symbolic_facts() -> None:
    x = symbol([3, None], "float32")

    assert (x.shape, x.dtype, x.ndim, x.device) == ([3, None], "float32", 2, "")
    assert len(x) == 3
    with pytest.raises(errors.UnhashableTensorError, match="AG313"):
        {x: 1}
    # Whoever asks, functions of this package as well.
    with pytest.raises(errors.UnhashableTensorError, match="AG313"):
        nest.map_structure(hash, x)
    assert copy.deepcopy(x) is x
    assert (x == None) is False  # noqa: E711


ASKS = [
    ("AG301", lambda x: bool(x), "as a Python bool .*tf.cond"),
    ("AG301", lambda x: not x, "as a Python bool"),
    ("AG301", lambda x: 1 if x else 2, "as a Python bool"),
    ("AG301", lambda x: x and 1, "as a Python bool"),
    ("AG301", lambda x: 1 in x, "searched by in"),
    ("AG302", lambda x: int(x), "as a Python int"),
    ("AG302", lambda x: float(x), "as a Python float"),
    ("AG302", lambda x: complex(x), "as a Python complex"),
    ("AG302", lambda x: range(x), "as a Python index"),
    ("AG302", lambda x: [1, 2][x], "as a Python index"),
    ("AG303", lambda x: list(x), "iterated.*tf.unstack"),
    ("AG303", lambda x: [*x], "iterated"),
    ("AG304", lambda x: len(x), r"len\(\).*tf\.shape\(x\)\[0\]"),
    ("AG305", lambda x: np.asarray(x), "given to NumPy"),
    ("AG305", lambda x: np.multiply(x, 2), "given to NumPy"),
]


@pytest.mark.parametrize(("code", "ask", "message"), ASKS)
def test_symbolic_has_no_value(code: str, ask: Any, message: str) -> None:
    x = symbol([None])
    with (
        building(x.graph),
        pytest.raises(errors.SymbolicTensorError, match=message) as caught,
    ):
        ask(x)

    text = str(caught.value)
    lines, _ = inspect.getsourcelines(sys.modules[__name__])
    line = next(i for i, s in enumerate(lines, 1) if f'"{code}", lambda' in s)
    assert caught.value.code == code
    assert caught.value.location is not None
    assert caught.value.location[0] == __file__
    assert caught.value.location[1] >= line
    assert text.startswith(f"{__file__}:{caught.value.location[1]}: {code}: ")
    assert "the tensor 'a' (int32[?])" in text
    assert "while 'f' is being traced" in text


def test_symbolic_says_where_it_was_made() -> None:
    x = symbol()
    with building(x.graph):
        y = x > 1
        made = r"made at .*test_tensor\.py:"
        with pytest.raises(errors.SymbolicTensorError, match=made):
            bool(y)


@pytest.mark.parametrize("ask", [ask for _, ask, _ in ASKS])
def test_symbolic_is_out_of_scope_when_its_graph_is_done(ask: Any) -> None:
    x = symbol([None])
    for graph in (None, Graph("g"), Graph("f")):
        with building(graph), pytest.raises(errors.InaccessibleTensorError) as caught:
            ask(x)
        reader = {None: "eager code", "g": "'g'", "f": "another trace of 'f'"}
        text = str(caught.value)
        assert f"is out of scope: {reader[graph and graph.name]} cannot" in text
        assert re.match(r".*test_tensor.py:\d+: AG306: the tensor 'a' ", text)
        assert "\n  it is an argument of 'f', called here:\n" in text
        # The use and the origin, with the lines of both.
        assert len(re.findall(r"^ *\| *\^+$", text, re.MULTILINE)) == 2


def test_symbolic_has_no_numpy() -> None:
    x = symbol()

    assert not hasattr(x, "numpy")
    with pytest.raises(AttributeError) as caught:
        x.numpy()
    assert str(caught.value) == "'Tensor' object has no attribute 'numpy'"
    if sys.version_info >= (3, 11):
        assert "return it from the function" in caught.value.__notes__[0]


def test_scalar_len_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"scalar tensor 'a:0' has no len\(\)"):
        len(symbol())


# --- operators ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [constant, Variable], ids=["tensor", "variable"])
def test_every_python_operator(make: Any) -> None:
    """Each operator, with the tensor on either side, against plain Python."""
    binary = "+ - * / // % ** < <= > >= == != & | ^".split()
    for symbol_ in binary:
        code = compile(f"a {symbol_} b", "<operator>", "eval")
        for a, b in ((make(7), 2), (7, make(2)), (make(7), make(2))):
            expected = eval(f"7 {symbol_} 2")
            result = eval(code)
            assert isinstance(result, EagerTensor)
            assert result.numpy() == expected, symbol_
    x = make(7)
    assert (-x, +x, ~x, abs(make(-7))) == (-7, 7, -8, 7)
    assert divmod(x, 2) == (3, 1)
    assert divmod(16, x) == (2, 2)
    assert (make(True) & False, ~make(True)) == (False, False)
    assert (make(True) ^ True, False | make(True)) == (False, True)


def test_memory_is_shared_with_other_libraries() -> None:
    x = constant([[1.0, 2.0], [3.0, 4.0]])
    view = np.from_dlpack(x)
    assert np.shares_memory(view, np.asarray(x))
    assert np.asarray(x).flags.writeable is False
    assert np.array(x).flags.writeable is True
    place = x._array.__array_interface__["data"][0]
    assert x.__array_interface__ == {
        **x._array.__array_interface__,
        "data": (place, True),
    }
    assert not hasattr(constant("a"), "__array_interface__")


def test_a_float_of_python_shares_what_it_shows() -> None:
    half = constant([1, 3]) * 0.5

    assert not hasattr(half, "__array_interface__")
    for array in (np.asarray(half), np.from_dlpack(half)):
        assert (array.dtype, array.tolist()) == (np.float32, [0.5, 1.5])


def test_shared_memory_outlives_the_tensor() -> None:
    x = constant(np.arange(2.0**18)) * 2
    y = constant(np.arange(2.0**18)) * 3
    views = [np.asarray(x), np.from_dlpack(y)]
    del x, y
    others = [constant(np.zeros(2**18)) + 1 for _ in range(4)]

    assert [view[-1] for view in views] == [2.0 * (2**18 - 1), 3.0 * (2**18 - 1)]
    assert len(others) == 4


def test_memory_is_shared_with_jax() -> None:
    jax = pytest.importorskip("jax")
    memory = np.zeros(2**10 + 64, np.uint8)
    start = -memory.ctypes.data % 64  # JAX copies what does not begin with a line
    memory = memory[start : start + 2**10].view(np.float32)
    shared = jax.dlpack.from_dlpack(EagerTensor(memory))

    assert shared.unsafe_buffer_pointer() == memory.ctypes.data
    assert shared.tolist() == [0.0] * 2**8


def test_an_eager_text_has_the_methods_of_one():
    text = constant("caf\u00e9")
    assert text.upper() == "CAF\u00c9"
    assert text.count("f") == 1
    assert len(text) == 4
    assert list(text) == ["c", "a", "f", "\u00e9"]
    assert "af" in text
    assert constant("fa") not in text
    assert text < "cag"
    assert max(text, "b") is text
    with pytest.raises(AttributeError, match="'upper'"):
        constant(1).upper()
    with pytest.raises(AttributeError, match="'upper'"):
        constant(["a"]).upper()
    with pytest.raises(TypeError, match="do not go together"):
        assert text < 1
