"""A recurrent network over sequences of different lengths.

The loop over time is a loop of the graph, so with ``reduce_retracing`` one trace serves
all numbers of time steps. What each step gives is collected in a `tf.TensorArray`.
"""

from __future__ import annotations

import numpy as np

import runtime as tf
from examples.ways import Example


def rnn(inputs, lengths, kernel, recurrent, bias):
    """States of a simple recurrent layer.

    inputs is [time, batch, features]; sequence i of the batch ends after lengths[i]
    steps and keeps its last state. Gives all states [time, batch, units] and the last.
    """
    time = tf.shape(inputs)[0]
    states = tf.TensorArray(tf.float32, size=time)
    state = tf.zeros([tf.shape(inputs)[1], recurrent.shape[0]])
    for t in tf.range(time):
        update = tf.tanh(inputs[t] @ kernel + state @ recurrent + bias)
        state = tf.where(tf.expand_dims(t < lengths, 1), update, state)
        states = states.write(t, state)
    return states.stack(), state


def rnn_in_numpy(inputs, lengths, kernel, recurrent, bias):
    """The same program on arrays."""
    states = []
    state = np.zeros((inputs.shape[1], recurrent.shape[0]), np.float32)
    for t in range(inputs.shape[0]):
        update = np.tanh(inputs[t] @ kernel + state @ recurrent + bias)
        state = np.where((t < lengths)[:, None], update, state)
        states.append(state)
    return np.stack(states), state


def arguments(
    time: int, batch: int, features: int = 3, units: int = 4
) -> tuple[np.ndarray, ...]:
    """Random sequences and weights, the same each time."""
    random = np.random.default_rng(7)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    lengths = random.integers(1, time + 1, batch, dtype=np.int32)
    weights = normal(features, units), normal(units, units), normal(units)
    return normal(time, batch, features), lengths, *weights


EXAMPLES = [Example(rnn, arguments(5, 2), same_as=rnn_in_numpy)]


def main() -> None:
    staged = tf.function(rnn, reduce_retracing=True)
    for time in (5, 8, 50):
        states, last = staged(*map(tf.constant, arguments(time, batch=2)))
        print(f"{time:2} steps give states {states.shape}, the last ones are")
        for row in last.numpy():
            print("    ", np.array2string(row, precision=4, sign=" "))
    print("traces:", staged.experimental_get_tracing_count())


if __name__ == "__main__":
    main()
