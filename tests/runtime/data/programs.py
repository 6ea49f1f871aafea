"""Pipelines, each with the elements that TensorFlow 2.21 gives for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PIPELINES: dict[str, Callable[[Any], Any]] = {
    "slices": lambda tf: tf.data.Dataset.from_tensor_slices([1, 2, 3]),
    "slices of a tuple": lambda tf: tf.data.Dataset.from_tensor_slices(
        ([1, 2], [[3.0], [4.0]])
    ),
    "slices of a dict": lambda tf: tf.data.Dataset.from_tensor_slices(
        {"b": [1, 2], "a": ["x", "y"]}
    ),
    "nested": lambda tf: tf.data.Dataset.from_tensor_slices(
        ([1, 2], {"k": ([3, 4], [5, 6])})
    ),
    "tensors": lambda tf: tf.data.Dataset.from_tensors([1, 2, 3]),
    "tensors of a tuple": lambda tf: tf.data.Dataset.from_tensors((1, [2.5, 3.5])),
    "range": lambda tf: tf.data.Dataset.range(2, 11, 3),
    "range down": lambda tf: tf.data.Dataset.range(5, 0, -2),
    "range of int32": lambda tf: tf.data.Dataset.range(3, output_type=tf.int32),
    "empty range": lambda tf: tf.data.Dataset.range(3, 1),
    "map": lambda tf: tf.data.Dataset.range(4).map(lambda x: x * x),
    "map to a tuple": lambda tf: tf.data.Dataset.range(3).map(lambda x: (x, x + 1)),
    "map to a list": lambda tf: tf.data.Dataset.range(3).map(lambda x: [x, x + 1]),
    "map to a dict": lambda tf: tf.data.Dataset.range(3).map(
        lambda x: {"z": x, "a": -x}
    ),
    "map of a tuple": lambda tf: tf.data.Dataset.zip(
        (tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13))
    ).map(lambda a, b: a * b),
    "map with a branch": lambda tf: tf.data.Dataset.range(5).map(
        lambda x: tf.cond(x > 2, lambda: x, lambda: -x)
    ),
    "map to a constant": lambda tf: tf.data.Dataset.range(2).map(lambda x: 7),
    "parallel map": lambda tf: tf.data.Dataset.range(20).map(
        lambda x: x * 3, num_parallel_calls=4
    ),
    "filter": lambda tf: tf.data.Dataset.range(7).filter(lambda x: x % 3 == 0),
    "take": lambda tf: tf.data.Dataset.range(5).take(2),
    "take all": lambda tf: tf.data.Dataset.range(3).take(-1),
    "take too many": lambda tf: tf.data.Dataset.range(2).take(9),
    "skip": lambda tf: tf.data.Dataset.range(5).skip(3),
    "skip all": lambda tf: tf.data.Dataset.range(5).skip(-1),
    "skip too many": lambda tf: tf.data.Dataset.range(2).skip(9),
    "shard": lambda tf: tf.data.Dataset.range(10).shard(3, 1),
    "repeat": lambda tf: tf.data.Dataset.range(2).repeat(3),
    "repeat none": lambda tf: tf.data.Dataset.range(2).repeat(0),
    "repeat without end": lambda tf: tf.data.Dataset.range(2).repeat().take(5),
    "repeat nothing without end": lambda tf: tf.data.Dataset.range(0).repeat(),
    "batch": lambda tf: tf.data.Dataset.range(5).batch(2),
    "batch without remainder": lambda tf: tf.data.Dataset.range(5).batch(
        2, drop_remainder=True
    ),
    "buckets": lambda tf: (
        tf.data.Dataset.range(1, 9)
        .map(lambda n: tf.repeat(n, n))
        .bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 1, 3])
    ),
    "buckets of a tuple": lambda tf: (
        tf.data.Dataset.range(6)
        .map(lambda n: (n, tf.fill([n % 3], 1.5)))
        .bucket_by_sequence_length(
            lambda n, x: tf.size(x),
            [1, 2],
            [2, 2, 2],
            padded_shapes=([], [3]),
            padding_values=(np.int64(0), np.float32(-1.0)),
            drop_remainder=True,
        )
    ),
    "buckets without padding": lambda tf: (
        tf.data.Dataset.range(6)
        .map(lambda n: tf.fill([n % 2], n))
        .bucket_by_sequence_length(lambda x: tf.size(x), [1], [2, 1], no_padding=True)
    ),
    "batch of strings": lambda tf: tf.data.Dataset.from_tensor_slices(
        ["a", "bc", "d"]
    ).batch(2),
    "batch of a dict": lambda tf: tf.data.Dataset.from_tensor_slices(
        {"x": [1, 2, 3]}
    ).batch(2),
    "map and batch": lambda tf: (
        tf.data.Dataset.range(5).map(lambda x: tf.cast(x, tf.float32) / 2).batch(2)
    ),
    "padded batch": lambda tf: (
        tf.data.Dataset.range(1, 5).map(lambda x: tf.fill([x], x)).padded_batch(2)
    ),
    "padded to a shape": lambda tf: (
        tf.data.Dataset.range(1, 3)
        .map(lambda x: tf.fill([x], x))
        .padded_batch(2, padded_shapes=[4], padding_values=tf.constant(-1, tf.int64))
    ),
    "padded batch of a tuple": lambda tf: (
        tf.data.Dataset.range(1, 4)
        .map(lambda x: (x, tf.fill([x], "s")))
        .padded_batch(3, padded_shapes=([], [None]))
    ),
    "unbatch": lambda tf: tf.data.Dataset.from_tensor_slices(
        [[1, 2], [3, 4]]
    ).unbatch(),
    "unbatch of a tuple": lambda tf: (
        tf.data.Dataset.range(6).map(lambda x: (x, -x)).batch(4).unbatch().skip(3)
    ),
    "rebatch": lambda tf: tf.data.Dataset.range(6).batch(2).rebatch(4),
    "window": lambda tf: (
        tf.data.Dataset.range(7).window(3).flat_map(lambda w: w.batch(3))
    ),
    "window with a shift": lambda tf: (
        tf.data.Dataset.range(7)
        .window(3, shift=1, drop_remainder=True)
        .flat_map(lambda w: w.batch(3))
    ),
    "window with a stride": lambda tf: (
        tf.data.Dataset.range(7).window(2, 1, 2, True).flat_map(lambda w: w.batch(2))
    ),
    "window with a stride and a rest": lambda tf: (
        tf.data.Dataset.range(7).window(3, 2, 2).flat_map(lambda w: w.batch(3))
    ),
    "window with a gap": lambda tf: (
        tf.data.Dataset.range(8).window(2, 3).flat_map(lambda w: w.batch(2))
    ),
    "window of a tuple": lambda tf: (
        tf.data.Dataset.range(4)
        .map(lambda x: (x, -x))
        .window(2)
        .flat_map(lambda a, b: tf.data.Dataset.zip((a, b)))
    ),
    "flat map": lambda tf: tf.data.Dataset.range(1, 4).flat_map(
        lambda x: tf.data.Dataset.range(x)
    ),
    "flat map with a map": lambda tf: tf.data.Dataset.range(1, 4).flat_map(
        lambda x: tf.data.Dataset.range(2).map(lambda y: x * 10 + y)
    ),
    "flat map with a filter": lambda tf: tf.data.Dataset.range(4).flat_map(
        lambda x: tf.data.Dataset.range(6).filter(lambda y: y % (x + 1) == 0)
    ),
    "flat map of tensors": lambda tf: tf.data.Dataset.range(2).flat_map(
        lambda x: tf.data.Dataset.from_tensor_slices([x, x + 5])
    ),
    "interleave": lambda tf: tf.data.Dataset.range(1, 5).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(3),
        cycle_length=2,
        block_length=2,
    ),
    "interleave of unlike lengths": lambda tf: tf.data.Dataset.range(1, 6).interleave(
        lambda x: tf.data.Dataset.range(x), cycle_length=3, block_length=1
    ),
    "interleave with blocks": lambda tf: tf.data.Dataset.range(1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x),
        cycle_length=2,
        block_length=2,
    ),
    "interleave of empty ones": lambda tf: tf.data.Dataset.range(6).interleave(
        lambda x: tf.data.Dataset.range(x % 2), cycle_length=2
    ),
    "interleave in threads": lambda tf: tf.data.Dataset.range(1, 5).interleave(
        lambda x: tf.data.Dataset.range(x), cycle_length=2, num_parallel_calls=2
    ),
    "zip": lambda tf: tf.data.Dataset.zip(
        (tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9))
    ),
    "zip of arguments": lambda tf: tf.data.Dataset.zip(
        tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9)
    ),
    "zip of a dict": lambda tf: tf.data.Dataset.zip(
        {"a": tf.data.Dataset.range(2), "b": tf.data.Dataset.range(5, 9)}
    ),
    "concatenate": lambda tf: tf.data.Dataset.range(2).concatenate(
        tf.data.Dataset.range(7, 9)
    ),
    "enumerate": lambda tf: tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(
        start=3
    ),
    "scan": lambda tf: tf.data.Dataset.range(5).scan(
        np.int64(1), lambda s, x: (s + x, s * x)
    ),
    "take while": lambda tf: tf.data.Dataset.range(9).take_while(lambda x: x * x < 10),
    "unique": lambda tf: tf.data.Dataset.from_tensor_slices([1, 2, 1, 3, 2]).unique(),
    "ignore errors": lambda tf: (
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
        .map(lambda x: tf.debugging.check_numerics(1.0 / x, "no"))
        .ignore_errors()
    ),
    "errors before a batch": lambda tf: (
        tf.data.Dataset.range(4).map(lambda x: 6 // (x - 1)).ignore_errors().batch(2)
    ),
    "prefetch": lambda tf: tf.data.Dataset.range(30).prefetch(4),
    "cache": lambda tf: tf.data.Dataset.range(3).cache().repeat(2),
    "generator": lambda tf: tf.data.Dataset.from_generator(
        lambda: [(1, "a"), (2, "b")], (tf.int32, tf.string)
    ),
    "generator with a signature": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([[1, 2], [3]]), output_signature=tf.TensorSpec([None], tf.int64)
    ),
    "generator with arguments": lambda tf: tf.data.Dataset.from_generator(
        lambda n: range(n), tf.int32, [], args=[3]
    ),
    "generator of dicts": lambda tf: tf.data.Dataset.from_generator(
        lambda: [{"x": 1.5}], output_signature={"x": tf.TensorSpec([], tf.float32)}
    ),
    "group by window": lambda tf: tf.data.Dataset.range(10).group_by_window(
        lambda x: x % 3, lambda key, window: window.batch(2), window_size=2
    ),
    "choose": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.from_tensors(n).repeat(3) for n in ("a", "b", "c")],
        tf.data.Dataset.range(3).repeat(3),
    ),
    "choose until one ends": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(2), tf.data.Dataset.range(10, 20)],
        tf.data.Dataset.range(2).repeat(),
        stop_on_empty_dataset=True,
    ),
    "counter": lambda tf: tf.data.Dataset.counter(5, 2).take(3),
    "apply": lambda tf: tf.data.Dataset.range(4).apply(
        lambda d: d.filter(lambda x: x > 1)
    ),
    "shuffle of one": lambda tf: tf.data.Dataset.range(4).shuffle(1),
}
