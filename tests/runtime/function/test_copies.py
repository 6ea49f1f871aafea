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


class Traced(tf.Module):
    """Holds a trace that reads, changes and calls what the object holds."""

    def __init__(self) -> None:
        super().__init__()
        self.total = tf.Variable(1.0)
        self.numbers = tf.random.Generator.from_seed(3)
        self.seen: list[float] = []
        self.add = tf.function(self.added).get_concrete_function(
            tf.TensorSpec([], tf.float32)
        )

    def note(self, x: Any) -> Any:
        self.seen.append(float(x))
        return x

    def added(self, x: Any) -> Any:
        for _ in tf.range(2):
            if x > 0.0:
                self.total.assign_add(x)
        tf.py_function(self.note, [x], tf.float32)
        return {"total": self.total + 0.0, "number": self.numbers.uniform([])}


@pytest.mark.parametrize("run_before", [True, False])
def test_a_copied_trace_refers_to_what_was_copied(run_before: bool) -> None:
    module = Traced()
    if run_before:
        module.add(tf.constant(0.0))
    copied = copy.deepcopy(module)
    before = list(module.seen)
    result = copied.add(tf.constant(2.0))
    assert float(result["total"]) == float(copied.total) == 5.0
    assert float(module.total) == 1.0
    assert copied.seen == [*before, 2.0]
    assert module.seen == before
    assert copied.add.variables == (copied.total,)
    assert copied.add.captured_inputs[0] is copied.total
    # Each goes on with numbers of its own, from where the other was copied.
    assert float(module.add(tf.constant(0.0))["number"]) == float(result["number"])


def test_a_copied_trace_of_a_function_that_calls_itself() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def factorial(n: Any) -> Any:
        if n < 2:
            return 1
        return n * factorial(n - 1)

    copied = copy.deepcopy(factorial.get_concrete_function())
    assert int(copied(tf.constant(5))) == 120

    @tf.function
    def twice(n: Any) -> Any:
        return copied(n) * 2

    assert int(twice(tf.constant(3))) == 12


def test_a_copied_trace_knows_the_copied_arguments() -> None:
    class Scale:
        def __init__(self) -> None:
            self.by = tf.Variable(2)

    @tf.function
    def scaled(scale: Any, x: Any) -> Any:
        return scale.by * x

    scale = Scale()
    trace = scaled.get_concrete_function(scale, tf.TensorSpec([], tf.int32))
    copied, other = copy.deepcopy((trace, scale))
    other.by.assign(10)
    assert int(copied(other, tf.constant(3))) == 30
    assert int(trace(scale, tf.constant(3))) == 6
    with pytest.raises(TypeError, match="was traced with"):
        copied(scale, tf.constant(3))
