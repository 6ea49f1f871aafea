"""`ConcreteFunction`: calling one trace, and what it tells about itself."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from runtime.function.concrete import ConcreteFunction


@tf.function(autograph=False)
def double(a: Any) -> Any:
    return a + a


@tf.function(autograph=False)
def power(a: Any, b: Any) -> Any:
    return a**b


def test_printing() -> None:
    strings = double.get_concrete_function(tf.TensorSpec([], tf.string))

    assert str(strings) == (
        "ConcreteFunction double(a)\n"
        "  Args:\n"
        "    a: string Tensor, shape=()\n"
        "  Returns:\n"
        "    string Tensor, shape=()"
    )
    assert repr(strings) == "<ConcreteFunction double(a)>"
    assert str(strings.structured_input_signature) == (
        "((TensorSpec(shape=(), dtype=tf.string, name='a'),), {})"
    )
    assert str(strings.structured_outputs) == (
        'Tensor("Identity:0", shape=(), dtype=string)'
    )
    assert strings.pretty_printed_signature(verbose=False) == "double(a)"
    assert strings.name == strings.__name__ == "double"


def test_python_arguments_are_part_of_the_signature() -> None:
    square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)

    assert str(square) == (
        "ConcreteFunction power(a, b=2)\n"
        "  Args:\n"
        "    a: float32 Tensor, shape=<unknown>\n"
        "  Returns:\n"
        "    float32 Tensor, shape=<unknown>"
    )
    assert float(square(tf.constant(10.0))) == 100.0
    assert float(square(tf.constant(10.0), 2)) == 100.0
    assert float(square(tf.constant(10.0), b=2)) == 100.0
    with pytest.raises(TypeError, match=r"the int value 2 for 'b', and .* int value 3"):
        square(tf.constant(10.0), b=3)
    with pytest.raises(
        TypeError, match=r"the int value 2 for 'b', and .* float value 2"
    ):
        square(tf.constant(10.0), b=2.0)


def test_structures_are_printed_with_markers() -> None:
    @tf.function(autograph=False)
    def f(x: Any, y: Any, *, scale: Any = 2) -> Any:
        return {"b": [x["w"][0], x["n"]], "a": y}

    x = {"w": (tf.constant(1), tf.constant([1.5])), "n": 7}
    concrete = f.get_concrete_function(x, [1, -1], scale=3)

    assert concrete.pretty_printed_signature() == (
        "f(x, y=[1, -1], *, scale=3)\n"
        "  Args:\n"
        "    x: {'n': <1>, 'w': (<2>, <3>)}\n"
        "      <1>: 7\n"
        "      <2>: int32 Tensor, shape=()\n"
        "      <3>: float32 Tensor, shape=(1,)\n"
        "  Returns:\n"
        "    {'a': [<1>, <2>], 'b': [<3>, <4>]}\n"
        "      <1>: int32 Tensor, shape=()\n"
        "      <2>: int32 Tensor, shape=()\n"
        "      <3>: int32 Tensor, shape=()\n"
        "      <4>: int32 Tensor, shape=()"
    )


def test_without_tensors() -> None:
    @tf.function(autograph=False)
    def f() -> None:
        pass

    assert (
        str(f.get_concrete_function()) == "ConcreteFunction f()\n  Returns:\n    None"
    )
    assert f.get_concrete_function()() is None


def test_signatures_of_all_traces() -> None:
    @tf.function(autograph=False)
    def my_relu(x: Any) -> Any:
        return tf.maximum(0.0, x)

    my_relu(tf.constant(5.5))
    my_relu([1, -1])
    my_relu(tf.constant([3.0, -3.0]))
    my_relu(tf.constant([4.0, -3.0]))

    assert my_relu.pretty_printed_concrete_signatures() == (
        "my_relu(x)\n"
        "  Args:\n"
        "    x: float32 Tensor, shape=()\n"
        "  Returns:\n"
        "    float32 Tensor, shape=()\n"
        "\n"
        "my_relu(x=[1, -1])\n"
        "  Returns:\n"
        "    float32 Tensor, shape=(2,)\n"
        "\n"
        "my_relu(x)\n"
        "  Args:\n"
        "    x: float32 Tensor, shape=(2,)\n"
        "  Returns:\n"
        "    float32 Tensor, shape=(2,)"
    )


def test_tensors_that_do_not_fit() -> None:
    strings = double.get_concrete_function(tf.constant("a"))

    assert strings(tf.constant("b")).numpy() == b"bb"
    assert strings(a=tf.constant("b")).numpy() == b"bb"
    assert strings("c").numpy() == b"cc"
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"'a' as a string tensor of shape \(\), .* int32 tensor of shape \(\)",
    ):
        strings(tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tensor of shape \(1,\)"):
        strings(tf.constant(["a"]))
    with pytest.raises(TypeError, match=r"ConcreteFunction double\(a\) .*argument 'a'"):
        strings()
    with pytest.raises(TypeError, match="too many positional arguments"):
        strings(tf.constant("a"), tf.constant("b"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        strings(tf.constant("a"), c=1)


def test_python_numbers_become_tensors_of_the_traced_dtype() -> None:
    floats = double.get_concrete_function(tf.TensorSpec([2], tf.float32))

    assert floats([1, 2]).numpy().tolist() == [2.0, 4.0]


def test_other_structures_are_refused() -> None:
    first = tf.function(lambda x: x[0], autograph=False)
    concrete = first.get_concrete_function([tf.constant(1), tf.constant(2)])

    assert int(concrete([tf.constant(5), tf.constant(6)])) == 5
    assert int(concrete(tf.constant(5), tf.constant(6))) == 5
    with pytest.raises(TypeError, match="another structure for 'x'"):
        concrete([tf.constant(5)])


def test_objects_may_be_left_out_wherever_they_stand() -> None:
    class Model:
        weight = 2.0

    @tf.function(autograph=False)
    def evaluate(model: Any, x: Any, mode: Any) -> Any:
        return model.weight * x

    model, mode, x = Model(), object(), tf.constant(10.0)
    concrete = evaluate.get_concrete_function(model, x, mode)

    assert float(concrete(x)) == 20.0
    assert float(concrete(model, x)) == 20.0
    assert float(concrete(model, x, mode)) == 20.0
    assert concrete.structured_input_signature[0][0] is model
    with pytest.raises(TypeError, match=r"the Model value .* for 'model'"):
        concrete(Model(), x)


def test_unknown_dimensions() -> None:
    concrete = double.get_concrete_function(tf.TensorSpec([None, 2], tf.int32))

    assert concrete(tf.ones([3, 2], tf.int32)).shape == [3, 2]
    assert concrete.structured_outputs.shape == [None, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(None, 2\)"):
        concrete(tf.ones([3, 3], tf.int32))


def test_the_graph_as_graph_def() -> None:
    concrete = double.get_concrete_function(tf.constant("a"))

    nodes = [(node.input, node.name) for node in concrete.graph.as_graph_def().node]
    assert nodes == [([], "a"), (["a", "a"], "add"), (["add"], "Identity")]
    assert [tensor.name for tensor in concrete.inputs] == ["a:0"]
    assert [tensor.name for tensor in concrete.outputs] == ["Identity:0"]


def test_a_concrete_function_in_another_trace_is_called() -> None:
    concrete = double.get_concrete_function(tf.TensorSpec([None], tf.int32))

    @tf.function(autograph=False)
    def outer(x: Any) -> Any:
        return concrete(x) + 1

    assert outer(tf.constant([1, 2])).numpy().tolist() == [3, 5]
    graph = outer.get_concrete_function(tf.constant([1, 2])).graph
    assert "PartitionedCall" in [node.op for node in graph.nodes]


def test_the_source_can_be_read() -> None:
    concrete = double.get_concrete_function(tf.TensorSpec([], tf.int32))

    assert concrete.to_source() == (
        "import numpy as np\n\n\ndef double(a):\n    return a + a\n"
    )
    assert isinstance(concrete, ConcreteFunction)


def test_arguments_of_stars_are_all_needed() -> None:
    @tf.function(autograph=False)
    def f(x: Any, *rest: Any, **named: Any) -> Any:
        return x + rest[0] - rest[1] + named["a"] * named["b"]

    spec = tf.TensorSpec([], tf.int32)
    concrete = f.get_concrete_function(spec, spec, 7, a=spec, b=spec)

    assert repr(concrete) == "<ConcreteFunction f(x, rest_0, rest_1=7, *, a, b)>"
    assert int(concrete(1, 2, a=3, b=4)) == 8
    assert int(concrete(1, 2, 7, b=4, a=3)) == 8
    with pytest.raises(TypeError, match="needs the argument 'rest_0'"):
        concrete(1, a=3, b=4)
    with pytest.raises(TypeError, match="needs the argument 'b'"):
        concrete(1, 2, a=3)
    with pytest.raises(TypeError, match="has no argument 'bb'; did you mean 'b'"):
        concrete(1, 2, a=3, b=4, bb=5)
    with pytest.raises(TypeError, match="has no argument 'rest_2'"):
        concrete(1, 2, 7, 8, a=3, b=4)


def test_a_structure_or_its_tensors_one_by_one() -> None:
    @tf.function(autograph=False)
    def f(state: Any, x: Any) -> Any:
        return state["k"] - x

    spec = tf.TensorSpec([], tf.int32)
    concrete = f.get_concrete_function({"k": spec}, spec)

    assert int(concrete({"k": 5}, 3)) == 2
    assert int(concrete(tf.constant(5), tf.constant(3))) == 2
    with pytest.raises(TypeError, match="another structure for 'state'"):
        concrete(5, 3)
    with pytest.raises(TypeError, match="another structure for 'state'"):
        concrete({"j": 5}, 3)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"\"state\['k'\]\" as an int32 tensor of shape \(\), and .* a float32",
    ):
        concrete({"k": 5.0}, 3)


def test_variables_are_those_of_all_branches() -> None:
    rate = tf.Variable(1.0, name="rate")
    count = tf.Variable(0, trainable=False, name="count")
    unused = tf.Variable(0.0)

    @tf.function
    def step(x: Any) -> Any:
        if x > 0.0:
            for _ in tf.range(3):
                count.assign_add(1)
        return x * rate + rate

    concrete = step.get_concrete_function(tf.TensorSpec([], tf.float32))

    assert [v.name for v in concrete.variables] == ["count:0", "rate:0"]
    assert concrete.variables[0] is count
    assert [v.name for v in concrete.trainable_variables] == ["rate:0"]
    assert [v.name for v in concrete.captured_inputs] == ["count:0", "rate:0"]
    assert all(v is not unused for v in concrete.variables)


def test_shapes_and_dtypes_of_results() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return {"same": x, "sizes": (tf.shape(x), None)}

    concrete = f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))

    assert concrete.output_shapes == {"same": [None, 2], "sizes": ([2], None)}
    assert concrete.output_dtypes == {"same": tf.float32, "sizes": (tf.int32, None)}


def test_a_recursive_function_has_its_variables_once() -> None:
    total = tf.Variable(0, name="total")

    @tf.function
    def count(n: Any) -> Any:
        if n > 0:
            total.assign_add(n)
            return count(n - 1)
        return total.read_value()

    concrete = count.get_concrete_function(tf.TensorSpec([], tf.int32))

    assert [v.name for v in concrete.variables] == ["total:0"]
