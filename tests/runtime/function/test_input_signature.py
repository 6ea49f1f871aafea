"""Functions with an ``input_signature``: one trace, and checks of what comes in."""

from __future__ import annotations

from typing import Any

import numpy as np
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
    with pytest.raises(TypeError, match="do not fit"):  # as TensorFlow raises
        step(tf.constant([1.0, 2.0]))
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


# --- annotations ----------------------------------------------------------------------

FLOATS = tf.TensorSpec(shape=[None], dtype=tf.float32)


def test_specs_from_annotations() -> None:
    @tf.function(autograph=False)
    def f(k: int, x: FLOATS, *, y: tf.TensorSpec([], tf.float32)) -> Any:  # type: ignore[valid-type, valid-type]
        return x * k + y

    assert f(2, [1.0], y=1).numpy().tolist() == [3.0]
    assert f(x=[1, 2], k=2, y=tf.constant(2.0)).numpy().tolist() == [4.0, 6.0]
    assert f.experimental_get_tracing_count() == 1
    assert f(3, [1.0], y=1).numpy().tolist() == [4.0]
    assert f.experimental_get_tracing_count() == 2
    assert f.input_signature == (FLOATS, tf.TensorSpec([], tf.float32))
    with pytest.raises(ValueError, match=r"\(y is float32\[1\], not float32\[\]\)"):
        f(2, [1.0], y=[1.0])
    with pytest.raises(ValueError, match=r"\(x is a Python object, not float32"):
        f(2, object(), y=1.0)


def test_specs_from_annotations_of_all_parameters() -> None:
    @tf.function(autograph=False)
    def f(x: FLOATS, /, n: tf.TensorSpec([], tf.int32), k: int = 3) -> Any:  # type: ignore[valid-type]
        return tf.size(x) * n * k

    assert int(f.get_concrete_function()(tf.ones([2]), tf.constant(2))) == 12


def test_annotations_can_be_passed_over() -> None:
    def f(x: FLOATS) -> Any:  # type: ignore[valid-type]
        return x

    assert tf.function(f).input_signature is not None
    given = tf.function(f, experimental_follow_type_hints=False)
    assert given.input_signature is None
    assert given(1).dtype == tf.int32


def test_annotations_that_are_for_others() -> None:
    def f(x: "a TensorSpec that is none", y: "Tensor[int]" = 1) -> Any:  # type: ignore[valid-type, name-defined, syntax] # noqa: F722, F821, UP037
        return x + y

    f.__annotations__["y"] = {1: "a", "b": 2}
    for follow in (True, None):
        g = tf.function(f, autograph=False, experimental_follow_type_hints=follow)
        assert int(g(1)) == 2
        assert g.input_signature is None


def test_tensors_from_annotations_if_asked_for() -> None:
    def f(x: tf.Tensor, y: int) -> Any:
        return x + y

    hinted = tf.function(f, autograph=False, experimental_follow_type_hints=True)
    plain = tf.function(f, autograph=False)
    for n in (1, 2, 3):
        assert int(hinted(n, 1)) == int(plain(n, 1)) == n + 1

    assert hinted.experimental_get_tracing_count() == 1
    assert plain.experimental_get_tracing_count() == 3
    assert int(hinted(x=np.int32(5), y=1)) == 6
    assert hinted("a", "b").numpy() == b"ab"


def test_methods_with_annotations() -> None:
    class Model:
        @tf.function(autograph=False)
        def double(self, x: FLOATS) -> Any:  # type: ignore[valid-type]
            return x * 2

    model = Model()
    assert model.double([1]).numpy().tolist() == [2.0]
    assert model.double([1, 2]).numpy().tolist() == [2.0, 4.0]
    assert model.double.experimental_get_tracing_count() == 1
    assert "float32 Tensor, shape=(None,)" in str(model.double.get_concrete_function())


def test_which_part_of_an_argument_does_not_fit() -> None:
    spec = {"a": FLOATS, "b": [tf.TensorSpec([], tf.int32)]}
    f = tf.function(lambda d: 1, input_signature=[spec], autograph=False)

    with pytest.raises(ValueError, match=r"\(d\['b'\]\[0\] is float32\[\], not int32"):
        f({"a": [1.0], "b": [tf.constant(1.5)]})
    with pytest.raises(ValueError, match=r"\(d is a dict of 1 values, not a dict of 2"):
        f({"a": [1.0]})
