"""Deep copies of objects that hold functions: own variables and own traces."""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest

import runtime as tf


class Model(tf.Module):
    """Holds functions in all ways in which objects do."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = tf.Variable(2)
        self.attribute = tf.function(self.times)
        self.partial = tf.function(functools.partial(self.times, n=10))
        self.bound = self.decorated
        self.inside = [{"f": self.attribute}]

    def times(self, x: Any, n: Any = 1) -> Any:
        if x > 0:
            x = x * self.scale
        return x * n

    @tf.function
    def decorated(self, x: Any) -> Any:
        if x > 0:
            x = x * self.scale
        return x


CALLS = {
    "attribute": lambda model, x: model.attribute(x),
    "partial": lambda model, x: model.partial(x) // 10,
    "bound": lambda model, x: model.bound(x),
    "inside": lambda model, x: model.inside[0]["f"](x),
    "decorated": lambda model, x: model.decorated(x),
}


@pytest.mark.parametrize("traced_before", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_a_copy_has_its_own_variables(name: str, traced_before: bool) -> None:
    call, model = CALLS[name], Model()
    if traced_before:
        assert int(call(model, tf.constant(3))) == 6
    copied = copy.deepcopy(model)
    copied.scale.assign(5)
    assert int(call(copied, tf.constant(3))) == 15
    assert int(call(model, tf.constant(3))) == 6
    model.scale.assign(7)
    assert int(call(copied, tf.constant(3))) == 15
    assert int(call(model, tf.constant(3))) == 21


def test_a_copy_has_its_own_traces() -> None:
    model = Model()
    model.attribute(tf.constant(1))
    model.attribute(1)
    copied = copy.deepcopy(model)
    assert copied.attribute.experimental_get_tracing_count() == 0
    copied.attribute(tf.constant(1))
    assert copied.attribute.experimental_get_tracing_count() == 1
    assert model.attribute.experimental_get_tracing_count() == 2


def test_what_is_one_object_stays_one() -> None:
    copied = copy.deepcopy(Model())
    assert copied.inside[0]["f"] is copied.attribute
    assert copied.bound.__self__ is copied
    assert copied.attribute.python_function.__self__ is copied


def test_a_copy_that_begins_with_the_function() -> None:
    model = Model()
    copied = copy.deepcopy(model.attribute)
    other = copied.python_function.__self__
    assert other is not model
    assert other.attribute is copied
    other.scale.assign(9)
    assert int(copied(tf.constant(1))) == 9


def test_options_and_attributes_are_copied() -> None:
    spec = tf.TensorSpec([None], tf.float32)

    @tf.function(input_signature=[spec], reduce_retracing=True)
    def f(x: Any) -> Any:
        """Doubled."""
        return x + x

    f.notes = ["own"]
    copied = copy.deepcopy(f)
    assert copied.input_signature == (spec,)
    assert copied.python_function is f.python_function
    assert (copied.__name__, copied.__doc__) == ("f", "Doubled.")
    assert copied.notes == ["own"]
    assert copied.notes is not f.notes
    assert copied([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
