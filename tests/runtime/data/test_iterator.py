"""Iterators: in eager code, within graphs, as arguments, at the end, saved."""

from __future__ import annotations

import gc
import json
import threading
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter

Dataset = tf.data.Dataset


def numbers(values: Any) -> list[int]:
    return [int(value) for value in values]


def nodes(function: Any, *args: Any) -> int:
    graph = function.get_concrete_function(*args).graph
    return len(graph.as_graph_def().node)


@tf.function
def train(dataset: Any) -> Any:
    loss = tf.constant(0)
    for x, y in dataset:
        loss += tf.abs(y - x)
    return loss


def test_graphs_of_loops_over_data_sets_have_a_constant_size() -> None:
    small, big = [(1, 1)] * 3, [(1, 1)] * 10
    assert (nodes(train, small), nodes(train, big)) == (11, 32)
    of_small = Dataset.from_generator(lambda: small, (tf.int32, tf.int32))
    of_big = Dataset.from_generator(lambda: big, (tf.int32, tf.int32))
    assert (nodes(train, of_small), nodes(train, of_big)) == (6, 6)
    text = "shapes: (<unknown>, <unknown>), types: (tf.int32, tf.int32)"
    assert repr(of_small) == f"<FlatMapDataset {text}>"


def test_a_graph_shows_its_loop_over_a_data_set() -> None:
    pairs = Dataset.from_tensor_slices(([1, 2], [5, 7]))
    text = str(train.get_concrete_function(pairs).graph)
    assert "%0: variant[] 'dataset'" in text
    assert text.count("IteratorHasNext") == 2
    assert text.count("IteratorGetNext") == 1
    assert int(train(pairs)) == 9


def test_data_sets_of_one_spec_share_a_trace() -> None:
    @tf.function
    def total(dataset: Any) -> Any:
        found = np.int64(0)
        for x in dataset:
            found += tf.cast(x, tf.int64)
        return found

    assert int(total(Dataset.range(4))) == 6
    assert int(total(Dataset.range(2, 5).map(lambda x: x * 2))) == 18
    assert total.experimental_get_tracing_count() == 1
    assert int(total(Dataset.range(3, output_type=tf.int32).map(lambda x: x))) == 3
    assert total.experimental_get_tracing_count() == 2


def test_next_advances_an_iterator_at_each_call() -> None:
    @tf.function
    def consume(iterator: Any) -> Any:
        return next(iterator)

    iterator = iter(Dataset.from_tensor_slices([1, 2, 3]))
    assert numbers(consume(iterator) for _ in range(2)) == [1, 2]
    assert int(next(iterator)) == 3
    assert consume.experimental_get_tracing_count() == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="at its end"):
        consume(iterator)


def test_iterators_of_one_spec_share_a_trace() -> None:
    @tf.function
    def consume(iterator: Any) -> Any:
        return next(iterator)

    one, other = iter(Dataset.range(9)), iter(Dataset.range(50, 60))
    assert numbers([consume(one), consume(other), consume(one)]) == [0, 50, 1]
    assert consume.experimental_get_tracing_count() == 1


def test_a_captured_iterator_goes_on() -> None:
    iterator = iter(Dataset.range(5))

    @tf.function
    def two() -> Any:
        return next(iterator), next(iterator)

    assert numbers(two()) == [0, 1]
    assert numbers(two()) == [2, 3]


def test_a_captured_data_set_begins_again() -> None:
    dataset = Dataset.range(4)

    @tf.function
    def total() -> Any:
        found = 0
        for x in dataset:
            found += x
        return found

    assert (int(total()), int(total())) == (6, 6)


