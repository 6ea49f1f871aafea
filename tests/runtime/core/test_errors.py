"""The exceptions: TensorFlow's names and constructor, codes, messages."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

import runtime as tf
from runtime.core import errors

OP_ERRORS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type)
    and issubclass(value, errors.OpError)
    and value is not errors.TracedArgumentError  # a way to raise InvalidArgumentError
]


def test_tensorflow_constructor_and_short_form() -> None:
    full = errors.InvalidArgumentError(None, None, "bad shape")
    short = errors.InvalidArgumentError("bad shape")

    assert str(full) == str(short) == full.message == "bad shape"
    assert (full.node_def, full.op) == (short.node_def, short.op) == (None, None)


def test_op_is_named_once() -> None:
    error = errors.InvalidArgumentError("no").for_op("MatMul").for_op("Outer")

    assert str(error) == "cannot compute MatMul: no [Op:MatMul]"
    assert error.op == "MatMul"


@pytest.mark.parametrize("kind", OP_ERRORS)
def test_every_op_error_has_its_codes(kind: type[errors.OpError]) -> None:
    error = kind("text")

    assert error.code.startswith(("AG2", "AG3"))
    assert 1 <= error.error_code <= 16
    assert isinstance(error, errors.OpError)


def test_numbers_of_kinds() -> None:
    """``error_code`` is the constant of the name, for each of them."""
    for kind in OP_ERRORS:
        if kind in (
            errors.OpError,
            errors.DTypeMismatchError,
            errors.IntegerRangeError,
        ):
            continue
        words = re.findall("[A-Z][a-z]+", kind.__name__.removesuffix("Error"))
        assert kind.error_code == getattr(errors, "_".join(words).upper())
    given = errors.OpError(None, None, "text", errors.NOT_FOUND)
    assert (given.error_code, errors.OK) == (5, 0)


def test_a_failed_node_is_in_the_error() -> None:
    @tf.function(autograph=False)
    def f(x: object) -> object:
        return tf.debugging.check_numerics(x, "f")

    with pytest.raises(errors.InvalidArgumentError) as caught:
        f(tf.constant(float("nan")))

    node = caught.value.node_def
    assert (node.name, node.op, node.input) == (
        "CheckNumericsV2",
        "CheckNumericsV2",
        ["x:0"],
    )
    assert caught.value.op == "CheckNumericsV2"


def test_codes_are_not_shared() -> None:
    codes = [kind.code for kind in OP_ERRORS]

    assert len(set(codes)) == len(codes)


def test_python_families() -> None:
    """What Python calls a TypeError or ValueError is caught as one."""
    assert issubclass(errors.DTypeMismatchError, TypeError)
    assert issubclass(errors.DTypeMismatchError, errors.InvalidArgumentError)
    assert issubclass(errors.SymbolicTensorError, TypeError)
    assert issubclass(errors.InaccessibleTensorError, TypeError)
    assert issubclass(errors.ConversionError, TypeError)
    assert issubclass(errors.ConversionError, ValueError)


@pytest.mark.parametrize(
    "misfit",
    [
        lambda x, n: x + tf.constant([1.0, 2.0]),
        lambda x, n: tf.matmul(x, x),
        lambda x, n: tf.concat([x, x], 1),
        lambda x, n: tf.reshape(x, [2, 2]),
        lambda x, n: x[7],
        lambda x, n: tf.reduce_sum(x, axis=3),
        lambda x, n: tf.range(x),
    ],
)
def test_shapes_that_do_not_fit_are_a_value_error_while_tracing(misfit: Any) -> None:
    arguments = tf.constant([1.0, 2.0, 3.0]), tf.constant(2)
    with pytest.raises(errors.InvalidArgumentError) as eager:
        misfit(*arguments)
    assert not isinstance(eager.value, ValueError)
    with pytest.raises(ValueError) as traced:  # noqa: PT011
        tf.function(misfit)(*arguments)
    assert isinstance(traced.value, errors.InvalidArgumentError)
    assert str(traced.value).startswith(str(eager.value))
    assert (traced.value.op, traced.value.code) == (eager.value.op, "AG310")


@pytest.mark.parametrize(
    "misfit",
    [
        lambda x, n: x + n,
        lambda x, n: x < n,
        lambda x, n: tf.sqrt(n),
        lambda x, n: tf.logical_and(x, x),
        lambda x, n: tf.gather(x, x),
        lambda x, n: tf.one_hot(x, 3),
    ],
)
def test_dtypes_that_do_not_fit_are_a_type_error_everywhere(misfit: Any) -> None:
    for run in (misfit, tf.function(misfit)):
        with pytest.raises(TypeError) as caught:
            run(tf.constant([0.0, 1.0, 2.0]), tf.constant(2))
        assert isinstance(caught.value, errors.InvalidArgumentError)


def test_a_traced_function_may_catch_what_does_not_fit() -> None:
    @tf.function
    def product(x: Any) -> Any:
        try:
            return tf.matmul(x, tf.ones([3, 3]))
        except ValueError:
            return tf.zeros([])

    assert product(tf.ones([2, 2])).shape == ()
    assert product(tf.ones([2, 3])).shape == (2, 3)


def test_errors_survive_pickling() -> None:
    error = errors.NotFoundError("no such file").for_op("ReadFile")

    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_all_is_complete() -> None:
    exceptions = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }

    assert exceptions <= set(errors.__all__)
