"""Random loops over a range of Python's, and what they give, rolled up or not."""

from __future__ import annotations

import functools
import linecache
import math
import random
from typing import Any
from unittest import mock

import numpy as np

import runtime as tf
from autograph.operators import rolling

#: What a body may do; each is one or more lines.
LINES = (
    "a = a + xs[i]",
    "a += xs[i - 1] * i",
    "a = a - xs[n - 1 - i]",
    "a = xs[-i] + b",
    "a = a + xs[i // 2]",
    "b = tf.gather(xs, i) * 2.0 + a",
    "b = b + float(i)",
    "b += i ** 2 + (3 - i)",
    "b = tf.maximum(b, xs[i]) + abs(i - 40)",
    "b = tf.where(i > 7, xs[i], b)",
    "b = b + xs[i] * (i % 3)",
    "b = b + 0.5 * min(i, 20)",
    "c = a + b\n    a = c * 0.5",
    "k = k + 1",
    "k = k + tf.cast(xs[i] > b, tf.int32) * i",
    "if xs[i] > a:\n        a = xs[i]",
    "if xs[i] > b:\n        b = a\n    else:\n        b = b - i",
    "if xs[i] > 3.0 and i > 50:\n        k = k - 1",
    "if i > 0:\n        a = a + xs[i - 1]",
    "if i >= 30:\n        a = a + 1.0",
    "if i % 2 == 0:\n        b = b + 1.0",
    "if i == LAST:\n        a = a * 2.0",
    "a = a + 1.0 if xs[i] < b else a",
    "a = a + 1.0 if i > 90 else a - 1.0",
    "for j in range(3):\n        a = a + xs[i] * j",
    "for j in range(i % 2):\n        a = a + xs[i] * j",
    "t = xs[i]\n    while t > 2.0:\n        t = t - abs(i) - 1.0\n        k = k + 1",
    "v = v + xs[:3] * i",
    "v = tf.tensor_scatter_nd_update(v, [[i % 3]], [xs[i]])",
    "b = b + v[0] * ys[i, 1]",
    "b = b + ys[i][i % 2]",
    "a = helper(a, i)",
    "b = helper(xs[i], 2)",
    "w.assign_add(xs[i])",
    "a = a + w * 0.5",
    "p = p + 1",
    "items.append(i)",
    "items[0] = items[0] + i",
    "a = a + table[i]",
    "a = a + seen.setdefault(i, 2)",
    "a = a + tf.random.stateless_uniform([], [i, 3])",
    "a = a + tf.random.uniform([], seed=3)",
    "print(i)",
    "log.append(i)",
    "a = a + next(numbers)",
    "last = i",
    "b = b + xs[i + SHIFT]",
    "a = a + tf.strings.length(str(i) + 'x')",
    "b = b + math.sqrt(i)",
    "tf.debugging.assert_less(xs[i], LIMIT)",
    "assert xs[i] < LIMIT, f'{i} is too much'",
    "if xs[i] > LIMIT:\n        raise ValueError('too much')",
    "a = a + (1.0 if isinstance(i, int) else 2.0)",
    "a = a + (1.0 if type(i) is int else 2.0)",
    "b = b * flags[i > 5]",
    "try:\n        a = a + xs[i]\n    except IndexError:\n        a = a - 1.0",
    "k = i",
    "k = tf.constant(i)",
    "a = box.add(xs[i])",
    "a = a + box.total",
)
RANGES = ("range(n)", "range(len(xs))", "range(1, n)", "range(n - 1, -1, -1)")
RANGES += ("range(n)", "range(0, n, 2)", "range(20, n + 20)", "range(-n, 0)")


class Box:
    """Has a total."""

    def __init__(self) -> None:
        self.total: Any = 0.5

    def add(self, x: Any) -> Any:
        """The new total."""
        self.total = self.total + x
        return self.total

    def count(self) -> int:
        """How often it was called."""
        self.calls = getattr(self, "calls", 0) + 1
        return 1


