"""What helpers and methods change in a staged statement is merged."""

from __future__ import annotations

import pytest

import runtime as tf
from tests.state_programs import PROGRAMS, VALUES


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.__name__ for p in PROGRAMS])
def test_staged_is_eager_is_python(program) -> None:
    expected = [program(value) for value in VALUES]
    converted = tf.autograph.to_graph(program)
    tensors = [tf.constant(value) for value in VALUES]

    assert [int(converted(tensor)) for tensor in tensors] == expected
    function = tf.function(program)
    assert [int(function(tensor)) for tensor in tensors] == expected
