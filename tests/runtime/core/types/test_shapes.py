"""Partial shapes: TensorFlow's TensorShape, and broadcasting against NumPy."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.core.types.shapes import TensorShape, as_shape, broadcast_static_shape

dims = st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=4)
partial = st.one_of(st.none(), dims).map(TensorShape)


@pytest.mark.parametrize(
    ("value", "representation", "text"),
    [
        (None, "TensorShape(None)", "<unknown>"),
        ([], "TensorShape([])", "()"),
        ((), "TensorShape([])", "()"),
        (3, "TensorShape([3])", "(3,)"),
        ([2, None], "TensorShape([2, None])", "(2, None)"),
        (np.array([2, 3]), "TensorShape([2, 3])", "(2, 3)"),
        (TensorShape([1]), "TensorShape([1])", "(1,)"),
        ((np.int64(2), True), "TensorShape([2, 1])", "(2, 1)"),
    ],
)
def test_construction(value: Any, representation: str, text: str) -> None:
    shape = TensorShape(value)

    assert repr(shape) == representation
    assert str(shape) == text
    assert all(type(dim) in (int, type(None)) for dim in shape.dims or ())


@pytest.mark.parametrize(
    ("value", "error"),
    [([-1], ValueError), ("ab", TypeError), ([1.5], TypeError), ([[1]], TypeError)],
)
def test_refuses(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="dimension"):
        TensorShape(value)


def test_facts() -> None:
    known, some, none = TensorShape([2, 3]), TensorShape([2, None]), TensorShape(None)

    assert [s.rank for s in (known, some, none)] == [2, 2, None]
    assert [s.ndims for s in (known, some, none)] == [2, 2, None]
    assert [s.num_elements() for s in (known, some, none)] == [6, None, None]
    assert [s.is_fully_defined() for s in (known, some, none)] == [True, False, False]
    assert [bool(s) for s in (known, TensorShape([]), none)] == [True, True, False]
    assert known.as_list() == [2, 3]
    assert known.dims == [2, 3]
    assert none.dims is None
    with pytest.raises(ValueError, match="not fully known"):
        some.assert_is_fully_defined()
    for ask in (TensorShape.as_list, len, iter, list):
        with pytest.raises(ValueError, match="rank is unknown"):
            ask(none)  # type: ignore[arg-type]


def test_as_a_sequence() -> None:
    shape = TensorShape([2, None, 4])

    assert (len(shape), list(shape), shape[0], shape[-1]) == (3, [2, None, 4], 2, 4)
    assert shape[1:] == TensorShape([None, 4])
    assert (shape + [5], [1] + shape) == ([2, None, 4, 5], [1, 2, None, 4])
    assert TensorShape(None)[3] is None
    assert TensorShape(None)[1:] == TensorShape(None)
    assert TensorShape(None)[1:3] == TensorShape([None, None])
    assert TensorShape(None) + [1] == TensorShape(None)
    with pytest.raises(IndexError):
        shape[3]


def test_equality_and_hash() -> None:
    shape = TensorShape([2, None])

    assert shape == [2, None] == shape
    assert shape == (2, None)
    assert shape != [2, 3]
    assert shape != "2"
    assert TensorShape(None) == TensorShape(None)
    assert len({shape, TensorShape((2, None)), TensorShape(None)}) == 2
    assert pickle.loads(pickle.dumps(shape)) == copy.deepcopy(shape) == shape


def test_relations() -> None:
    shape = TensorShape([2, None])

    assert shape.merge_with([None, 3]) == [2, 3]
    assert shape.merge_with(None) is shape
    assert shape.is_compatible_with([2, 9])
    assert not shape.is_compatible_with([2])
    assert shape.is_subtype_of([None, None])
    assert shape.is_subtype_of(None)
    assert not shape.is_subtype_of([2, 3])
    assert shape.most_specific_common_shape([2, 3]) == [2, None]
    assert shape.most_specific_common_shape([2]) == TensorShape(None)
    assert shape.with_rank(2) is shape
    assert TensorShape(None).with_rank(2) == [None, None]
    assert shape.with_rank_at_least(1) is shape
    assert shape.with_rank_at_most(2) is shape
    assert TensorShape(None).with_rank_at_most(0) == TensorShape(None)
    assert shape.most_specific_compatible_shape([3, 3]) == [None, None]
    shape.assert_has_rank(2)
    shape.assert_same_rank([1, 1])
    shape.assert_same_rank(None)
    with pytest.raises(ValueError, match="at most rank 1"):
        shape.with_rank_at_most(1)
    with pytest.raises(ValueError, match="does not have rank 1"):
        shape.assert_same_rank([1])
    with pytest.raises(ValueError, match=r"\(2, None\) and \(3, 3\) differ"):
        shape.merge_with([3, 3])
    with pytest.raises(ValueError, match="rank 3"):
        shape.with_rank(3)
    with pytest.raises(ValueError, match="at least rank 3"):
        shape.with_rank_at_least(3)


@given(partial, partial)
def test_merge_is_the_meet_and_join_the_join(a: TensorShape, b: TensorShape) -> None:
    common = a.most_specific_common_shape(b)

    assert a.is_subtype_of(common)
    assert b.is_subtype_of(common)
    if a.is_compatible_with(b):
        merged = a.merge_with(b)
        assert merged.is_subtype_of(a)
        assert merged.is_subtype_of(b)
        assert merged == b.merge_with(a)


def fillings(shape: TensorShape) -> Any:
    """Full shapes that a partial one of known rank may turn out to be."""
    choices = [[dim] if dim is not None else [1, 2, 3] for dim in shape]
    return itertools.product(*choices)


@given(dims.map(lambda d: TensorShape(d[:3])), dims.map(lambda d: TensorShape(d[:3])))
def test_broadcasting_agrees_with_numpy(a: TensorShape, b: TensorShape) -> None:
    """The static result covers what NumPy gives for every way to fill in the shapes."""
    results = []
    for x, y in itertools.product(fillings(a), fillings(b)):
        try:
            results.append(np.broadcast_shapes(x, y))
        except ValueError:
            continue
    try:
        static = broadcast_static_shape(a, b)
    except ValueError:
        assert results == []
        return
    assert all(TensorShape(r).is_subtype_of(static) for r in results)
    # And it is no wider than it has to be.
    joined = [as_shape(r) for r in results]
    if joined:
        narrow = joined[0]
        for other in joined[1:]:
            narrow = narrow.most_specific_common_shape(other)
        assert static == narrow


def test_broadcasting_unknown_ranks_and_messages() -> None:
    assert broadcast_static_shape(None, [2]) == TensorShape(None)
    with pytest.raises(
        ValueError, match=r"shapes \(2,\) and \(3, 3\) do not broadcast"
    ):
        broadcast_static_shape([2], [3, 3])
