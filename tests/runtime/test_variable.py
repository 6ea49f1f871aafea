"""Variables and modules: values that change, eagerly and in graphs."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime import errors
from runtime.context import building
from runtime.graph import Graph
from runtime.specs import TensorSpec
from runtime.variable import Module, Variable


def test_prints_as_tensorflow_does() -> None:
    assert repr(Variable(1)) == (
        "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=1>"
    )
    assert str(Variable([1.0, 2.0], name="v")) == (
        "<tf.Variable 'v:0' shape=(2,) dtype=float32, "
        "numpy=array([1., 2.], dtype=float32)>"
    )
    with building(Graph("f")):
        assert repr(Variable(1)) == "<tf.Variable 'Variable:0' shape=() dtype=int32>"
    assert f"{Variable(1.25):.1f}" == "1.2"


def test_facts() -> None:
    v = Variable([1, 2], trainable=False, name="v", dtype="int64")

    assert (v.shape, v.dtype, v.ndim, v.name) == ([2], "int64", 1, "v:0")
    assert v.spec == TensorSpec([2], "int64")
    assert v.get_shape() == [2]
    assert not v.trainable
    assert v.device.endswith("CPU:0")
    assert v.ref().deref() is v
    assert (len(v), list(map(int, v))) == (2, [1, 2])
    with pytest.raises(TypeError, match=r"variable\.ref\(\)"):
        hash(v)


def test_initial_values() -> None:
    assert Variable(lambda: 2.0).numpy() == 2.0
    assert Variable(tf.constant([1])).shape == [1]
    assert Variable(Variable(3)).numpy() == 3
    assert Variable(np.float64(1)).dtype == "float64"
    with pytest.raises(errors.ConversionError):
        Variable(1.5, dtype="int32")
    with pytest.raises(ValueError, match=r"shape \(2,\) does not fit .* \(3,\)"):
        Variable([1, 2], shape=[3])


def test_assigning() -> None:
    v = Variable(1.0)

    assert v.assign(3) is v
    assert v.assign_add(2).assign_sub(1.0) is v
    assert v.numpy() == 4.0
    assert type(v.numpy()) is np.float32


def test_a_value_that_was_read_stays() -> None:
    v = Variable([1, 2])
    before, array = v.read_value(), v.numpy()
    v.assign_add([10, 10])
    array[0] = 99

    assert before.numpy().tolist() == [1, 2]
    assert v.value().numpy().tolist() == [11, 12]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (2.5, errors.ConversionError, "2.5 cannot become a tensor of int32"),
        ([1, 2], ValueError, r"shape \(2,\) does not fit the variable 'Variable:0'"),
        (2**31, errors.ConversionError, "out of the range of int32"),
        ("a", errors.ConversionError, "cannot become"),
    ],
)
@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_assigning_what_does_not_fit(
    method: str, value: Any, error: type[Exception], message: str
) -> None:
    v = Variable(1)
    with pytest.raises(error, match=message):
        getattr(v, method)(value)
    assert v.numpy() == 1


def test_open_dimensions() -> None:
    v = Variable([1, 2], shape=[None])

    v.assign([1, 2, 3])
    assert v.shape == [None]
    assert v.numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="does not fit"):
        v.assign([[1]])


def test_in_place_operators_say_what_to_write() -> None:
    v = Variable(1.0)
    for statement, method in (
        ("v += 1", "assign_add"),
        ("v -= 1", "assign_sub"),
        ("v *= 2", "assign"),
        ("v /= 2", "assign"),
    ):
        with pytest.raises(RuntimeError, match=rf"use variable\.{method}\("):
            exec(statement, {"v": v})


def test_as_a_tensor_elsewhere() -> None:
    v = Variable([1.0, 2.0])

    assert (v + v).numpy().tolist() == [2, 4]
    assert (tf.constant(1.0) - v).numpy().tolist() == [0, -1]
    assert tf.sqrt(v).dtype == "float32"
    assert (np.array([1.0, 1.0]) + v).dtype == "float32"
    assert np.multiply(v, 2).tolist() == [2, 4]
    assert tf.add_n([v, v]).numpy().tolist() == [2, 4]
    assert tf.convert_to_tensor(v).numpy().tolist() == [1, 2]
    assert v[1].numpy() == 2
    assert (v == [1.0, 3.0]).numpy().tolist() == [True, False]
    assert (v == None) is False  # noqa: E711
    assert tf.is_tensor(v)
    with pytest.raises(errors.ConversionError, match="has the dtype float32"):
        tf.convert_to_tensor(v, "int32")


def test_as_a_python_value() -> None:
    v = Variable(2)

    assert (int(v), float(v), complex(v), bool(v)) == (2, 2.0, 2 + 0j, True)
    assert list(range(v)) == [0, 1]
    with building(Graph("f")), pytest.raises(errors.SymbolicTensorError):
        bool(v)


def test_deepcopy_is_another_variable() -> None:
    v = Variable(1, trainable=False, name="v")
    other, same = copy.deepcopy([v, v])
    other.assign(5)

    assert other is same
    assert (v.numpy(), other.numpy(), other.name, other.trainable) == (
        1,
        5,
        "v:0",
        False,
    )


# --- graphs ---------------------------------------------------------------------------


def test_graphs_refer_to_the_variable() -> None:
    v = Variable(1.0, name="v")
    graph = Graph("f")
    with building(graph):
        result = v.assign_add(v * 2.0)

    assert [node.op for node in graph.nodes] == [
        "ReadVariableOp",
        "Const",
        "Mul",
        "AssignAddVariableOp",
    ]
    assert all(n.attrs["variable"] is v for n in graph.nodes if "Variable" in n.op)
    assert result.spec == TensorSpec([], "float32")
    assert "AssignAddVariableOp(%2, variable=<v>)" in str(graph)
    assert v.numpy() == 1.0


def test_weak_values_are_assigned_in_the_variables_dtype() -> None:
    v = Variable(1.0)
    graph = Graph("f")
    weak = graph.add_input(TensorSpec([], "int32", weak=True))
    strong = graph.add_input(TensorSpec([], "int32"))
    with building(graph):
        assert v.assign(weak).dtype == "float32"
        assert not v.assign(weak).spec.weak
        with pytest.raises(errors.ConversionError, match=r"int32, not float32; use tf"):
            v.assign(strong)


def test_created_while_tracing_it_has_its_value_at_once() -> None:
    graph = Graph("f")
    x = graph.add_input(TensorSpec([], "float32"))
    with building(graph):
        v = Variable(lambda: tf.constant(2.0) * 3)
        assert graph.nodes == []
        with pytest.raises(ValueError, match="must be known at once, but it depends on 'x:0'"):
            Variable(x)
    assert v.numpy() == 6.0


# --- modules --------------------------------------------------------------------------


def test_strings() -> None:
    text = Variable("a")

    @tf.function(autograph=False)
    def grow(x: Any) -> Any:
        text.assign(text + x)
        text.assign_add(x)
        return text + "!"

    assert grow(tf.constant("b")).numpy() == b"abb!"
    text.assign_add("c")
    assert (text + "d").numpy() == b"abbcd"
    assert text.read_value().dtype is tf.string


class Dense(Module):
    def __init__(self) -> None:
        super().__init__(name="dense")
        self.weight = Variable(1.0, name="weight")
        self.bias = Variable(0.0, name="bias", trainable=False)


class TwoLayers(Module):
    def __init__(self) -> None:
        self.layers = [Dense(), {"last": Dense()}]
        self.again = self.layers[0]
        self.own = Variable(3, name="own")
        self.me = self


def test_modules_find_their_variables() -> None:
    model = TwoLayers()

    assert [v.name for v in model.variables] == [
        "own:0",
        "bias:0",
        "weight:0",
        "bias:0",
        "weight:0",
    ]
    assert [v.name for v in model.trainable_variables] == [
        "own:0",
        "weight:0",
        "weight:0",
    ]
    assert len(model.non_trainable_variables) == 2
    assert [m.name for m in model.submodules] == ["dense", "dense"]
    assert (model.name, Module("other").name) == ("two_layers", "other")
