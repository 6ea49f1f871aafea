"""Recurrent layers: a step for each element of an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from keras.src import tree

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor, run_steps, shape


def _swapped(x: Any) -> Any:
    """The tensor with its first two axes, batch and time, exchanged."""
    return tf.transpose(x, [1, 0, *range(2, len(x.shape))])


def rnn(
    step_function: Callable[..., Any],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> Any:
    inputs = tree.map_structure(convert_to_tensor, inputs)
    if not time_major:
        inputs = tree.map_structure(_swapped, inputs)
    if mask is not None:
        mask = convert_to_tensor(mask, "bool")
        mask = mask[..., None] if len(mask.shape) == 2 else mask
        mask = mask if time_major else _swapped(mask)
    count = shape(tree.flatten(inputs)[0])[0]
    if unroll and not isinstance(count, int):
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    rest = tuple(constants or ())

    def step(index: Any, states: Any, previous: Any) -> Any:
        place = count - 1 - index if go_backwards else index
        item = tree.map_structure(lambda x: x[place], inputs)
        output, new = step_function(item, (*states, *rest))
        new = tree.pack_sequence_as(states, tree.flatten(new))
        if mask is None:
            return output, new
        live = mask[place]
        if previous is None or zero_output_for_mask:
            previous = tree.map_structure(tf.zeros_like, output)
        return _chosen(live, output, previous), _chosen(live, new, states)

    states = tree.map_structure(convert_to_tensor, tuple(initial_states))
    last, outputs, states = run_steps(step, states, count, unroll, return_all_outputs)
    if not time_major:
        outputs = tree.map_structure(_swapped, outputs)
    return last, outputs, states


def _chosen(live: Any, new: Any, old: Any) -> Any:
    """`new` where the mask is true, else `old`."""

    def choose(x: Any, y: Any) -> Any:
        marks = tf.reshape(
            live, [*shape(live), *[1] * (len(x.shape) - len(live.shape))]
        )
        return tf.where(marks, x, y)

    return tree.map_structure(choose, new, old)


def _not_fused(*args: Any, **kwargs: Any) -> NoReturn:
    """Keras then computes the layer step by step."""
    raise NotImplementedError


lstm = gru = bidirectional_lstm = bidirectional_gru = _not_fused


def cudnn_ok(*args: Any, **kwargs: Any) -> bool:
    """There are no kernels for whole recurrent layers."""
    return False
