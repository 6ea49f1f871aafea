"""Programs like those of the guide to `function`: tracing, signatures, graphs."""

from __future__ import annotations

import functools
import operator
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf

Printed = Callable[[], list[str]]


@tf.function
def subtract(a: Any, b: Any) -> Any:
    return a - b


def traced_twice() -> Any:
    """A function that says when it is traced."""

    @tf.function
    def twice(a: Any) -> Any:
        print("Tracing with", a)
        return a + a

    return twice


# --- use ------------------------------------------------------------------------------


def test_a_function_is_called_like_an_operation() -> None:
    assert repr(subtract(tf.fill([2, 2], 5.0), tf.ones([2, 2]))) == (
        "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\n"
        "array([[4., 4.],\n"
        "       [4., 4.]], dtype=float32)>"
    )


def test_functions_call_functions() -> None:
    @tf.function
    def residual(x: Any, weights: Any, target: Any) -> Any:
        return subtract(tf.matmul(x, weights), target)

    result = residual(tf.ones([3, 2]), tf.fill([2, 2], 2.0), tf.ones([2]))

    assert repr(result) == (
        "<tf.Tensor: shape=(3, 2), dtype=float32, numpy=\n"
        "array([[3., 3.],\n"
        "       [3., 3.],\n"
        "       [3., 3.]], dtype=float32)>"
    )


def test_lambdas_and_partial_functions() -> None:
    distance = tf.function(lambda x, y: tf.abs(x - y))
    from_ten = tf.function(functools.partial(subtract.python_function, 10))

    assert distance(tf.constant(3), 5).numpy() == 2
    assert from_ten(tf.constant(4)).numpy() == 6


def test_functions_that_are_written_in_c() -> None:
    assert tf.function(operator.sub)(tf.constant(5), 3).numpy() == 2
    assert tf.function(max)(5, 3).numpy() == 5
    with pytest.raises(TypeError, match=r"AG301.*not written in Python"):
        tf.function(max)(tf.constant(5), tf.constant(3))


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a callable, not 3"):
        tf.function(3)


