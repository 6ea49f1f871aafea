"""Gradients on XLA: as on NumPy, and as JAX differentiates what they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.models import MODELS, check, gradients, losses
from tests.runtime.autodiff.programs import PROGRAMS
from tests.runtime.autodiff.test_programs import X, on_tape, plain
from tests.turns import quarter

jax = pytest.importorskip("jax")


@pytest.mark.slow
def test_models() -> None:
    parameters = [p for _, p in MODELS]
    found = tf.function(lambda p: gradients(MODELS, p), executor="xla")(parameters)
    check(MODELS, found, tf.function(lambda p: gradients(MODELS, p))(parameters))


def test_models_beside_jax() -> None:
    cases = quarter(MODELS)
    parameters = [p for _, p in cases]
    function = tf.function(lambda p: losses(cases, p))
    pure = function.get_concrete_function(parameters).to_jax()
    arrays = tf.nest.map_structure(lambda t: jax.numpy.asarray(t.numpy()), parameters)
    check(cases, gradients(cases, parameters), jax.jit(jax.grad(pure))(arrays))


#: What XLA cannot know the lengths of, nor call: recursion, texts, lists of lists.
NOT_ON_XLA = set(
    """
    nested_loops inner_count_by_outer three_loops texts_beside_floats nested_breaks
    growing_array list_that_grows list_in_while list_of_some list_items stack_machine
    list_insert list_extend list_slice bubble_sort list_comprehension scan_by_hand
    dict_with_staged_keys recursion_of_a_tensor recursion_until_it_is_small
    recursion_of_two recursion_over_a_tree
    """.split()
)


@pytest.mark.slow
def test_programs() -> None:
    names = quarter([name for name in PROGRAMS if name not in NOT_ON_XLA])

    def all_of_them(x: Any) -> Any:
        return [on_tape(plain(name))(x) for name in names]

    x = tf.constant(X)
    found = tf.function(all_of_them, executor="xla")(x)
    for name, one, other in zip(names, found, tf.function(all_of_them)(x)):
        np.testing.assert_allclose(one, other, 1e-9, 1e-11, err_msg=name)
