"""Data sets: how they are made, what they print, which errors they give."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import runtime as tf

Dataset = tf.data.Dataset


def numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


@pytest.mark.parametrize(
    ("dataset", "text"),
    [
        (Dataset.range(3), "<RangeDataset shapes: (), types: tf.int64>"),
        (
            Dataset.from_tensor_slices(([1, 2], ["a", "b"])).batch(2),
            "<BatchDataset shapes: ((None,), (None,)), types: (tf.int32, tf.string)>",
        ),
        (
            Dataset.from_tensor_slices({"x": [[1.0, 2.0]]}).map(lambda d: d["x"]),
            "<MapDataset shapes: (2,), types: tf.float32>",
        ),
        (Dataset.range(3).window(2), "<WindowDataset shapes: (), types: tf.variant>"),
        (
            Dataset.from_generator(lambda: [], (tf.int32, tf.int32)),
            "<FlatMapDataset shapes: (<unknown>, <unknown>), "
            "types: (tf.int32, tf.int32)>",
        ),
    ],
)
def test_repr(dataset: Any, text: str) -> None:
    assert repr(dataset) == str(dataset) == text


def test_structures() -> None:
    Point = namedtuple("Point", "x y")
    points = Dataset.from_tensor_slices(Point([1, 2], [3.0, 4.0]))
    assert next(iter(points)).y.numpy() == 3.0
    assert isinstance(points.element_spec, Point)
    swapped = points.map(lambda p: Point(p.y, p.x))
    assert isinstance(next(iter(swapped)), Point)
    ordered = Dataset.from_tensors({"b": 1, "a": (2, 3)})
    assert list(next(iter(ordered))) == ["b", "a"]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a: {"p": (a,)}, "[{'p': (0,)}]"),
        (lambda a: {"a": (a, a + 10), "b": ()}, "[{'a': (0, 10), 'b': ()}]"),
        (lambda a: {"b": {"c": a}, "a": a + 1}, "[{'b': {'c': 0}, 'a': 1}]"),
        (lambda a: ((a, a + 1), ()), "[((0, 1), ())]"),
    ],
)
def test_parts_that_are_as_many_as_leaves(function: Any, text: str) -> None:
    dataset = Dataset.range(1).map(function)
    for same in (dataset, dataset.cache(), dataset.batch(1).unbatch()):
        assert str(tf.nest.map_structure(int, list(same))) == text


def test_elements_without_tensors() -> None:
    nothing = Dataset.range(3).map(lambda a: ())
    assert list(nothing) == [(), (), ()]
    assert list(nothing.batch(2)) == [(), ()]
    with pytest.raises(ValueError, match="found no tensors"):
        Dataset.from_tensor_slices({"a": ()})


def test_elements_are_copied_from_arrays() -> None:
    array = np.arange(3)
    dataset = Dataset.from_tensor_slices(array)
    array[0] = 9
    assert numbers(dataset) == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Dataset.from_tensor_slices(3), ValueError, "a scalar"),
        (
            lambda: Dataset.from_tensor_slices(([1], [1, 2])),
            ValueError,
            r"component \[1\]",
        ),
        (lambda: Dataset.from_tensors((1, object())), TypeError, r"object at \[1\]"),
        (lambda: Dataset.from_tensors(None), TypeError, "None is no element"),
        (lambda: Dataset.range(), ValueError, "one to three"),
        (lambda: Dataset.range(0, 3, 0), tf.errors.InvalidArgumentError, "step"),
        (lambda: Dataset.range(3).batch(0), tf.errors.InvalidArgumentError, "positive"),
        (lambda: Dataset.range(3).batch(1.5), TypeError, "integer"),
        (lambda: Dataset.range(3).shuffle(0), ValueError, "buffer_size"),
        (lambda: Dataset.range(3).shard(2, 2), ValueError, "shard"),
        (lambda: Dataset.range(3).map(3), TypeError, "takes a function"),
        (lambda: Dataset.range(3).map(lambda x: None), TypeError, "None"),
        (lambda: Dataset.range(3).map(lambda: 1), TypeError, "argument"),
        (lambda: Dataset.range(3).filter(lambda x: x), TypeError, "scalar bool"),
        (lambda: Dataset.range(3).flat_map(lambda x: x), TypeError, "gives a data set"),
        (lambda: Dataset.range(3).unbatch(), ValueError, "first axis"),
        (lambda: Dataset.range(3).window(2).batch(2), TypeError, "stacks tensors"),
        (lambda: Dataset.zip([Dataset.range(1)]), TypeError, "not in a list"),
        (lambda: Dataset.zip((1, 2)), TypeError, "zip"),
        (
            lambda: Dataset.range(3).concatenate(Dataset.from_tensors("a")),
            TypeError,
            "alike",
        ),
        (lambda: Dataset.range(3).scan(0.0, lambda s, x: s), TypeError, "pair"),
        (lambda: Dataset.range(3).reduce(0, lambda s, x: x), TypeError, "state"),
        (lambda: Dataset.range(3).prefetch("x"), TypeError, "integer"),
        (lambda: Dataset.range(3).apply(lambda d: 1), TypeError, "apply"),
        (lambda: Dataset.from_generator([1], tf.int32), TypeError, "function"),
        (lambda: Dataset.from_generator(lambda: []), TypeError, "output_signature"),
        (lambda: len(Dataset.range(3).repeat()), TypeError, "no end"),
        (lambda: len(Dataset.range(3).filter(lambda x: x > 1)), TypeError, "not known"),
        (
            lambda: Dataset.range(2).get_single_element(),
            tf.errors.InvalidArgumentError,
            "more than one",
        ),
        (
            lambda: Dataset.range(3).map(lambda x: x, num_parallel_calls=0),
            ValueError,
            "num_parallel_calls",
        ),
    ],
)
def test_errors(make: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_errors_of_functions_show_their_lines() -> None:
    def wrong(x: Any) -> Any:
        return x + "text"

    with pytest.raises(TypeError, match="AG311") as caught:
        Dataset.range(3).map(wrong)
    assert "wrong" in [entry.name for entry in caught.traceback]


def test_same_seed_same_order() -> None:
    def order(seed: Any, **options: Any) -> list[list[int]]:
        dataset = Dataset.range(20).shuffle(8, seed=seed, **options)
        return [numbers(dataset), numbers(dataset), numbers(dataset.repeat(2))]

    assert order(3) == order(3)
    assert order(3) != order(4)
    first, second, twice = order(3)
    assert sorted(first) == list(range(20))
    assert first != second
    assert twice[:20] != twice[20:]
    first, second, twice = order(3, reshuffle_each_iteration=False)
    assert first == second == twice[:20] == twice[20:]


def test_the_global_seed_decides_too() -> None:
    def order() -> list[int]:
        tf.random.set_seed(5)
        return numbers(Dataset.range(20).shuffle(20))

    try:
        assert order() == order()
        other = numbers(Dataset.range(20).shuffle(20))
        assert order() != other
    finally:
        tf.random.set_seed(None)
    assert numbers(Dataset.range(50).shuffle(50)) != numbers(
        Dataset.range(50).shuffle(50)
    )


def test_each_element_is_drawn_from_the_buffer() -> None:
    for place, value in enumerate(numbers(Dataset.range(100).shuffle(10, seed=1))):
        assert value < place + 10


def test_samples_have_their_weights() -> None:
    ones, twos = Dataset.from_tensors(1).repeat(), Dataset.from_tensors(2).repeat()
    mixed = Dataset.sample_from_datasets([ones, twos], [0.25, 0.75], seed=2)
    drawn = numbers(mixed.take(2000))
    assert 0.2 < drawn.count(1) / 2000 < 0.3
    assert drawn == numbers(
        Dataset.sample_from_datasets([ones, twos], [0.25, 0.75], seed=2).take(2000)
    )


def test_functions_are_traced_once() -> None:
    traces: list[Any] = []

    def noted(x: Any) -> Any:
        traces.append(x)
        if x > 1:
            return x
        return -x

    dataset = Dataset.range(3).map(noted)
    assert (numbers(dataset), numbers(dataset), len(traces)) == ([0, -1, 2],) * 2 + (1,)


def test_functions_read_variables_as_they_are() -> None:
    factor = tf.Variable(2, dtype=tf.int64)
    dataset = Dataset.range(3).map(lambda x: x * factor)
    assert numbers(dataset) == [0, 2, 4]
    factor.assign(5)
    assert numbers(dataset) == [0, 5, 10]


def test_a_function_of_tf_function() -> None:
    @tf.function
    def double(x: Any) -> Any:
        return x * 2

    class Model(tf.Module):
        @tf.function
        def call(self, x: Any) -> Any:
            return x + 1

    assert numbers(Dataset.range(2).map(double).map(Model().call)) == [1, 3]


def test_generators_begin_anew() -> None:
    calls: list[int] = []

    def values() -> Any:
        calls.append(1)
        yield from range(3)

    dataset = Dataset.from_generator(values, tf.int64, [])
    assert (numbers(dataset), numbers(dataset.repeat(2)), len(calls)) == (
        [0, 1, 2],
        [0, 1, 2] * 2,
        3,
    )


def test_options_and_older_names() -> None:
    options = tf.data.Options()
    options.deterministic = True
    options.threading.private_threadpool_size = 2
    dataset = Dataset.range(4).with_options(options).batch(2)
    assert dataset.options() is options
    assert [x.numpy().tolist() for x in dataset] == [[0, 1], [2, 3]]
    found = Dataset.range(4).apply(tf.data.experimental.take_while(lambda x: x < 2))
    assert numbers(found) == [0, 1]
    assert tf.data.AUTOTUNE == tf.data.experimental.AUTOTUNE == -1
    count = tf.data.experimental.cardinality(Dataset.range(2).repeat())
    assert int(count) == tf.data.INFINITE_CARDINALITY
    assert int(Dataset.range(1).get_single_element()) == 0


def test_in_graphs_there_are_no_values() -> None:
    @tf.function
    def run() -> Any:
        return list(Dataset.range(3).as_numpy_iterator())

    with pytest.raises(RuntimeError, match="loop over"):
        run()


def test_reduce_cardinality_and_single_elements_in_a_graph() -> None:
    @tf.function
    def run(dataset: Any, n: Any) -> Any:
        total = dataset.reduce(
            (np.int64(0), n), lambda state, x: (state[0] + x * n, state[1])
        )
        return total, dataset.cardinality(), dataset.take(1).get_single_element()

    (total, n), count, first = run(Dataset.range(1, 5), tf.constant(3, tf.int64))
    assert (int(total), int(n), int(count), int(first)) == (30, 3, 4, 1)


def test_counts_may_be_tensors_of_a_graph() -> None:
    @tf.function
    def run(n: Any) -> Any:
        found = Dataset.range(n).skip(1).repeat(n).shard(2, 1).take(n).batch(n)
        return found.reduce(np.int64(0), lambda total, x: total + tf.reduce_sum(x))

    for n in (3, 4):
        plain = Dataset.range(n).skip(1).repeat(n).shard(2, 1).take(n)
        assert int(run(tf.constant(n, tf.int64))) == sum(numbers(plain))
    assert run.experimental_get_tracing_count() == 1
