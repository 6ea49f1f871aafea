"""Functions on elements run on the executor that the user asked for, and agree."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.data import functions
from runtime.data.node import Node

Dataset = tf.data.Dataset

COMPILERS = ("native", "xla")


@pytest.fixture(params=COMPILERS)
def executor(request: pytest.FixtureRequest, monkeypatch: Any) -> Iterator[str]:
    """An executor that functions run on which ask for none."""
    pytest.importorskip({"native": "llvmlite", "xla": "jax"}[request.param])
    if request.param == "native":
        from runtime.engines.native.background import Background

        monkeypatch.setattr(Background, "is_enabled", False)
    tf.config.set_executor(request.param)
    yield request.param
    tf.config.set_executor("numpy")
    tf.random.set_seed(None)


def executors_of(dataset: Any) -> list[str]:
    """What runs the functions of a data set."""
    return _executors_in(dataset._node)


def _executors_in(value: Any) -> list[str]:
    if isinstance(value, functions.DataFunction):
        return [value.executable.executor]
    if isinstance(value, Node):
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        return [name for part in value for name in _executors_in(part)]
    return []


# --- which executor -------------------------------------------------------------------


def double(x: Any) -> Any:
    return x * 2


def test_the_executor_of_the_program_is_taken(executor: str) -> None:
    dataset = Dataset.range(5).map(double).filter(lambda x: x > 2)

    assert executors_of(dataset) == [executor, executor]
    assert list(dataset.as_numpy_iterator()) == [4, 6, 8]
    tf.config.set_executor("numpy")
    assert executors_of(dataset) == [executor, executor]
    assert executors_of(Dataset.range(5).map(double)) == ["numpy"]


def test_the_executor_at_the_first_use_is_taken(executor: str) -> None:
    tf.config.set_executor("numpy")
    dataset = Dataset.range(3).map(double).batch(2)
    tf.config.set_executor(executor)

    assert [batch.tolist() for batch in dataset.as_numpy_iterator()] == [[0, 2], [4]]
    tf.config.set_executor("numpy")
    assert executors_of(dataset) == [executor]


def test_a_function_says_what_runs_it(executor: str) -> None:
    tf.config.set_executor("numpy")

    class Model:
        @tf.function(executor=executor)
        def double(self, x: Any, by: int = 2) -> Any:
            return x * by

    for function in (
        tf.function(double, executor=executor),
        Model().double,
        functools.partial(Model().double, by=2),
    ):
        dataset = Dataset.range(3).map(function)
        assert executors_of(dataset) == [executor]
        assert list(dataset.as_numpy_iterator()) == [0, 2, 4]

    tf.config.set_executor(executor)
    for says_numpy in ({"jit_compile": False}, {"executor": "numpy"}):
        dataset = Dataset.range(3).map(tf.function(double, **says_numpy))
        assert executors_of(dataset) == ["numpy"]


def test_jit_compile_is_taken() -> None:
    pytest.importorskip("llvmlite")
    dataset = Dataset.range(3).map(tf.function(double, jit_compile=True))

    assert executors_of(dataset) == ["native"]
    assert list(dataset.as_numpy_iterator()) == [0, 2, 4]


def test_blocks_run_on_the_executor(executor: str, monkeypatch: Any) -> None:
    taken = []
    compiled = functions.compiled

    def noted(graph: Any) -> Any:
        taken.append(compiled(graph))
        return taken[-1]

    monkeypatch.setattr(functions, "compiled", noted)
    batches = Dataset.range(10).map(lambda x: x * x + 1).batch(4)
    found = [batch.tolist() for batch in batches.as_numpy_iterator()]

    assert found == [[1, 2, 5, 10], [17, 26, 37, 50], [65, 82]]
    assert [program.executor for program in taken] == [executor]


# --- the same elements ----------------------------------------------------------------

X = np.random.default_rng(3).normal(size=(50, 3)).astype(np.float32)


def rows() -> Any:
    return Dataset.from_tensor_slices(X)


def steps(x: Any) -> Any:
    """A loop, a branch, and a dict."""
    total = tf.constant(0, tf.int64)
    while x > 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        total += 1
    return {"steps": total, "is long": total > 9}


def windows() -> Any:
    return Dataset.range(11).window(3, shift=2)


PIPELINES: dict[str, Callable[[], Any]] = {
    "map": lambda: rows().map(lambda x: tf.reduce_sum(x * x) + tf.exp(x[0])),
    "blocks": lambda: rows().map(lambda x: tf.sqrt(x * x) + 1.0).batch(7),
    "shuffled blocks": lambda: rows().shuffle(9, seed=4).map(lambda x: -x).batch(4),
    "a loop": lambda: Dataset.range(1, 30).map(steps),
    "threads": lambda: Dataset.range(1, 90).map(steps, num_parallel_calls=4),
    "prefetch": lambda: Dataset.range(1, 30).map(steps).prefetch(2),
    "filter": lambda: rows().filter(lambda x: tf.reduce_max(x) > 0.5),
    "take_while": lambda: Dataset.range(20).take_while(lambda x: x * x < 50),
    "scan": lambda: rows().scan(np.zeros(3, np.float32), lambda s, x: (s + x, s * x)),
    "flat_map": lambda: windows().flat_map(lambda w: w.batch(3)),
    "interleave": lambda: Dataset.range(4).interleave(
        lambda x: Dataset.range(x).map(double), 2, num_parallel_calls=2
    ),
    "group_by_window": lambda: Dataset.range(20).group_by_window(
        lambda x: x % 3, lambda key, group: group.batch(4), 4
    ),
    "open shapes": lambda: (
        Dataset.range(1, 9).map(tf.range).map(lambda r: tf.reduce_sum(r * r))
    ),
    "texts": lambda: Dataset.from_tensor_slices(["3", "14", "x"]).map(
        lambda t: (tf.strings.length(t), t + "!")
    ),
    "texts of numbers": lambda: Dataset.range(3).map(tf.strings.as_string),
    "complex": lambda: rows().map(lambda x: tf.complex(x, x) * 2.0),
    "weighted": lambda: Dataset.sample_from_datasets(
        [Dataset.range(9), Dataset.range(50, 59)], [0.3, 0.7], seed=1
    ),
}


def elements_of(make: Callable[[], Any]) -> list[list[Any]]:
    return [
        [np.asarray(leaf) for leaf in tf.nest.flatten(element)]
        for element in make().as_numpy_iterator()
    ]


def check_equal(found: list[list[Any]], expected: list[list[Any]]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        for left, right in zip(one, other):
            assert (left.dtype, left.shape) == (right.dtype, right.shape)
            if left.dtype.kind in "fc":
                np.testing.assert_allclose(left, right, 2e-6, 1e-6)
            else:
                np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", PIPELINES)
def test_elements_are_the_same(name: str, executor: str) -> None:
    tf.config.set_executor("numpy")
    expected = elements_of(PIPELINES[name])
    tf.config.set_executor(executor)
    check_equal(elements_of(PIPELINES[name]), expected)


def test_reduce(executor: str) -> None:
    total = Dataset.range(100).reduce(np.int64(3), lambda state, x: state * 7 + x)
    expected = 3
    for x in range(100):
        expected = (expected * 7 + x + 2**63) % 2**64 - 2**63
    assert int(total) == expected


@pytest.mark.parametrize("threads", [None, 4])
def test_random_numbers_are_the_same(executor: str, threads: int | None) -> None:
    def drawn(name: str) -> list[list[float]]:
        tf.config.set_executor(name)
        tf.random.set_seed(7)
        noisy = Dataset.range(40).map(
            lambda x: tf.random.uniform([2]), num_parallel_calls=threads
        )
        # Threads draw in any order, and each number goes to one of them.
        order = sorted if threads else list
        return [order([e.tolist() for e in noisy.as_numpy_iterator()]) for _ in "ab"]

    first = drawn(executor)
    assert first == drawn("numpy")
    assert first[0] != first[1]


def test_effects_happen_once_for_each_element(executor: str) -> None:
    count = tf.Variable(0)
    called: list[int] = []

    def noted(x: Any) -> Any:
        count.assign_add(1)
        spec = tf.TensorSpec([], tf.int64)
        return tf.py_function(lambda v: called.append(int(v)) or v, [x], spec)

    for threads in (None, 4):
        count.assign(0)
        called.clear()
        dataset = Dataset.range(50).map(noted, num_parallel_calls=threads)
        assert list(dataset.as_numpy_iterator()) == list(range(50))
        assert int(count) == 50
        assert sorted(called) == list(range(50))


def test_variables_are_read_for_each_element(executor: str) -> None:
    factor = tf.Variable(np.int64(1))
    found = []
    for x in Dataset.range(4).map(lambda x: x * factor):
        found.append(int(x))
        factor.assign_add(1)
    assert found == [0, 2, 6, 12]


def test_captures_of_a_function_around(executor: str) -> None:
    @tf.function(executor="numpy")
    def total(dataset: Any, factor: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x in dataset.map(lambda x: x * factor):
            found += x
        return found

    assert int(total(Dataset.range(5), tf.constant(3, tf.int64))) == 30


@pytest.mark.parametrize("threads", [None, 3])
def test_errors_have_their_lines(executor: str, threads: int | None) -> None:
    def inverse(x: Any) -> Any:
        return 12 // (x - 2)  # the line that fails

    dataset = Dataset.range(5).map(inverse, num_parallel_calls=threads)
    assert executors_of(dataset) == [executor]
    found: list[Any] = []
    iterator = iter(dataset)
    for _ in range(5):
        try:
            found.append(int(next(iterator)))
        except tf.errors.InvalidArgumentError as error:
            found.append((str(error), traceback.extract_tb(error.__traceback__)[-1]))
    message, last = found.pop(2)
    assert found == [-6, -12, 12, 6]
    assert f"at {__file__}:{last.lineno}" in message
    assert "# the line that fails" in message
    assert "# the line that fails" in last.line


def test_what_a_function_asks_of_xla_is_refused() -> None:
    pytest.importorskip("jax")
    asks = tf.function(lambda t: t + "!", executor="xla")
    with pytest.raises(tf.errors.UnimplementedError, match="executor='numpy' runs it"):
        list(Dataset.from_tensor_slices(["a"]).map(asks))
