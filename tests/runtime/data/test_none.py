"""None within elements: a part without components. Results are TensorFlow's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

Dataset = tf.data.Dataset


def with_none(count: int) -> Any:
    return Dataset.range(count).map(lambda x: (x, None))


def plain(dataset: Any) -> Any:
    return list(dataset.as_numpy_iterator())


def test_specs() -> None:
    number = "TensorSpec(shape=(), dtype=tf.int32, name=None)"
    spec = Dataset.from_tensors((1, None)).element_spec
    assert repr(spec) == f"({number}, NoneTensorSpec())"
    assert spec == Dataset.from_tensors((2, None)).element_spec
    assert spec != Dataset.from_tensors((2, 3)).element_spec


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (Dataset.from_tensors((1, None)), [(1, None)]),
        (Dataset.from_tensors({"a": 1, "b": None}), [{"a": 1, "b": None}]),
        (Dataset.from_tensor_slices(([1, 2], None)), [(1, None), (2, None)]),
        (with_none(2), [(0, None), (1, None)]),
        (with_none(2).map(lambda x, y: (x, y is None)), [(0, True), (1, True)]),
        (with_none(2).batch(2).unbatch(), [(0, None), (1, None)]),
        (with_none(2).concatenate(with_none(1)), [(0, None), (1, None), (0, None)]),
        (Dataset.zip(with_none(1), Dataset.range(1)), [((0, None), 0)]),
        (with_none(2).filter(lambda x, y: x > 0), [(1, None)]),
        (with_none(2).cache().repeat(1).prefetch(1), [(0, None), (1, None)]),
        (with_none(3).shuffle(1).take(1).enumerate(), [(0, (0, None))]),
    ],
)
def test_elements(dataset: Any, expected: Any) -> None:
    assert plain(dataset) == expected
    assert [tf.nest.map_structure(_item, each) for each in dataset] == expected


def _item(leaf: Any) -> Any:
    return leaf if leaf is None else leaf.numpy().item()


def test_batches() -> None:
    for batches in (with_none(2).batch(2), with_none(2).padded_batch(2)):
        ((found, nothing),) = plain(batches)
        assert (found.tolist(), nothing) == ([0, 1], None)


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_loops_of_graphs(executor: str) -> None:
    if executor == "native":
        pytest.importorskip("llvmlite")

    @tf.function(executor=executor)
    def total(dataset: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x, y in dataset:
            assert y is None
            found += x
        return found

    assert total(with_none(4)) == 6
    assert total(with_none(5)) == 10
    assert total.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("executor", ["native", "xla"])
def test_functions_of_elements(executor: str) -> None:
    pytest.importorskip({"native": "llvmlite", "xla": "jax"}[executor])

    @tf.function(executor=executor)
    def double(x: Any, nothing: None) -> Any:
        assert nothing is None
        return x * 2, nothing

    assert plain(with_none(3).map(double)) == [(0, None), (2, None), (4, None)]


def test_iterators() -> None:
    @tf.function
    def first(iterator: Any) -> Any:
        some = iterator.get_next_as_optional()
        return some.has_value(), some.get_value(), next(iterator)

    has_value, value, after = first(iter(with_none(2)))
    assert (bool(has_value), value[1], after[1]) == (True, None, None)
    assert (int(value[0]), int(after[0])) == (0, 1)
    assert with_none(1).get_single_element()[1] is None


def test_states() -> None:
    data = Dataset.range(3)
    state = (np.int64(0), None)
    total = data.reduce(state, lambda s, x: (s[0] + x, s[1]))
    assert (int(total[0]), total[1]) == (3, None)
    sums = data.scan(state, lambda s, x: ((s[0] + x, None), (s[0] + x, None)))
    assert plain(sums) == [(0, None), (1, None), (3, None)]


def test_files(tmp_path: Path) -> None:
    data = with_none(2)
    data.save(str(tmp_path))
    found = Dataset.load(str(tmp_path), data.element_spec)
    assert plain(found) == [(0, None), (1, None)]


def test_refusals() -> None:
    with pytest.raises(TypeError, match="None is no element of a data set"):
        Dataset.from_tensors(None)
    with pytest.raises(TypeError, match="None is no element of a data set"):
        Dataset.range(2).map(lambda x: None)
    with pytest.raises(TypeError, match="elements are alike"):
        with_none(2).concatenate(Dataset.zip(Dataset.range(1), Dataset.range(1)))
