"""Variables: values that change, eagerly and in graphs."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core import errors
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.ops.variables import Variable, VariableAggregation, VariableSynchronization


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
    with building(Graph("f")):
        with pytest.raises(errors.SymbolicTensorError):
            bool(v)
        for ask in (lambda: v.numpy(), lambda: f"{v:.1f}"):
            with pytest.raises(AttributeError, match="has no attribute 'numpy'"):
                ask()


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


def test_copies_and_pickles_keep_what_is_known() -> None:
    with tf.name_scope("scope"):
        v = Variable([1, 2], trainable=False, name="v", shape=[None], constraint=abs)
    for other in (pickle.loads(pickle.dumps(v)), copy.deepcopy(v)):
        other.assign([3, 4, 5])
        assert (other.name, other.shape, other.dtype) == ("scope/v:0", [None], "int32")
        assert (other.trainable, other.constraint) == (False, abs)
    assert v.numpy().tolist() == [1, 2]
    # What holds a variable shares it with its shallow copy.
    assert copy.copy(v) is v


def test_a_copy_while_tracing_is_refused() -> None:
    v = Variable(1, name="v")
    with building(Graph("f")), pytest.raises(NotImplementedError, match="'v:0' cannot"):
        copy.deepcopy(v)


def test_what_tensorflow_takes() -> None:
    v = Variable(
        initial_value=1.0,
        trainable=None,
        validate_shape=False,
        caching_device=None,
        name="v",
        constraint=None,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
    )

    assert not v.trainable
    assert Variable(1).trainable
    assert v.synchronization is tf.VariableSynchronization.ON_READ
    assert v.aggregation is tf.VariableAggregation.ONLY_FIRST_REPLICA
    assert v.is_initialized()
    assert v.assign(2.0, use_locking=True, name="two", read_value=False) is None
    assert v.assign_add(1.0, True, "more").numpy() == 3.0
    with pytest.raises(ValueError, match="needs an initial value"):
        Variable()
    with pytest.raises(ValueError, match="MEAN"):
        Variable(1, aggregation="MEAN")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "method"),
    [(True, "assign_add"), (True, "assign_sub"), ("a", "assign_sub")],
)
def test_arithmetic_needs_numbers(value: Any, method: str) -> None:
    v = Variable(value, name="v")
    with pytest.raises(errors.InvalidArgumentError, match=r"not for .* variable 'v:0'"):
        getattr(v, method)(value)
    assert v.assign(value) is v


def test_no_update_is_lost_between_threads() -> None:
    v, w = Variable(0), Variable([0, 0])

    @tf.function
    def count() -> None:
        v.assign_add(1)
        w[1].assign_add(1)

    def work() -> None:
        for _ in range(50):
            count()
            v.assign_add(1)
            w.scatter_add(tf.IndexedSlices([1], [0]))

    count()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (v.numpy(), w.numpy().tolist()) == (801, [400, 401])


def test_counting() -> None:
    v = Variable(1)
    count = tf.function(lambda: v.count_up_to(3))

    assert (v.count_up_to(3).numpy(), count().numpy(), v.numpy()) == (1, 2, 3)
    for run in (count, lambda: v.count_up_to(3)):
        with pytest.raises(errors.OutOfRangeError, match="its limit of 3"):
            run()
    with pytest.raises(ValueError, match="only a scalar of integers"):
        Variable([1.0]).count_up_to(3)


# --- functions ------------------------------------------------------------------------


def test_assigning_gives_the_variable_in_functions_too() -> None:
    def program() -> Any:
        v.assign(0)
        seen = v.assign_add(2).assign_sub(1).assign_add(10)
        before = seen + 0
        v.assign(100)
        return before, seen + 0

    v = Variable(0)
    eager, staged = program(), tf.function(program)()

    assert [t.numpy() for t in eager] == [t.numpy() for t in staged] == [11, 100]


def test_variables_in_lists_and_dicts_are_told_apart_by_identity() -> None:
    @tf.function
    def step(variables: list[Any], named: dict[str, Any]) -> Any:
        for variable in variables:
            variable.assign_add(1)
        return named["x"] - variables[0]

    a, b = Variable(1), Variable(20)

    assert step([a, b], {"x": b}).numpy() == 19
    assert step([a, b], {"x": b}).numpy() == 19
    assert step([b, a], {"x": a}).numpy() == -19
    assert step.experimental_get_tracing_count() == 2


def test_a_trace_keeps_its_variables() -> None:
    def make() -> Any:
        v = Variable(5.0)

        @tf.function
        def scale(x: Any) -> Any:
            return v.assign_add(1.0) * x

        return scale.get_concrete_function(tf.constant(1.0))

    scale = make()
    gc.collect()

    assert [scale(tf.constant(2.0)).numpy() for _ in range(2)] == [12, 14]


def test_functions_make_variables_on_their_first_call_only() -> None:
    @tf.function
    def each_time() -> Any:
        return tf.Variable(1.0) + 1

    class Once:
        v: Any = None

        @tf.function
        def __call__(self, x: Any) -> Any:
            if self.v is None:
                self.v = tf.Variable(x.shape[0])
            return self.v.assign_add(1)

    once = Once()

    with pytest.raises(ValueError, match="creates the variable 'Variable:0'"):
        each_time()
    assert [once(tf.constant([0, 0])).numpy() for _ in range(2)] == [3, 4]


def test_a_variable_in_the_body_of_a_loop_by_hand() -> None:
    v = Variable(0)

    @tf.function
    def total(n: Any) -> Any:
        start = [0, v.assign(0)]
        return tf.while_loop(
            lambda i, x: i < n, lambda i, x: (i + 1, v.assign_add(i)), start
        )[1]

    assert total(tf.constant(4)).numpy() == 6


def test_paths_that_leave_different_variables_are_refused() -> None:
    v, w = Variable(1, name="v"), Variable(2, name="w")

    @tf.function
    def either(x: Any) -> Any:
        return v if x > 0 else w

    with pytest.raises(errors.StagedStateError, match=r"variable 'v:0' \(read_value"):
        either(tf.constant(1))


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
