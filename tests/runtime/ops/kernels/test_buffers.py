"""Memory is given out again only where nobody can tell."""

import weakref

import numpy as np
import pytest

from runtime.ops.kernels import buffers
from runtime.ops.kernels.buffers import borrow, filled, give_back, new_result

SHAPE = (300, 301)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(buffers, "_results", [])
    monkeypatch.setattr(buffers, "_spare", {})


def new():
    return new_result(SHAPE, np.float32)


def used():
    """Where a result lies that is gone at once (an assertion would keep it)."""
    return place(new())


def place(array):
    return array.__array_interface__["data"][0]


def test_a_result_that_is_gone_gives_its_memory():
    assert used() == used()


@pytest.mark.parametrize(
    "keep",
    [
        lambda array: array,
        lambda array: array[3:5],
        lambda array: array.reshape(-1)[::2].T[None],
        lambda array: array.view(np.int32)[1],
        lambda array: memoryview(array),
        lambda array: [{"key": array.flat}],
    ],
)
def test_not_while_anybody_sees_it(keep):
    array = new()
    array[...] = 7
    kept = keep(array)
    first = place(array)
    del array
    assert used() != first
    del kept
    held = [new()]
    assert first in {place(held[0]), used()}


def test_what_is_seen_of_one_that_is_gone_is_nothing_of_the_next():
    array = new()
    array.flags.writeable = False
    reference, first = weakref.ref(array), place(array)
    del array
    following = new()
    assert place(following) == first
    assert following.flags.writeable
    assert reference() is None


def test_memory_serves_any_shape_and_dtype_of_its_size():
    first = used()
    assert place(new_result(SHAPE, np.int32)) == first
    assert place(new_result(SHAPE[::-1], np.float32)) == first
    assert place(new_result(SHAPE, np.float64)) != first
    assert used() == first


def test_results_begin_with_a_line_of_the_cache():
    kept = [new() for _ in range(4)]
    assert {place(array) % 64 for array in kept} == {0}
    assert all(array.flags.c_contiguous for array in kept)


def test_small_results_are_new():
    one = new_result((4,), np.float32)
    assert one.shape == (4,)
    assert not buffers._results


def test_it_does_not_keep_everything(monkeypatch):
    monkeypatch.setattr(buffers, "LIMIT", 3 * (4 * 300 * 301 + buffers.LINE))
    kept = [new() for _ in range(5)]
    assert len(buffers._results) == 3
    assert len({place(array) for array in kept}) == 5


def test_scratch_is_for_one_at_a_time():
    one, other = borrow(100, np.dtype("f4")), borrow(100, np.dtype("f4"))
    assert one.shape == other.shape == (100,)
    assert not np.shares_memory(one, other)
    give_back([one])
    assert np.shares_memory(borrow(99, np.dtype("f4")), one)


def test_an_array_of_one_number():
    like = np.zeros((2, 3), np.float32)
    for number in (0, -0.0, 0.0, np.nan, 2):
        found = filled(number, like)
        assert found.dtype == like.dtype
        expected = np.full((2, 3), number, np.float32)
        assert found.tobytes() == expected.tobytes()