def test_a_loop_over_an_iterator_stops_where_python_would() -> None:
    def until(iterator: Any, limit: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x in iterator:
            if x >= limit:
                break
            found += x
        return found

    plain, staged = iter(Dataset.range(9)), iter(Dataset.range(9))
    limit = tf.constant(3, tf.int64)
    assert int(until(plain, limit)) == int(tf.function(until)(staged, limit)) == 3
    # The element that ended the loop is gone, and no other.
    assert (int(next(plain)), int(next(staged))) == (4, 4)


def test_loops_have_state_of_all_kinds() -> None:
    def survey(dataset: Any) -> Any:
        best, found = None, []
        for i, x in enumerate(dataset):
            if x % 2 == 0:
                continue
            if best is None or x > best:
                best = x
            found.append(x * i)
        else:
            found.append(-1)
        return best, found

    dataset = Dataset.from_tensor_slices([4, 7, 2, 5])
    best, found = tf.function(survey)(dataset)
    expected = survey(dataset)
    assert int(best) == int(expected[0]) == 7
    assert numbers(found) == numbers(expected[1]) == [7, 15, -1]


def test_nested_loops_start_anew() -> None:
    @tf.function
    def total(dataset: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for epoch in tf.range(3, dtype=tf.int64):
            for x in dataset.take(2):
                for y in dataset:
                    found += x * y * (epoch + 1)
        return found

    assert int(total(Dataset.range(1, 4))) == 3 * 6 * 6


def test_zip_len_and_comprehensions_in_a_graph() -> None:
    one, other = Dataset.range(3), Dataset.range(10, 20)

    @tf.function
    def run() -> Any:
        found = [x * y for x, y in zip(one, other)]
        return found, len(one), (1 if one else 2)

    found, length, truth = run()
    assert (numbers(found), int(length), int(truth)) == ([0, 11, 24], 3, 1)


def test_a_function_gives_a_data_set() -> None:
    @tf.function
    def prepared(dataset: Any, factor: Any) -> Any:
        return dataset.map(lambda x: x * factor).batch(2)

    found = prepared(Dataset.range(3), tf.constant(10, tf.int64))
    assert [batch.numpy().tolist() for batch in found] == [[0, 10], [20]]
    assert repr(found.element_spec) == repr(Dataset.range(3).batch(2).element_spec)
    again = prepared(Dataset.range(2), tf.constant(-1, tf.int64))
    assert [batch.numpy().tolist() for batch in again] == [[0, -1]]
    assert [batch.numpy().tolist() for batch in found] == [[0, 10], [20]]


def test_specs_stand_for_data_sets() -> None:
    spec = tf.data.DatasetSpec((tf.TensorSpec([], tf.int32),) * 2)
    concrete = train.get_concrete_function(spec)
    assert int(concrete(Dataset.from_tensor_slices(([1, 2], [5, 7])))) == 9

    @tf.function(input_signature=[tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))])
    def total(dataset: Any) -> Any:
        return dataset.reduce(np.int64(0), lambda a, b: a + b)

    assert int(total(Dataset.range(4))) == 6


def test_the_end() -> None:
    iterator = iter(Dataset.range(1))
    assert int(iterator.get_next()) == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    assert next(iterator, "end") == "end"
    optional = iter(Dataset.range(1)).get_next_as_optional()
    assert bool(optional.has_value())
    assert int(optional.get_value()) == 0
    nothing = iterator.get_next_as_optional()
    assert not bool(nothing.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no value"):
        nothing.get_value()
    assert repr(nothing) == "<tf.data.Optional no value>"


def test_optionals_of_a_graph() -> None:
    @tf.function
    def total(iterator: Any) -> Any:
        found, count = tf.constant(0, tf.int64), 0
        while True:
            optional = iterator.get_next_as_optional()
            if not optional.has_value():
                break
            x, pair = optional.get_value()
            found, count = found + x * pair["y"], count + 1
        return found, count

    numbers = Dataset.range(4)
    iterator = iter(Dataset.zip((numbers, Dataset.zip({"y": numbers.skip(1)}))))
    assert [int(n) for n in total(iterator)] == [0 * 1 + 1 * 2 + 2 * 3, 3]
    assert [int(n) for n in total(iterator)] == [0, 0]

    @tf.function
    def first(iterator: Any) -> Any:
        optional = iterator.get_next_as_optional()
        return optional.get_value(), optional.has_value()

    rows = iter(Dataset.range(3).batch(2))
    assert [first(rows)[0].numpy().tolist() for _ in range(2)] == [[0, 1], [2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no value"):
        first(rows)


def test_a_generator_s_error_keeps_its_traceback() -> None:
    def broken() -> Any:
        yield 1
        raise KeyError("mine")

    dataset = Dataset.from_generator(broken, tf.int32, [])

    @tf.function
    def run(dataset: Any) -> None:
        for x in dataset:
            tf.no_op()

    for consume in (list, run, lambda d: list(d.prefetch(1))):
        with pytest.raises(KeyError, match="mine") as caught:
            consume(dataset)
        assert caught.traceback[-1].name == "broken"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), "another structure"),
        ({"x": 1}, "component ..'y'. "[:10]),
        ({"x": [1, 2], "y": 1.0}, r"component \['x'\].*announced"),
        ({"x": 1, "y": "text"}, r"'text' for component \['y'\].*float32"),
        ({"x": 1.5, "y": 1.0}, r"1.5 for component \['x'\].*int32"),
    ],
)
def test_values_that_are_not_as_announced(value: Any, message: str) -> None:
    spec = {"x": tf.TensorSpec([], tf.int32), "y": tf.TensorSpec([], tf.float32)}
    dataset = Dataset.from_generator(lambda: [value], output_signature=spec)
    if value == {"x": 1}:
        message = "another structure"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        list(dataset)


