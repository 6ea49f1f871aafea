"""What is done with a container that another object stands for."""

from __future__ import annotations

import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

from autograph import StagingError
from autograph.operators.state.retired import check_in_use, retire, retiring


@pytest.mark.parametrize(
    "make",
    [
        lambda: [1, 2],
        lambda: {1: 2, 3: 4},
        lambda: OrderedDict([(1, 2), (3, 4)]),
        lambda: Counter([1, 1, 2]),
        lambda: {1, 2},
        lambda: deque([1, 2], 2),
        list,
        dict,
    ],
)
def test_containers_are_revived(make: Callable[[], Any]) -> None:
    value = make()
    with retiring():
        retire(value)
        retire(value)
        with pytest.raises(StagingError, match="AG210"):
            check_in_use(value)
    assert value == make()
    assert list(value) == list(make())


def test_lists_have_their_items_after_an_error() -> None:
    items = [1, 2]
    with contextlib.suppress(KeyError), retiring():
        retire(items)
        with pytest.raises(StagingError, match="AG210"):
            items[0] + 1
        with pytest.raises(StagingError, match="AG210"):
            check_in_use(items)
        raise KeyError
    assert items == [1, 2]


def test_a_change_is_seen_at_the_end() -> None:
    items = [1, 2]

    def change() -> None:
        with retiring():
            retire(items)
            items.append(3)

    with pytest.raises(StagingError, match="AG210"):
        change()
    assert items == [1, 2]


def test_nothing_is_retired_where_nobody_would_revive_it() -> None:
    items = [1, 2]
    retire(items)
    assert items == [1, 2]