def test_an_activation_of_two_branches() -> None:
    def stretched(z: Any, scale: Any = 1.0, alpha: Any = 1.0) -> Any:
        return scale * tf.where(tf.greater_equal(z, 0.0), z, alpha * tf.nn.elu(z))

    x = tf.constant([-1.0, 0.0, 2.0])
    expected = np.float32([np.expm1(-1), 0, 2]) * 3

    np.testing.assert_allclose(stretched(x, 3.0).numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(tf.function(stretched)(x, scale=3.0), expected, 1e-6)


# --- tracing --------------------------------------------------------------------------


def test_each_kind_of_tensor_is_traced(printed: Printed) -> None:
    twice = traced_twice()
    print(twice(tf.constant(4)))
    print(twice(tf.constant([0.25])))
    print(twice(tf.constant("ab")))

    assert printed() == [
        'Tracing with Tensor("a:0", shape=(), dtype=int32)',
        "tf.Tensor(8, shape=(), dtype=int32)",
        'Tracing with Tensor("a:0", shape=(1,), dtype=float32)',
        "tf.Tensor([0.5], shape=(1,), dtype=float32)",
        'Tracing with Tensor("a:0", shape=(), dtype=string)',
        "tf.Tensor(b'abab', shape=(), dtype=string)",
    ]

    print(twice(tf.constant("c")))

    assert printed() == ["tf.Tensor(b'cc', shape=(), dtype=string)"]


def test_the_signatures_of_all_traces_can_be_printed(printed: Printed) -> None:
    twice = traced_twice()
    twice(tf.constant(4))
    twice(tf.constant([0.25]))
    twice(tf.constant("ab"))
    printed()
    print(twice.pretty_printed_concrete_signatures())

    assert printed() == [
        "twice(a)",
        "  Args:",
        "    a: int32 Tensor, shape=()",
        "  Returns:",
        "    int32 Tensor, shape=()",
        "",
        "twice(a)",
        "  Args:",
        "    a: float32 Tensor, shape=(1,)",
        "  Returns:",
        "    float32 Tensor, shape=(1,)",
        "",
        "twice(a)",
        "  Args:",
        "    a: string Tensor, shape=()",
        "  Returns:",
        "    string Tensor, shape=()",
    ]


def test_python_numbers_are_traced_one_by_one(printed: Printed) -> None:
    def step() -> None:
        pass

    @tf.function
    def run(steps: Any) -> None:
        print("Tracing with steps = ", steps)
        tf.print("Executing with steps = ", steps)
        for _ in tf.range(steps):
            step()

    run(steps=3)
    run(steps=4)
    run(steps=3)

    assert printed() == [
        "Tracing with steps =  3",
        "Executing with steps =  3",
        "Tracing with steps =  4",
        "Executing with steps =  4",
        "Executing with steps =  3",
    ]

    run(steps=tf.constant(3))
    run(steps=tf.constant(4))

    assert printed() == [
        'Tracing with steps =  Tensor("steps:0", shape=(), dtype=int32)',
        "Executing with steps =  3",
        "Executing with steps =  4",
    ]


def test_separate_functions_share_no_traces(printed: Printed) -> None:
    def announce() -> None:
        print("Tracing!")
        tf.print("Executing")

    tf.function(announce)()
    tf.function(announce)()

    assert printed() == ["Tracing!", "Executing", "Tracing!", "Executing"]


class Settings:
    """An object that is known by its identity."""


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("first", "second", "traces"),
    [
        pytest.param(tf.constant([1]), tf.constant([2]), 1, id="shape and dtype"),
        pytest.param(tf.constant([1]), tf.constant([1, 2]), 2, id="another shape"),
        pytest.param(tf.constant([1]), tf.constant([1.0]), 2, id="another dtype"),
        pytest.param(np.float32([1]), tf.constant([2.0]), 1, id="array and tensor"),
        pytest.param(3, 3, 1, id="an equal number"),
        pytest.param(1, True, 2, id="another type of number"),
        pytest.param("relu", "tanh", 2, id="another text"),
        pytest.param([1, 2], [1, 2], 1, id="equal lists"),
        pytest.param([1, 2], (1, 2), 2, id="list and tuple"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1, id="equal dicts"),
        pytest.param({"a": 1}, {"a": 2}, 2, id="another value in a dict"),
        pytest.param([tf.constant(1)], [tf.constant(2)], 1, id="tensors in lists"),
        pytest.param(Point(1, 2), Point(1, 2), 1, id="equal named tuples"),
        pytest.param(Settings(), Settings(), 2, id="other objects"),
        pytest.param(tf.Variable(1), tf.Variable(1), 2, id="variables"),
    ],
)
def test_the_rules_of_tracing(first: Any, second: Any, traces: int) -> None:
    @tf.function
    def accept(argument: Any) -> Any:
        return 0

    accept(first)
    accept(second)
    accept(first)

    assert accept.experimental_get_tracing_count() == traces


# --- input signatures -----------------------------------------------------------------

INTS = tf.TensorSpec(shape=[None], dtype=tf.int32)


