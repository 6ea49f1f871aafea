"""Functions with an ``input_signature``: one trace, and checks of what comes in."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf


def collatz_step(traced: list[Any]) -> Any:
    @tf.function(
        input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),), autograph=False
    )
    def next_collatz(x: Any) -> Any:
        traced.append(x)
        return tf.where(x % 2 == 0, x // 2, 3 * x + 1)

    return next_collatz


def test_one_trace_for_all_lengths() -> None:
    traced: list[Any] = []
    step = collatz_step(traced)

    assert step(tf.constant([1, 2])).numpy().tolist() == [4, 1]
    assert step(tf.constant([5])).numpy().tolist() == [16]
    assert step([7, 8, 9]).numpy().tolist() == [22, 4, 28]
    assert step(x=[7]).numpy().tolist() == [22]
    assert list(map(str, traced)) == ['Tensor("x:0", shape=(None,), dtype=int32)']
    assert step.get_concrete_function() is step.get_concrete_function(tf.constant([1]))
    assert step.input_signature == (tf.TensorSpec([None], tf.int32),)


def test_inputs_that_do_not_fit_show_both_sides() -> None:
    step = collatz_step([])

    with pytest.raises(ValueError, match="do not fit") as caught:
        step(tf.constant([[1, 2], [3, 4]]))
    assert str(caught.value) == (
        "the inputs of 'next_collatz' do not fit its input_signature "
        "(x is int32[2,2], not int32[?]):\n"
        "  inputs: (\n"
        "    tf.Tensor(\n"
        "[[1 2]\n"
        " [3 4]], shape=(2, 2), dtype=int32))\n"
        "  input_signature: (\n"
        "    TensorSpec(shape=(None,), dtype=tf.int32, name=None))."
    )
    for wrong in (tf.constant([1.0, 2.0]), "text", None, [[1], [2, 3]], object()):
        with pytest.raises(ValueError, match="do not fit its input_signature"):
            step(wrong)


def test_python_values_are_converted() -> None:
    f = tf.function(
        lambda x: x + 1,
        input_signature=[tf.TensorSpec([], tf.float32)],
        autograph=False,
    )

    assert f(1).dtype == tf.float32
    assert float(f(1)) == 2.0
    assert float(f(tf.constant(5.0))) == 6.0
    assert f.experimental_get_tracing_count() == 1


def test_nested_signatures() -> None:
    spec = {"a": tf.TensorSpec([None]), "b": [tf.TensorSpec([], tf.int32)]}
    f = tf.function(
        lambda d: d["a"] * tf.cast(d["b"][0], tf.float32),
        input_signature=[spec],
        autograph=False,
    )

    assert f({"a": [1.0, 2.0], "b": [3]}).numpy().tolist() == [3.0, 6.0]
    with pytest.raises(ValueError, match="do not fit"):
        f({"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="do not fit"):
        f([1.0])


def test_other_arguments_keep_their_defaults() -> None:
    def fn(x: Any, n: int = 2) -> Any:
        return x * n

    f = tf.function(fn, input_signature=[tf.TensorSpec([], tf.int32)], autograph=False)

    assert [int(f(3)), int(f(3, 5)), int(f(4, n=5)), int(f(5))] == [6, 15, 20, 10]
    assert f.experimental_get_tracing_count() == 2


def test_an_empty_signature() -> None:
    f = tf.function(lambda: 1, input_signature=(), autograph=False)

    assert int(f()) == 1
    with pytest.raises(TypeError):
        f(1)


def test_signatures_that_make_no_sense() -> None:
    with pytest.raises(TypeError, match=r"must hold tf\.TensorSpec, not 3"):
        tf.function(lambda x: x, input_signature=[3])
    with pytest.raises(TypeError, match="must be a tuple or list"):
        tf.function(lambda x: x, input_signature=tf.TensorSpec([]))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="too many positional arguments"):
        tf.function(lambda x: x, input_signature=[tf.TensorSpec([])] * 2)
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])


def test_inside_another_function() -> None:
    step = collatz_step([])

    @tf.function(autograph=False)
    def twice(x: Any) -> Any:
        return step(step(x))

    assert twice(tf.constant([3, 4])).numpy().tolist() == [5, 1]
    with pytest.raises(ValueError, match="do not fit"):
        tf.function(lambda x: step(x), autograph=False)(tf.constant(1.0))


def test_methods() -> None:
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None])], autograph=False)
        def __call__(self, x: Any) -> Any:
            return x * 2

    model = Model()
    assert model([1.0]).numpy().tolist() == [2.0]
    assert model([1.0, 2.0]).shape == [2]
    assert model.__call__.experimental_get_tracing_count() == 1