def test_elements_that_cannot_be_stacked_name_the_component() -> None:
    dataset = Dataset.range(1, 3).map(lambda x: {"a": x, "b": tf.fill([x], x)})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"component \['b'\].*\[1\]"
    ):
        list(dataset.batch(2))


def test_threads_share_an_iterator() -> None:
    iterator = iter(Dataset.range(2000).map(lambda x: x + 1))
    found: list[int] = []

    def consume() -> None:
        for x in iterator:
            found.append(int(x))

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(1, 2001))


def pipeline() -> Any:
    return (
        Dataset.range(20)
        .shuffle(7)
        .map(lambda x: x * 2)
        .repeat(3)
        .shuffle(5, seed=3)
        .flat_map(lambda x: Dataset.range(x, x + 2).shuffle(2))
        .batch(8)
        .prefetch(2)
    )


@pytest.mark.parametrize("position", [0, 1, 5, 9, 14])
def test_an_iterator_goes_on_where_it_was_saved(position: int) -> None:
    dataset = pipeline()
    iterator = iter(dataset)
    for _ in range(position):
        next(iterator)
    saved = json.loads(json.dumps(iterator._save()))
    rest = [batch.numpy().tolist() for batch in iterator]
    # Another process has made its pipeline anew, and may have used it.
    other = pipeline()
    list(other.take(1))
    restored = iter(other)
    restored._restore(saved)
    assert [batch.numpy().tolist() for batch in restored] == rest


def test_what_cannot_be_restored() -> None:
    iterator = iter(Dataset.range(5))
    for _ in range(4):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError, match="now has 2"):
        iter(Dataset.range(2))._restore(iterator._save())


def test_a_look_ahead_is_not_counted_as_read() -> None:
    iterator = iter(Dataset.range(3))

    @tf.function
    def some(iterator: Any) -> Any:
        for x in iterator:
            if x == 1:
                break
        return 0

    some(iterator)
    assert iterator._save()["position"] == 2


def test_leaks_are_found() -> None:
    kept: list[Any] = []

    @tf.function
    def leak(x: Any) -> Any:
        kept.append(Dataset.from_tensors(x))
        return x

    leak(tf.constant(1))
    with pytest.raises(Exception, match="AG306"):
        list(kept[0])


def test_dropping_an_iterator_frees_its_data() -> None:
    class Marker:
        pass

    marker = Marker()
    alive = [True]

    def values() -> Any:
        held = marker  # noqa: F841
        try:
            yield 1
            yield 2
        finally:
            alive[0] = False

    iterator = iter(Dataset.from_generator(values, tf.int32, []))
    next(iterator)
    del iterator
    gc.collect()
    assert not alive[0]


def test_iter_and_next_with_a_default_in_a_graph() -> None:
    def three(dataset: Any) -> Any:
        iterator = iter(dataset)
        again = iter(iterator)
        first = next(iterator)
        second = next(again, np.int64(-1))
        return first, second, next(iterator, np.int64(-1))

    dataset = Dataset.range(5, 7)
    assert numbers(tf.function(three)(dataset)) == numbers(three(dataset)) == [5, 6, -1]


def test_an_iterator_goes_through_loops_and_branches() -> None:
    @tf.function
    def run(dataset: Any, n: Any) -> Any:
        iterator = iter(dataset)
        total = tf.constant(0, tf.int64)
        i = 0
        while i < n:
            if i % 2 == 0:
                total += next(iterator)
            i += 1
        return total, next(iterator)

    found = run(Dataset.range(10, 20), tf.constant(5))
    assert numbers(found) == [10 + 11 + 12, 13]


@pytest.mark.parametrize("use", [sum, max, sorted, lambda d: [x for x in d][0]])
def test_python_s_own_loops_are_refused_and_do_not_hang(use: Any) -> None:
    dataset = Dataset.range(3)
    for given in (dataset, iter(dataset)):
        staged = tf.function(lambda: use(given), autograph=False)
        with pytest.raises(Exception, match="AG303"):
            staged()


