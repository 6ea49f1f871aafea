"""What staging refuses is named as the program calls it, with a code and a line."""

from __future__ import annotations

import dis

import pytest

import runtime as tf
from runtime.errors import StagedStateError, SymbolicTensorError
from runtime.staging.values import describe


def test_a_loop_that_grows_an_empty_tuple_is_refused():
    @tf.function
    def f(n):
        items = ()
        for i in range(n):
            items += (i,)
        return items

    with pytest.raises(StagedStateError, match=r"test_messages\.py:\d+: AG202") as info:
        f(tf.constant(3))
    assert "'items' is a tuple of 0 items before" in str(info.value)
    assert "a tuple of 1 item after" in str(info.value)


def test_structures_are_told_apart():
    @tf.function
    def f(x):
        result = {"a": x}
        if x > 0:
            result = {"b": x}
            x += 1
        return result

    with pytest.raises(StagedStateError, match="AG201") as info:
        f(tf.constant(1))
    assert "a dict with the keys 'b' where the condition holds" in str(info.value)
    assert "a dict with the keys 'a' where it does not" in str(info.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([1, 2], "a list of 2 items"),
        (dis.dis, "the function 'dis'"),
        (print, "a Python object of type builtin_function_or_method"),
    ],
)
def test_values_are_described(value, text):
    assert describe(value) == text


@pytest.mark.parametrize(
    "use",
    [
        lambda n: dict(enumerate(tf.ones([n]))),
        lambda n: range(n)[1],
    ],
)
def test_python_cannot_walk_a_range_of_tensors(use):
    with pytest.raises(StagedStateError, match=r"test_messages\.py:\d+: AG303"):
        tf.function(use)(tf.constant(3))


def test_a_symbolic_tensor_cannot_be_formatted():
    with pytest.raises(SymbolicTensorError, match=r"test_messages\.py:\d+: AG302"):
        tf.function(lambda x: f"{x:.2f}", autograph=False)(tf.constant(1.0))


def test_a_symbolic_tensor_without_a_format_is_its_repr():
    texts = []
    tf.function(lambda x: texts.append(f"{x}"), autograph=False)(tf.constant(1.0))
    assert texts == ['Tensor("x:0", shape=(), dtype=float32)']
