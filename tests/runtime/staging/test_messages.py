"""What staging refuses is named as the program calls it, with a code and a line."""

from __future__ import annotations

import contextlib
import dis
from collections import deque

import pytest

import autograph
import runtime as tf
from runtime.core.errors import StagedStateError, SymbolicTensorError
from runtime.staging.state.values import describe


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


def test_python_cannot_walk_a_range_of_tensors():
    def use(n):
        return range(n)[1]

    with pytest.raises(StagedStateError, match=r"test_messages\.py:\d+: AG303"):
        tf.function(use)(tf.constant(3))


def test_a_symbolic_tensor_cannot_be_formatted():
    with pytest.raises(SymbolicTensorError, match=r"test_messages\.py:\d+: AG302"):
        tf.function(lambda x: f"{x:.2f}", autograph=False)(tf.constant(1.0))


def test_a_symbolic_tensor_without_a_format_is_its_repr():
    texts = []
    tf.function(lambda x: texts.append(f"{x}"), autograph=False)(tf.constant(1.0))
    assert texts == ['Tensor("x:0", shape=(), dtype=float32)']


# --- misuse within branches, loops and generators -------------------------------------


def adds_a_key(n):
    table = {}
    if n > 1:
        table["a"] = 1
    return table


def indexes_a_deque(n):
    return deque([4, 5, 6])[n]


def counts_in_a_generator(n):
    def up_to(limit):
        i = 0
        while i < limit:
            yield i
            i += 1

    return sum(up_to(n))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (adds_a_key, r"AG201: .*adds no keys or attributes: assign table\['a'\]"),
        (indexes_a_deque, r"AG302: .*first make a list: `items = list\(items\)`"),
        (counts_in_a_generator, r"AG301: .*by a generator or coroutine.*make a list"),
    ],
)
def test_misuse_is_located_with_a_way_out(program, message):
    with pytest.raises(TypeError, match=message):
        tf.function(program)(tf.constant(2))


@contextlib.contextmanager
def inside_a_graph():
    with tf.Graph().as_default():
        yield tf.zeros([2])


def enters_a_graph():
    with inside_a_graph() as x:
        return "big" if x[0] > 1 else "small"


def is_resumed():
    x = yield
    yield "big" if x > 1 else "small"


def test_staging_that_begins_in_the_middle_of_a_function_is_refused():
    with pytest.raises(TypeError, match=r"AG301: .*in `enters_a_graph`, which began"):
        autograph.convert(enters_a_graph)()


def test_a_generator_that_is_resumed_in_a_trace_is_refused():
    generator = autograph.convert(is_resumed)()
    next(generator)

    with pytest.raises(TypeError, match=r"AG301: .*in `is_resumed`, which began"):
        tf.function(lambda x: generator.send(x))(tf.constant(2))


def test_a_function_that_enters_a_graph_itself_is_staged():
    def enters():
        with tf.Graph().as_default():
            x = tf.zeros([2])
            return "big" if x[0] > 1 else "small"

    assert "Tensor" in str(autograph.convert(enters)())


def test_a_graph_that_is_entered_by_another_name_is_refused():
    def enters(graph):
        enter = getattr(graph, "as_" + "default")
        with enter():
            return "big" if tf.zeros([]) > 1 else "small"

    with pytest.raises(TypeError, match=r"AG301: .*in `enters`, which began"):
        autograph.convert(enters)(tf.Graph())


def test_a_method_that_is_called_like_that_of_a_graph_means_what_it_does():
    class Settings:
        @contextlib.contextmanager
        def as_default(self):
            yield [1, 2]

    def program(settings, n):
        with settings.as_default() as found:
            return found if n > 1 else None

    converted = autograph.convert(program)

    assert [converted(Settings(), n) for n in (1, 2)] == [None, [1, 2]]
    assert int(tf.function(lambda n: converted(Settings(), n)[1])(3)) == 2


def test_a_tensor_in_a_graph_never_changes():
    def program(x):
        x[0] = 1.0
        return x

    with pytest.raises(TypeError, match=r"AG314.*\n.*AG314 at .*test_messages"):
        tf.function(program)(tf.constant([2.0]))
