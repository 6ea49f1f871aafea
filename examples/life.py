"""The Game of Life: a Python loop that is unrolled inside a loop that is staged.

The eight neighbours are a Python constant, so the loop over them stays Python and makes
eight copies of its body; the loop over generations depends on tensors and is a loop of
the graph.
"""

from __future__ import annotations

import numpy as np

import runtime as tf
from examples.ways import Example

NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]


def life(board, generations):
    """The board (0 dead, 1 alive) later on, and in which generation it stood still."""
    for generation in range(generations):
        count = tf.zeros_like(board)
        for shift in NEIGHBOURS:
            count += tf.roll(board, shift, (0, 1))
        after = tf.where(count == 3, 1, tf.where(count == 2, board, 0))
        if tf.reduce_all(after == board):
            return board, generation
        board = after
    return board, generations


def life_in_numpy(board, generations):
    """The same program on arrays."""
    for generation in range(generations):
        count = sum(np.roll(board, shift, (0, 1)) for shift in NEIGHBOURS)
        after = np.where(count == 3, 1, np.where(count == 2, board, 0))
        if (after == board).all():
            return board, generation
        board = after
    return board, generations


def board(*rows: str) -> np.ndarray:
    """A board from its picture."""
    return np.array([[int(cell == "#") for cell in row] for row in rows], np.int32)


GLIDER = board(".#......", "..#.....", "###.....", *["........"] * 5)
BLINKER = board(".....", "..#..", "..#..", "..#..", ".....")
BLOCK = board("....", ".##.", ".##.", "....")

EXAMPLES = [
    Example(life, (GLIDER, 4), same_as=life_in_numpy),
    Example(life, (BLINKER, 3), same_as=life_in_numpy),
    Example(life, (BLOCK, 9), same_as=life_in_numpy),  # stands still at once
    Example(life, (BLOCK, 0), same_as=life_in_numpy),
]


def main() -> None:
    staged = tf.function(life)
    pictures = [
        [" ".join(".#"[cell] for cell in row) for row in after.numpy()]
        for after, _ in (
            staged(tf.constant(GLIDER), tf.constant(4 * i)) for i in range(4)
        )
    ]
    print("A glider, every fourth generation:")
    for rows in zip(*pictures):
        print("    ".join(rows))


if __name__ == "__main__":
    main()