def test_an_input_signature_is_traced_once(printed: Printed) -> None:
    @tf.function(input_signature=(INTS,))
    def next_parity(x: Any) -> Any:
        print("Tracing with", x)
        return tf.where(x % 2 == 0, x - 1, 10 * x)

    print(next_parity(tf.constant([3, 4])))
    print(next_parity(tf.constant([5, 6, 7, 8])))
    print(next_parity([1]))

    assert printed() == [
        'Tracing with Tensor("x:0", shape=(None,), dtype=int32)',
        "tf.Tensor([30  3], shape=(2,), dtype=int32)",
        "tf.Tensor([50  5 70  7], shape=(4,), dtype=int32)",
        "tf.Tensor([10], shape=(1,), dtype=int32)",
    ]

    with pytest.raises(ValueError, match="input_signature") as caught:
        next_parity(tf.constant([[3, 4], [5, 6]]))

    assert str(caught.value).splitlines()[1:] == [
        "  inputs: (",
        "    tf.Tensor(",
        "[[3 4]",
        " [5 6]], shape=(2, 2), dtype=int32))",
        "  input_signature: (",
        "    TensorSpec(shape=(None,), dtype=tf.int32, name=None)).",
    ]

    with pytest.raises(ValueError, match="input_signature") as caught:
        next_parity(tf.constant([0.5]))

    assert str(caught.value).splitlines()[1:] == [
        "  inputs: (",
        "    tf.Tensor([0.5], shape=(1,), dtype=float32))",
        "  input_signature: (",
        "    TensorSpec(shape=(None,), dtype=tf.int32, name=None)).",
    ]
    assert printed() == []


def test_a_spec_without_a_shape_takes_all_shapes(printed: Printed) -> None:
    @tf.function(input_signature=[tf.TensorSpec(shape=None, dtype=tf.float32)])
    def halved(x: Any) -> Any:
        print("Tracing with", x)
        return x / 2

    for value in (3.0, [1.0, 5.0], [[7.0]]):
        print(halved(tf.constant(value)).shape)

    assert printed() == [
        'Tracing with Tensor("x:0", dtype=float32)', "()", "(2,)", "(1, 1)"
    ]  # fmt: skip


@pytest.mark.parametrize("signature", [tf.int32, [tf.int32], "x", [[3]]])
def test_an_input_signature_holds_specs(signature: Any) -> None:
    with pytest.raises(TypeError, match=r"input_signature must .* tf\.TensorSpec"):
        tf.function(lambda x: x, input_signature=signature)


# --- concrete functions ---------------------------------------------------------------


def test_a_concrete_function_is_a_trace(printed: Printed) -> None:
    twice = traced_twice()

    print("Obtaining")
    of_text = twice.get_concrete_function(tf.constant("a"))
    print("Executing")
    print(of_text(tf.constant("xy")))
    print(of_text(a=tf.constant("z")))

    assert printed() == [
        "Obtaining",
        'Tracing with Tensor("a:0", shape=(), dtype=string)',
        "Executing",
        "tf.Tensor(b'xyxy', shape=(), dtype=string)",
        "tf.Tensor(b'zz', shape=(), dtype=string)",
    ]

    of_spec = twice.get_concrete_function(tf.TensorSpec(shape=[], dtype=tf.string))
    print(of_spec(tf.constant("w")))

    assert printed() == ["tf.Tensor(b'ww', shape=(), dtype=string)"]
    assert of_spec is of_text


def test_a_concrete_function_prints_its_types(printed: Printed) -> None:
    of_text = traced_twice().get_concrete_function(tf.constant("a"))
    printed()

    print(of_text)
    print(of_text.structured_input_signature)
    print(of_text.structured_outputs)

    assert printed() == [
        "ConcreteFunction twice(a)",
        "  Args:",
        "    a: string Tensor, shape=()",
        "  Returns:",
        "    string Tensor, shape=()",
        "((TensorSpec(shape=(), dtype=tf.string, name='a'),), {})",
        'Tensor("Identity:0", shape=(), dtype=string)',
    ]


