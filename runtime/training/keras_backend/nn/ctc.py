"""Connectionist temporal classification: sequences without an alignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common.dtypes import result_type

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of


def ctc_loss(
    target: Any,
    output: Any,
    target_length: Any,
    output_length: Any,
    mask_index: int = 0,
) -> Any:
    target = convert_to_tensor(target, "int32")
    output = convert_to_tensor(output)
    output = tf.cast(output, result_type(output.dtype, "float32"))
    target_length = convert_to_tensor(target_length, "int32")
    output_length = convert_to_tensor(output_length, "int32")
    return tf.nn.ctc_loss(
        target,
        output,
        target_length,
        output_length,
        logits_time_major=False,
        blank_index=mask_index,
    )


def ctc_decode(
    inputs: Any,
    sequence_lengths: Any,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int | None = 0,
) -> Any:
    inputs = convert_to_tensor(inputs)
    inputs = tf.cast(inputs, result_type(inputs.dtype, "float32"))
    lengths = convert_to_tensor(sequence_lengths, "int32")
    if strategy == "greedy":
        return _greedy(inputs, lengths, merge_repeated, mask_index)
    if strategy != "beam_search":
        raise ValueError(
            f"Invalid strategy {strategy}. Supported values are 'greedy' and "
            "'beam_search'."
        )
    steps = shape_of(inputs)[1]

    def search(logits: Any, lengths: Any) -> Any:
        blank = 0 if mask_index is None else mask_index
        found = [
            _beams(row[:length], beam_width, top_paths, blank)
            for row, length in zip(logits, lengths)
        ]
        paths = np.full((top_paths, len(found), steps), -1, np.int32)
        scores = np.full((len(found), top_paths), -np.inf, logits.dtype)
        for i, beams in enumerate(found):
            for j, (path, score) in enumerate(beams):
                paths[j, i, : len(path)] = path
                scores[i, j] = score
        return paths, scores

    return tuple(tf.numpy_function(search, [inputs, lengths], ["int32", inputs.dtype]))


def _greedy(inputs: Any, lengths: Any, merge_repeated: bool, mask_index: Any) -> Any:
    _, steps, classes = shape_of(inputs)
    blank = classes - 1 if mask_index is None else mask_index
    best = tf.argmax(inputs, -1, "int32")
    scores = tf.reduce_max(inputs, -1)
    is_over = tf.range(steps)[None, :] >= lengths[:, None]
    best = tf.where(is_over, blank, best)
    scores = tf.where(is_over, tf.zeros_like(scores), scores)
    gone = tf.equal(best, blank)
    if merge_repeated:
        again = tf.pad(
            tf.cast(tf.equal(best[:, 1:], best[:, :-1]), "int32"), [[0, 0], [1, 0]]
        )
        gone = gone | (again > 0)
    # What stays moves to the front, in its order.
    order = tf.argsort(tf.cast(gone, "int32"), axis=1, stable=True)
    kept = tf.where(gone, -1, best)
    kept = tf.gather(kept, order, axis=1, batch_dims=1)
    return kept[None], -tf.reduce_sum(scores, 1, keepdims=True)


def _beams(logits: Any, width: int, paths: int, blank: int) -> list[tuple[Any, float]]:
    """The most probable labels: paths by how they end, with a blank or a label."""
    logits = logits.astype(np.float64)
    logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    nothing = -np.inf
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, nothing)}
    for row in logs:
        new: dict[tuple[int, ...], list[float]] = {}
        for path, (with_blank, with_label) in beams.items():
            total = np.logaddexp(with_blank, with_label)
            entry = new.setdefault(path, [nothing, nothing])
            entry[0] = np.logaddexp(entry[0], total + row[blank])
            if path:
                entry[1] = np.logaddexp(entry[1], with_label + row[path[-1]])
            for label, score in enumerate(row):
                if label == blank:
                    continue
                before = with_blank if path and path[-1] == label else total
                entry = new.setdefault((*path, label), [nothing, nothing])
                entry[1] = np.logaddexp(entry[1], before + score)
        ranked = sorted(
            new.items(), key=lambda item: -np.logaddexp(item[1][0], item[1][1])
        )
        beams = {path: (a, b) for path, (a, b) in ranked[:width]}
    ranked_beams = sorted(beams.items(), key=lambda item: -np.logaddexp(*item[1]))
    return [(path, float(np.logaddexp(*ends))) for path, ends in ranked_beams[:paths]]