def test_loops_of_functions_that_run_eagerly() -> None:
    tf.config.run_functions_eagerly(True)
    try:
        assert int(train(Dataset.from_tensor_slices(([1, 2], [5, 7])))) == 9
    finally:
        tf.config.run_functions_eagerly(False)


def test_checkpoints_hold_iterators(tmp_path: Any) -> None:
    pytest.importorskip("safetensors")
    iterator = iter(pipeline())
    for _ in range(3):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "saved"))
    rest = [batch.numpy().tolist() for batch in iterator]
    restored = iter(pipeline())
    tf.train.Checkpoint(iterator=restored).restore(path).assert_consumed()
    assert [batch.numpy().tolist() for batch in restored] == rest


def test_checks_of_numbers_pass_over_handles() -> None:
    tf.debugging.enable_check_numerics()
    try:
        assert int(train(Dataset.from_tensor_slices(([1, 2], [5, 7])))) == 9
    finally:
        tf.debugging.disable_check_numerics()


def test_the_interpreter_runs_the_graphs() -> None:
    dataset = Dataset.from_tensor_slices(([1, 2], [5, 7]))
    graph = train.get_concrete_function(dataset).graph
    (found,) = interpreter.run(graph, [dataset._tensor()._array])
    assert int(found) == 9


def test_a_data_set_that_a_graph_makes_is_another_one_each_time() -> None:
    def kept(factor: Any) -> Any:
        dataset = Dataset.range(4).map(lambda x: x * factor).cache()
        total = np.int64(0)
        for _ in tf.range(2):
            for x in dataset:
                total += x
        return total

    def order() -> Any:
        return [x for x in Dataset.range(9).shuffle(9, seed=4)]

    for function in (kept, tf.function(kept)):
        factors = (tf.constant(n, tf.int64) for n in (1, 10))
        assert numbers(map(function, factors)) == [12, 120]
    staged = tf.function(order)
    assert numbers(staged()) == numbers(staged()) == numbers(order())
    free = tf.function(lambda: [x for x in Dataset.range(30).shuffle(30)])
    assert numbers(free()) != numbers(free())


def test_a_data_set_from_outside_stays_the_same_one() -> None:
    calls: list[int] = []

    def note(x: Any) -> Any:
        calls.append(1)
        return x

    dataset = (
        Dataset.range(3).map(lambda x: tf.py_function(note, [x], tf.int64)).cache()
    )
    shuffled = Dataset.range(9).shuffle(9, seed=4)

    @tf.function
    def run() -> Any:
        return [x for x in dataset], [x for x in shuffled]

    first, second = run()[1], run()[1]
    assert numbers(first) != numbers(second)
    assert len(calls) == 3
    eager = Dataset.range(9).shuffle(9, seed=4)
    assert [numbers(eager), numbers(eager)] == [numbers(first), numbers(second)]


def test_seeds_within_functions_of_data_sets() -> None:
    def shuffled(x: Any) -> Any:
        return Dataset.range(6).shuffle(6, seed=2)

    rows = numbers(Dataset.range(3).flat_map(shuffled))
    assert rows == numbers(Dataset.range(6).shuffle(6, seed=2)) * 3


dataset_of_the_module = Dataset.range(3)


def test_another_data_set_under_the_same_name_is_found() -> None:
    global dataset_of_the_module

    @tf.function
    def total() -> Any:
        found = np.int64(0)
        for x in dataset_of_the_module:
            found += x
        return found

    assert int(total()) == 3
    dataset_of_the_module = Dataset.range(5)
    assert int(total()) == 10


def test_a_data_set_that_a_loop_makes_is_another_one_in_each_iteration() -> None:
    def epochs(n: Any) -> Any:
        found = []
        for _ in tf.range(n):
            for x in Dataset.range(9).shuffle(9, seed=4):
                found.append(x)
        return found

    found = numbers(tf.function(epochs)(tf.constant(2)))
    assert found == numbers(epochs(tf.constant(2)))
    assert found[:9] == found[9:]


def test_the_length_of_an_argument() -> None:
    def last(dataset: Any) -> Any:
        n, found = len(dataset), tf.constant(-1, tf.int64)
        for i, x in enumerate(dataset):
            if i == n - 1:
                found = x
        return found, n

    for dataset in (Dataset.range(5), Dataset.range(9).take(3)):
        assert numbers(tf.function(last)(dataset)) == numbers(last(dataset))
    with pytest.raises(TypeError, match="has no end"):
        tf.function(last)(Dataset.range(5).repeat())
    with pytest.raises(TypeError, match="not known before"):
        tf.function(last)(Dataset.range(5).filter(lambda x: x > 2))
