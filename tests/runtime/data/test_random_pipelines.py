"""Random chains of transformations give what the same chain gives of Python lists."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.turns import by_turns

Dataset = tf.data.Dataset
Step = tuple[str, Callable[[Any], Any], Callable[[list[Any]], list[Any]]]


def grouped(items: list[Any], size: int, drop: bool) -> list[list[Any]]:
    found = [items[i : i + size] for i in range(0, len(items), size)]
    return [group for group in found if not drop or len(group) == size]


def windows(
    items: list[Any], size: int, shift: int, stride: int, drop: bool
) -> list[list[Any]]:
    found = [
        items[start : start + (size - 1) * stride + 1 : stride]
        for start in range(0, len(items), shift)
    ]
    return [w for w in found if len(w) == size or not drop]


def turns(rows: list[list[Any]], cycle: int, block: int) -> list[Any]:
    """As ``interleave`` says: `cycle` rows at a time, `block` of each in turn."""
    waiting, found = [iter(row) for row in rows], []
    current: list[Any] = [None] * cycle
    while any(current) or waiting:
        for place in range(cycle):
            if current[place] is None and waiting:
                current[place] = waiting.pop(0)
            for _ in range(block):
                if current[place] is not None:
                    item = next(current[place], None)
                    if item is None:
                        current[place] = None
                        break
                    found.append(item)
    return found


def flat(rows: list[list[Any]]) -> list[Any]:
    return [item for row in rows for item in row]


def steps(draw: random.Random) -> list[Step]:
    n, m, k = draw.randint(1, 6), draw.randint(0, 9), draw.randint(1, 4)
    drop = draw.random() < 0.5
    return [
        ("map", lambda d: d.map(lambda x: x * 3 + n), lambda v: [x * 3 + n for x in v]),
        (
            "map in threads",
            lambda d: d.map(lambda x: x - n, num_parallel_calls=2),
            lambda v: [x - n for x in v],
        ),
        (
            "map that fails",
            lambda d: d.map(lambda x: 60 // (x % 5) + x).ignore_errors(),
            lambda v: [60 // (x % 5) + x for x in v if x % 5],
        ),
        (
            "filter",
            lambda d: d.filter(lambda x: x % (n + 1) != 0),
            lambda v: [x for x in v if x % (n + 1)],
        ),
        ("take", lambda d: d.take(m), lambda v: v[:m]),
        ("skip", lambda d: d.skip(m), lambda v: v[m:]),
        ("repeat", lambda d: d.repeat(n % 3), lambda v: v * (n % 3)),
        ("shard", lambda d: d.shard(n, n - 1), lambda v: v[n - 1 :: n]),
        ("cache", lambda d: d.cache(), lambda v: v),
        ("prefetch", lambda d: d.prefetch(n), lambda v: v),
        (
            "batch",
            lambda d: d.batch(n, drop).map(tf.reduce_sum),
            lambda v: [sum(group) for group in grouped(v, n, drop)],
        ),
        (
            "batch, unbatch",
            lambda d: d.batch(n, drop).unbatch(),
            lambda v: flat(grouped(v, n, drop)),
        ),
        (
            "window",
            lambda d: d.window(n, k, 2, drop).flat_map(
                lambda w: w.batch(9).map(tf.reduce_max)
            ),
            lambda v: [max(w) for w in windows(v, n, k, 2, drop)],
        ),
        (
            "flat map",
            lambda d: d.flat_map(lambda x: Dataset.range(x % 4).map(lambda y: y + x)),
            lambda v: [y + x for x in v for y in range(x % 4)],
        ),
        (
            "interleave",
            lambda d: d.interleave(lambda x: Dataset.range(x, x + x % 4), k, n),
            lambda v: turns([list(range(x, x + x % 4)) for x in v], k, n),
        ),
        (
            "concatenate",
            lambda d: d.concatenate(Dataset.range(n)),
            lambda v: v + list(range(n)),
        ),
        (
            "zip",
            lambda d: Dataset.zip(d, d.skip(1)).map(lambda a, b: a - b),
            lambda v: [a - b for a, b in pairwise(v)],
        ),
        (
            "enumerate",
            lambda d: d.enumerate(n).map(lambda i, x: i * x),
            lambda v: [i * x for i, x in enumerate(v, n)],
        ),
        (
            "scan",
            lambda d: d.scan(np.int64(m), lambda s, x: (s + x, s)),
            lambda v: [m + sum(v[:i]) for i in range(len(v))],
        ),
        (
            "take while",
            lambda d: d.take_while(lambda x: x < 10 * n),
            lambda v: v[: next((i for i, x in enumerate(v) if x >= 10 * n), len(v))],
        ),
        ("unique", lambda d: d.unique(), lambda v: list(dict.fromkeys(v))),
        (
            "sort of shuffle",
            lambda d: d.shuffle(n, seed=m).batch(1000).map(tf.sort).unbatch(),
            sorted,
        ),
    ]


@pytest.mark.parametrize("seed", by_turns(range(400)))
def test_random_chain(seed: int) -> None:
    draw = random.Random(seed)
    length = draw.randint(0, 25)
    dataset, values = Dataset.range(length), list(range(length))
    names = []
    for _ in range(draw.randint(1, 5)):
        name, change, model = draw.choice(steps(draw))
        dataset, values = change(dataset), model(values)
        names.append(name)
        if len(values) > 300:
            dataset, values = dataset.take(50), values[:50]
    found = [int(x) for x in dataset]
    assert found == values, names
    assert [int(x) for x in dataset] == values, names
    count = int(dataset.cardinality())
    assert count in (len(values), tf.data.UNKNOWN_CARDINALITY), names
    in_batches = [x for batch in dataset.batch(7) for x in batch.numpy().tolist()]
    assert in_batches == values, names
    staged = tf.function(lambda d: [x for x in d])(dataset)
    assert [int(x) for x in staged] == values, names
    half = len(values) // 2
    iterator = iter(dataset)
    for _ in range(half):
        next(iterator)
    restored = iter(dataset)
    restored._restore(iterator._save())
    assert [int(x) for x in restored] == values[half:], names
