"""Gradients of loops and branches whose tensors have shapes that only a run knows."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from runtime.engines.native.background import Background
from tests.runtime.autodiff.agreement import EXECUTORS, differences, try_program
from tests.runtime.autodiff.programs import PROGRAMS
from tests.runtime.autodiff.test_programs import Tensors, X
from tests.turns import EVERYTHING, by_turns

OPEN = ("open length", "open rank")
ON_NUMPY = ("interpreter", "numpy")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Background, "is_enabled", False)


@pytest.mark.parametrize(
    "step",
    [
        lambda y, x: y * x,
        lambda y, x: y / x,
        lambda y, x: tf.where(y > 1.0, y, y * x),
        lambda y, x: tf.tanh(y) * x,
        lambda y, x: tf.atan2(y, x),
        lambda y, x: tf.pow(x, y),
        lambda y, x: tf.math.cosh(tf.maximum(y, x)),
    ],
    ids=["multiply", "divide", "where", "tanh", "atan2", "pow", "cosh"],
)
def test_a_loop_of_one_operation(step: Any) -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            y = step(y, x)
        return y

    for values, kind in (([0.5, 1.5, 2.0], OPEN[0]), ([2.0], OPEN[1]), ([], OPEN[0])):
        x = tf.constant(values, tf.float64)
        assert not list(differences(f, [x], [kind], ON_NUMPY))


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_all_executors_on_nested_loops(executor: str) -> None:
    def f(x: Any, n: Any) -> Any:
        y = x
        for i in tf.range(3):
            for _ in tf.range(2):
                y = y * x if tf.reduce_sum(y) < 5.0 else tf.sin(y) - x
            if i == n:
                break
        return y

    x = tf.constant([2.0, 0.5])
    found = differences(lambda x: f(x, 1), [x], OPEN, [executor], tolerance=1e-5)
    assert not list(found)


@pytest.mark.parametrize("name", by_turns(list(PROGRAMS)))
def test_programs(name: str) -> None:
    x = [tf.constant(X)]
    program = PROGRAMS[name]
    found = differences(lambda x: program(Tensors, x), x, OPEN, ["numpy"])
    assert not list(found)


_RECURSION = "XLA has no recursion"
_COUNT_OF_ROWS = "XLA needs to know the shape of a result when it compiles"
#: What XLA says of programs that it does not run, also where all shapes are known.
REFUSED_BY_XLA = {
    # Lists and arrays that are as long as the program makes them.
    **dict.fromkeys(("growing_array", "list_extend", "list_slice"), _COUNT_OF_ROWS),
    **dict.fromkeys(
        ("list_of_some", "list_that_grows", "scan_by_hand"), _COUNT_OF_ROWS
    ),
    "list_insert": "XLA needs to know the length of what TensorScatterAdd is given",
    **dict.fromkeys(("recursion_of_a_tensor", "recursion_of_two"), _RECURSION),
    **dict.fromkeys(
        ("recursion_over_a_tree", "recursion_until_it_is_small"), _RECURSION
    ),
    "texts_beside_floats": "XLA cannot run TensorArrayV3",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    by_turns([(name, OPEN[k % 2]) for k, name in enumerate(PROGRAMS)]),
)
def test_programs_on_xla(name: str, kind: str) -> None:
    pytest.importorskip("jax")
    x, program = [tf.constant(X)], PROGRAMS[name]
    found = differences(
        lambda x: program(Tensors, x),
        x,
        [kind],
        ["xla"],
        refusal=REFUSED_BY_XLA.get(name, ""),
    )
    assert not list(found)


@pytest.mark.parametrize("seed", range(400) if EVERYTHING else (0, 1, 3, 9))
def test_random_programs(seed: int) -> None:
    try_program(seed, EXECUTORS if EVERYTHING else ON_NUMPY)


# --- lists and arrays -----------------------------------------------------------------


def _two_lists_that_grow(x: Any) -> Any:
    values = [x * 0.5]
    for _ in tf.range(3):
        values.append(values[-1] * x)
    one, other = list(values), list(values)
    if tf.reduce_sum(x) > 0:
        for i in tf.range(2):
            one.append(one[i] * x)
    for i in tf.range(9):
        other.append(tf.sin(other[i] * x))
    return tf.reduce_sum(tf.stack(one)) + tf.reduce_sum(tf.stack(other) ** 2)


def _list_of_one_that_grows_elsewhere(x: Any) -> Any:
    values = [x[0] * x[1]]
    other = list(values)
    for _ in tf.range(2):
        other.append(other[-1] * x[2])
    for _ in tf.range(2):
        values[0] = values[0] * x[2]
    return tf.reduce_sum(tf.stack(other) ** 2) + values[0]


def _two_arrays_that_grow(x: Any) -> Any:
    array = tf.TensorArray(x.dtype, 0, dynamic_size=True, clear_after_read=False)
    one = other = array.unstack(x)
    for i in tf.range(2):
        one = one.write(4 + i, x[i] * one.read(i))
    for i in tf.range(20):
        other = other.write(4 + i, x[3] * other.read(i))
    return tf.reduce_sum(one.stack()) + tf.reduce_sum(other.stack() ** 2)


@pytest.mark.parametrize(
    "f",
    [_two_lists_that_grow, _list_of_one_that_grows_elsewhere, _two_arrays_that_grow],
)
@pytest.mark.parametrize("kind", ["static", *OPEN])
def test_buffers_of_different_lengths(f: Any, kind: str) -> None:
    assert not list(differences(f, [tf.constant(X)], [kind], ON_NUMPY))