class Layer:
    """Has a weight of its own."""

    def __init__(self, weight: float) -> None:
        self.weight = tf.Variable(weight, dtype=tf.float64)

    def __call__(self, x: Any) -> Any:
        return x * self.weight


def helper(x: Any, i: Any) -> Any:
    """Branches on both."""
    if x > 2.0:
        x = x - i
    return x + 0.25


def program(seed: int) -> str:
    """The text of a function ``f(xs, ys)`` with a loop."""
    chance = random.Random(seed)
    lines = chance.choices(LINES, k=chance.choice([1, 1, 2, 2, 3, 4]))
    if chance.random() < 0.7:  # most of them can be rolled up
        lines = [line for line in lines if not _is_hard(line)] or [LINES[0]]
    text = "\n    ".join(lines)
    text = text.replace("SHIFT", chance.choice(["1", "0", "5 - 5", "-30"]))
    text = text.replace("LAST", chance.choice(["17", "70", "0"]))
    text = text.replace("LIMIT", chance.choice(["1000.0", "9.0", "8.0"]))
    return loop(text, chance.choice(RANGES), chance.choice(["i", "n"]))


def loop(text: str, numbers: str = "range(n)", result: str = "n") -> str:
    """The text of a function whose loop has this body."""
    text = text.replace("LAST", "70").replace("LIMIT", "1000.0")
    body = "    " + text.replace("\n", "\n    ")
    return (
        "def f(xs, ys):\n"
        "    n = len(xs)\n"
        "    a = xs[0]; b = tf.constant(0.5, tf.float64); k = tf.constant(0)\n"
        "    v = xs[:3]; p = 0; last = 0; i = -1; c = a; t = a; j = 0\n"
        "    items = [0]; seen = {}; numbers = iter(range(1000)); box = Box()\n"
        "    table = [q * 0.5 for q in range(200)]; flags = [1.0, 0.5]\n"
        f"    for i in {numbers}:\n"
        f"    {body}\n"
        f"    return a, b, k, v, p, last, {result}, w, len(items)\n"
    )


_HARD = ("items", "seen", "random.uniform", "print", "log", "next", "p = p", "k = i")
_HARD += ("% 2", "% 3", "LAST", "table", "SHIFT", "flags", "box", "i > 90", "i >= 30")


def _is_hard(line: str) -> bool:
    return any(word in line for word in _HARD)


def run(text: str, n: int, staged: bool = True, rolls: bool = True) -> Any:
    """What the program gives: its values and gradients, or its error; and its nodes."""
    file = f"<rolled {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    log: list[Any] = []
    names: dict[str, Any] = {"tf": tf, "__name__": "programs", "log": log, "Box": Box}
    names.update(helper=helper, math=math, print=log.append)
    names["echo"] = functools.partial(log.append)
    names["layers"] = [Layer(number * 0.5) for number in range(200)]
    names["w"] = w = tf.Variable(0.5, dtype=tf.float64)
    exec(compile(text, file, "exec"), names)
    xs = tf.constant(np.arange(n) * 7 % 10, tf.float64)
    ys = tf.constant(np.arange(2 * n).reshape(n, 2) % 5, tf.float64)
    tf.random.set_seed(1)
    function = tf.function(names["f"]) if staged else names["f"]
    nodes = 0
    with mock.patch.object(rolling, "LEFT", rolling.LEFT if rolls else 10**9):
        try:
            with tf.GradientTape() as tape:
                tape.watch([xs, ys])
                results = function(xs, ys)
            found: Any = list(map(_plain, results))
            gradients = tape.gradient(results[:2], [xs, ys, w])
            for gradient in gradients:
                has = gradient is not None
                found.append(_plain(tf.convert_to_tensor(gradient)) if has else None)
            if staged:
                nodes = len(function.get_concrete_function(xs, ys).graph.nodes)
        except Exception as error:
            found = type(error).__name__, str(error).partition("\n")[0]
    return found, _plain(w), log, nodes


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return str(array.dtype), array.tolist()
