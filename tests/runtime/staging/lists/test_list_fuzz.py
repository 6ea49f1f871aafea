"""Random programs with lists, staged by both executors, against Python."""

from __future__ import annotations

import linecache

import pytest

import runtime as tf
from autograph import AutographError
from runtime.core.errors import TracingError
from runtime.engines import interpreter
from tests.list_world import random_list_program
from tests.turns import by_turns

ARGUMENTS = (0, 1, 3)


def outcome(function, *args):
    """What a call gives, or the class of the error that it raises.

    Of two errors the one that Python raises first may be raised second: one that does
    not depend on tensors is raised while tracing.
    """
    try:
        result = function(*args)
    except Exception as error:
        return type(error)
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, result
    )


def load(seed):
    text, name = random_list_program(seed), f"<list program {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    namespace = {"__name__": "list_program"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("seed", by_turns(range(120)))
def test_a_random_program_gives_what_python_gives_or_is_refused(seed):
    function = load(seed)
    expected = {n: outcome(function, n) for n in ARGUMENTS}
    try:
        staged = tf.function(function)
        concrete = staged.get_concrete_function(tf.TensorSpec([], tf.int32))
    except (AutographError, TracingError):
        pytest.skip("refused")
    except IndexError:
        assert all(isinstance(found, type) for found in expected.values())
        return

    def interpreted(value):
        found = interpreter.run(concrete.graph, [value.numpy()])
        return concrete._trace.results.pack(list(map(tf.constant, found)))

    for n, found in expected.items():
        assert outcome(concrete, tf.constant(n)) == found
        assert outcome(interpreted, tf.constant(n)) == found
