"""Attributes that may be tensors: in nodes, inference, kernels and source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runtime as tf
from runtime.core.graph import Graph, record
from runtime.core.graph.context import building
from runtime.core.graph.record import get
from runtime.core.types.dtypes import of_array
from runtime.core.types.specs import TensorSpec
from runtime.engines.numpy_source.executable import compile_graph
from runtime.engines.numpy_source.program import kernel_on_values
from runtime.engines.numpy_source.rules import RULES, Rule, code
from runtime.ops import static
from runtime.ops.apply import infer_specs
from runtime.ops.operands import Operand, Slice, define, run
from runtime.ops.static import static_value

SCALAR = TensorSpec([], tf.int32)


def node_of(function: Any, *specs: TensorSpec) -> Any:
    graph = Graph("g")
    with building(graph):
        result = function(*map(graph.add_input, specs))
    return (result[0] if isinstance(result, (list, tuple)) else result).node


# --- nodes ----------------------------------------------------------------------------


def test_what_is_known_stays_in_the_attribute() -> None:
    node = node_of(lambda x, n: tf.reshape(x, [n, 3, n]), TensorSpec([None]), SCALAR)

    assert node.attrs == {"shape": (Operand(1), 3, Operand(1)), "operands": 1}
    assert [tensor.name for tensor in node.inputs] == ["x:0", "x_1:0"]
    assert repr(node.attrs["shape"]) == "(input1, 3, input1)"


def test_constants_become_plain_values() -> None:
    def function(x: Any) -> Any:
        return tf.reshape(x, [tf.constant(2), tf.constant(1) + 1])

    node = node_of(function, TensorSpec([4]))

    assert node.attrs == {"shape": (2, 2)}
    assert len(node.inputs) == 1


def test_eager_tensors_become_plain_values() -> None:
    shape = tf.constant([2, 2])

    node = node_of(lambda x: tf.reshape(x, shape), TensorSpec([4]))

    assert node.attrs == {"shape": (2, 2)}


def test_parts_of_a_slice() -> None:
    node = node_of(lambda x, i: x[i : i + 2, ::-1], TensorSpec([4, 4]), SCALAR)

    assert node.attrs["key"] == (
        Slice(Operand(1), Operand(2), None),
        Slice(None, None, -1),
    )
    assert repr(node.attrs["key"]) == "(input1:input2, ::-1)"


def test_attributes_are_hashable() -> None:
    node = node_of(lambda x, i: x[i:, None], TensorSpec([4, 4]), SCALAR)

    assert hash(node.attrs["key"]) == hash((Slice(Operand(1), None, None), None))


def test_results_for_python_numbers_are_strong() -> None:
    """As in eager code, where ``tf.stack([1, 2])`` is an int32 tensor."""
    graph = Graph("g")
    with building(graph):
        i = graph.add_input(TensorSpec([], tf.int64, weak=True))

        assert not tf.stack([i, i]).spec.weak
        assert not tf.reduce_sum(i).spec.weak
        assert not tf.range(i).spec.weak
        assert not tf.identity(i).spec.weak
        for made in (tf.stack([i, i]), tf.reduce_sum(i), tf.range(i), tf.identity(i)):
            assert made.dtype is tf.int32
        assert tf.stack([i, tf.constant(1.5)]).dtype is tf.float32


# --- static values --------------------------------------------------------------------


def test_values_are_followed() -> None:
    def value_of(function: Any) -> Any:
        graph = Graph("g")
        with building(graph):
            x = graph.add_input(TensorSpec([None, 6]))
            n = graph.add_input(SCALAR)
            return static_value(function(x, n))

    assert value_of(lambda x, n: tf.shape(x)) == ((None, 6), False)
    assert value_of(lambda x, n: tf.shape(x)[1]) == (6, True)
    assert value_of(lambda x, n: tf.shape(x)[1:]) == ((6,), True)
    assert value_of(lambda x, n: tf.shape(x)[-1] // 4 * 2) == (2, True)
    assert value_of(lambda x, n: tf.stack([n, 3])) == ((None, 3), False)
    assert value_of(lambda x, n: tf.concat([[2], tf.shape(x)[1:]], 0)) == ((2, 6), True)
    assert value_of(lambda x, n: tf.constant([[1, 2]])) == (((1, 2),), True)
    assert value_of(lambda x, n: n) == (None, False)
    assert value_of(lambda x, n: tf.random.uniform([], 0, 2, tf.int32)) == (None, False)
    assert value_of(lambda x, n: tf.range(1000)) == (None, False)
    assert value_of(lambda x, n: tf.gather([1, 2], tf.constant(5))) == (None, False)


def test_values_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = []
    real = static._followed
    monkeypatch.setattr(
        static, "_followed", lambda *args: (followed.append(args[0]), real(*args))[1]
    )
    graph = Graph("g")
    with building(graph):
        total = tf.shape(graph.add_input(TensorSpec([6])))[0]
        for _ in range(8):
            total = total + total

        assert static_value(total) == (6 * 2**8, True)
    assert len(followed) == 10


# --- source ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ((3,), "(3,)"),
        ((2, Operand(1)), "(2, n)"),
        (Slice(None, Operand(1), None), ":n"),
        (Slice(1, None, -1), "1::-1"),
        (tf.float32, "np.float32"),
        (tf.bool, "np.bool"),
        (-np.inf, "-np.inf"),
        (float("nan"), "np.nan"),
        (None, "None"),
        (0.5, "0.5"),
    ],
)
def test_code(value: Any, text: str) -> None:
    assert code(value, ["x", "n"]) == text


SOURCES = [
    (lambda x, n: tf.reshape(x, [n, -1]), "Reshape(x, shape=(n, -1))"),
    (lambda x, n: tf.transpose(x), "x.transpose()"),
    (lambda x, n: tf.transpose(x, [1, 0]), "x.transpose((1, 0))"),
    (lambda x, n: tf.expand_dims(x, n), "np.expand_dims(x, n)"),
    (lambda x, n: tf.squeeze(x, [0]), "x.squeeze(0)"),
    (lambda x, n: tf.shape(x), "np.array(x.shape, np.int32)"),
    (lambda x, n: tf.zeros([n, 2]), "np.zeros((n, 2), np.float32)"),
    (lambda x, n: tf.ones([n]), "np.ones(n, np.float32)"),
    (lambda x, n: tf.reshape(x, [-1]), "x.reshape(-1)"),
    (lambda x, n: tf.pad(x, [[0, n], [1, 1]]), "PadV2(x, paddings=((0, n), (1, 1)),"),
    (lambda x, n: tf.pad(x, [[0, n], [1, 1]], constant_values=2), "value=2)"),
    (lambda x, n: tf.reduce_max(x, [1]), "np.maximum.reduce(x, axis=1)"),
    (lambda x, n: tf.eye(n), "np.eye(n, dtype=np.float32)"),
    (lambda x, n: tf.range(2, 9), "np.arange(2, 9, dtype=np.int32)"),
    (lambda x, n: tf.concat([x, x], 1), "np.concatenate([x, x], axis=1)"),
    (lambda x, n: tf.stack([x, x]), "np.array([x, x])"),
    (lambda x, n: tf.tile(x, [n, 1]), "Tile(x, multiples=(n, 1))"),
    (lambda x, n: tf.reverse(x, [0]), "np.flip(x, 0)"),
    (lambda x, n: tf.where(x > x, x, x), "select(x > x, x, x)"),
    (lambda x, n: tf.one_hot(n, 3), "OneHot(n, np.float32(1.0), np.float32(0.0), "),
    (lambda x, n: tf.reduce_sum(x, n), "Sum(x, axis=n, keepdims=False)"),
    (lambda x, n: tf.einsum("ij->ji", x), "np.einsum('ij->ji', x)"),
    (lambda x, n: tf.cumsum(x), "np.add.accumulate(x, axis=0, dtype=x.dtype)"),
    (lambda x, n: tf.range(n), "Range(start=0, limit=n, delta=1, dtype=tf.int32)"),
    (lambda x, n: x[n, 1:], "x[n, 1:]"),
]


@pytest.mark.parametrize(
    ("function", "text"), SOURCES, ids=[text for _, text in SOURCES]
)
def test_the_source_reads_like_numpy(function: Any, text: str) -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None, 3]), "x")
        n = graph.add_input(SCALAR, "n")
        graph.outputs = [function(x, n)]

    assert text in compile_graph(graph).source


def test_kernels_take_operands_in_their_places() -> None:
    kernel = kernel_on_values("StridedSlice")
    x = np.arange(12).reshape(3, 4)

    found = kernel(x, key=((np.int32(0), np.array(2), None), np.array(1)))

    np.testing.assert_array_equal(found, x[0:2, 1])


# --- definitions ----------------------------------------------------------------------


def test_a_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_ops", dict(record._ops))
    monkeypatch.setitem(RULES, "TestScale", Rule("{0} * {by}"))
    define(
        "TestScale",
        lambda x, *, by: x * by,
        lambda x, *, by: x,
        takes="f",
        family="elementwise",
    )
    graph = Graph("g")
    with building(graph):
        x, n = graph.add_input(TensorSpec([2]), "x"), graph.add_input(SCALAR, "n")
        graph.outputs = [run("TestScale", x, by=n), run("TestScale", x, by=3)]

    source = compile_graph(graph)
    assert "x * n" in source.source
    assert "x * 3" in source.source
    found = source([np.float32([1, 2]), np.int32(4)])
    assert [value.tolist() for value in found] == [[4, 8], [3, 6]]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="one of these kinds: floating"
    ):
        run("TestScale", tf.constant([1]), by=2)


# --- partial shapes -------------------------------------------------------------------

#: Ops on a matrix of at least 1 by 1, for which any dimension may be unknown.
ON_MATRICES = [
    lambda x: tf.reshape(x, [-1]),
    lambda x: tf.transpose(x),
    lambda x: tf.expand_dims(x, 1),
    lambda x: tf.squeeze(x),
    lambda x: tf.concat([x, x], 0),
    lambda x: tf.stack([x, x], 1),
    lambda x: tf.tile(x, [2, 3]),
    lambda x: tf.repeat(x, 2),
    lambda x: tf.pad(x, [[1, 0], [0, 2]]),
    lambda x: tf.reverse(x, [0]),
    lambda x: tf.gather(x, [0, 0], axis=1),
    lambda x: tf.gather_nd(x, [[0]]),
    lambda x: tf.where(x > 0, x, 0),
    lambda x: tf.where(x > 0),
    lambda x: x[0],
    lambda x: x[1:, ::2],
    lambda x: x[..., None],
    lambda x: tf.reduce_sum(x, 0),
    lambda x: tf.reduce_max(x, -1, keepdims=True),
    lambda x: tf.reduce_mean(x),
    lambda x: tf.argmax(x, 1),
    lambda x: tf.sort(x),
    lambda x: tf.math.top_k(x, 1).values,
    lambda x: tf.cumsum(x),
    lambda x: tf.matmul(x, x, transpose_b=True),
    lambda x: tf.einsum("ij,kj->ik", x, x),
    lambda x: tf.tensordot(x, x, [[1], [1]]),
    lambda x: tf.linalg.diag(x),
    lambda x: tf.linalg.diag_part(x),
    lambda x: tf.linalg.band_part(x, 0, 0),
    lambda x: tf.nn.softmax(x),
    lambda x: tf.one_hot(tf.cast(x, tf.int32), 3),
    lambda x: tf.broadcast_to(x, [2, *tf.unstack(tf.shape(x))]),
    lambda x: tf.zeros(tf.shape(x)),
    lambda x: tf.ones_like(x),
    lambda x: tf.meshgrid(tf.reshape(x, [-1]), [1.0, 2.0])[0],
    lambda x: tf.tensor_scatter_nd_add(x, [[0, 0]], [1.0]),
    lambda x: tf.linalg.qr(x)[0],
    lambda x: tf.linalg.svd(x, compute_uv=False),
    lambda x: tf.random.shuffle(x),
]


@given(
    function=st.sampled_from(ON_MATRICES),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    unknown=st.tuples(st.booleans(), st.booleans()),
)
def test_inference_agrees_with_kernels(function: Any, shape: Any, unknown: Any) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    dims = [None if hidden else dim for dim, hidden in zip(shape, unknown)]
    graph = Graph("g")
    with building(graph):
        result = function(graph.add_input(TensorSpec(dims)))
        graph.outputs = [result]

    (found,) = compile_graph(graph)([x])

    assert result.shape.is_compatible_with(np.shape(found))
    assert result.dtype is of_array(np.asarray(found))


def test_every_op_infers_what_its_node_says() -> None:
    """Inference is a function: asked again, it gives the specs of the node."""
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None, 3]))
        for function in ON_MATRICES:
            function(x)
    for node in graph.nodes:
        if node.op != "Const":
            again = infer_specs(get(node.op), [t.spec for t in node.inputs], node.attrs)
            specs = again if isinstance(again, tuple) else (again,)
            assert [s.shape for s in specs] == [t.shape for t in node.outputs]