def test_structures_are_printed_with_numbers_for_their_tensors(
    printed: Printed,
) -> None:
    @tf.function
    def moved(point: Any, options: Any) -> Any:
        return {"point": Point(point.x + options["dx"], point.y), "note": None}

    concrete = moved.get_concrete_function(
        Point(tf.constant(1.0), tf.constant([2])), {"dx": tf.constant(0.5), "unit": "m"}
    )
    print(concrete)

    assert printed() == [
        "ConcreteFunction moved(point, options)",
        "  Args:",
        "    point: Point(x=<1>, y=<2>)",
        "      <1>: float32 Tensor, shape=()",
        "      <2>: int32 Tensor, shape=(1,)",
        "    options: {'dx': <1>, 'unit': <2>}",
        "      <1>: float32 Tensor, shape=()",
        "      <2>: 'm'",
        "  Returns:",
        "    {'note': <1>, 'point': Point(x=<2>, y=<3>)}",
        "      <1>: None",
        "      <2>: float32 Tensor, shape=()",
        "      <3>: int32 Tensor, shape=(1,)",
    ]
    point = Point(tf.constant(2.0), tf.constant([7]))
    result = concrete(point, {"dx": tf.constant(0.25), "unit": "m"})
    assert result["point"].x.numpy() == 2.25
    assert result["point"].y.numpy().tolist() == [7]
    assert result["note"] is None
    with pytest.raises(TypeError, match="another structure for 'point'"):
        concrete(tuple(point), {"dx": tf.constant(0.25), "unit": "m"})


@pytest.mark.parametrize("wrong", [1, [["a"]]])
def test_a_concrete_function_takes_one_kind_of_tensor(wrong: Any) -> None:
    concrete = traced_twice().get_concrete_function(tf.constant("a"))

    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"'a' as a string tensor of shape \(\)"
    ):
        concrete(tf.constant(wrong))


def test_python_arguments_are_baked_in(printed: Printed) -> None:
    @tf.function
    def power(base: Any, exponent: Any) -> Any:
        return base**exponent

    cube = power.get_concrete_function(base=tf.TensorSpec(None, tf.float32), exponent=3)
    print(cube)

    assert printed() == [
        "ConcreteFunction power(base, exponent=3)",
        "  Args:",
        "    base: float32 Tensor, shape=<unknown>",
        "  Returns:",
        "    float32 Tensor, shape=<unknown>",
    ]
    assert cube(tf.constant(2.0)) == 8
    assert cube(tf.constant([1.0, 3.0]), 3).numpy().tolist() == [1.0, 27.0]
    assert cube(tf.constant(2.0), exponent=3) == 8
    with pytest.raises(TypeError, match=r"int value 3 for 'exponent'.*int value 4"):
        cube(tf.constant(2.0), exponent=4)


# --- graphs ---------------------------------------------------------------------------


def test_the_nodes_of_a_graph_name_their_inputs(printed: Printed) -> None:
    @tf.function
    def polynomial(a: Any, b: Any) -> Any:
        return a * b + a

    graph = polynomial.get_concrete_function(tf.constant(1), tf.constant(2)).graph
    for node in graph.as_graph_def().node:
        print(f"{node.input} -> {node.name}")

    assert printed() == [
        "[] -> a",
        "[] -> b",
        "['a', 'b'] -> mul",
        "['mul', 'a'] -> add",
        "['add'] -> Identity",
    ]


def test_python_data_makes_the_graph_larger(printed: Printed) -> None:
    @tf.function
    def total_distance(pairs: Any) -> Any:
        total = tf.constant(0)
        for pair in pairs:
            total += tf.abs(pair[1] - pair[0])
        return total

    def show_size(*args: Any) -> None:
        graph = total_distance.get_concrete_function(*args).graph
        nodes = len(graph.as_graph_def().node)
        print(f"{total_distance.__name__}{args} contains {nodes} nodes in its graph")

    show_size([(2, 1)] * 2)
    show_size([(2, 1)] * 4)

    # One constant to begin with, three nodes for each pair, one for the result.
    assert printed() == [
        "total_distance([(2, 1), (2, 1)],) contains 8 nodes in its graph",
        "total_distance([(2, 1), (2, 1), (2, 1), (2, 1)],) contains 14 nodes in its "
        "graph",
    ]
    # A tensor is iterated by a loop of the graph: its length makes no difference.
    sizes = {
        len(total_distance.get_concrete_function(pairs).graph.as_graph_def().node)
        for pairs in (tf.constant([[2, 1]] * 2), tf.constant([[2, 1]] * 40))
    }
    assert len(sizes) == 1
