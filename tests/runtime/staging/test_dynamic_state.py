"""What helpers and methods change in a staged statement is merged."""

from __future__ import annotations

import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify
from tests import list_programs, object_programs, state_programs

VALUES = state_programs.VALUES
PROGRAMS = [
    *state_programs.PROGRAMS,
    *list_programs.PROGRAMS,
    *object_programs.PROGRAMS,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_staged_is_eager_is_python(program) -> None:
    expected = [program(value) for value in VALUES]
    converted = tf.autograph.to_graph(program)
    tensors = [tf.constant(value) for value in VALUES]
    function = tf.function(program)
    concrete = function.get_concrete_function(tensors[0])
    arrays = [[tensor._array] for tensor in tensors]

    verify(concrete.graph)
    assert [int(converted(tensor)) for tensor in tensors] == expected
    assert [int(interpreter.run(concrete.graph, a)[0]) for a in arrays] == expected
    assert [int(concrete.executable(a)[0]) for a in arrays] == expected
    assert [int(function(tensor)) for tensor in tensors] == expected
    assert function.experimental_get_tracing_count() == 1
