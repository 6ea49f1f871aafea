"""A pipeline of small elements: map, shuffle, batch."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (100_000, 1000, 32), "tiny": (10, 4, 3)}


def inputs(random, count, buffer, batch):
    return random.random(count, np.float32), buffer, batch


def numpy(np):
    def run(x, buffer, batch):
        # Shuffled as a whole: NumPy has no buffer of the next elements.
        order = np.random.default_rng(1).permutation(len(x))
        total, batches = np.float32(0), np.int32(0)
        for start in range(0, len(x), batch):
            total += np.sum(x[order[start : start + batch]] * 2 + 1)
            batches += 1
        return total, batches

    return run


def tensorflow(tf):
    def run(x, buffer, batch):
        dataset = tf.data.Dataset.from_tensor_slices(x).map(lambda item: item * 2 + 1)
        total, batches = tf.constant(0.0), tf.constant(0)
        for each in dataset.shuffle(buffer, seed=1).batch(batch):
            total += tf.reduce_sum(each)
            batches += 1
        return total, batches

    return run
