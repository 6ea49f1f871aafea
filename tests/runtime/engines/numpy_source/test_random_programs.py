"""Random programs: the interpreter and NumPy source agree on results and effects.

The programs are text, so that the source takes over the names of their variables, which
they assign again and again, swap, and leave unused.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.optimize import chosen_passes, optimize
from runtime.passes.optimize.verify import verify
from tests.runtime.engines.numpy_source.test_agreement import observe

VARIABLES = ("x", "y", "z", "w")
STATE = ", ".join(VARIABLES)
NUMBERS = ("0", "1", "2", "3", "7", "-5")

_files = itertools.count()


class Writer:
    """Writes a random function ``f(x, y, z, w)`` of int32 scalars."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0

    def function(self) -> str:
        lines = [
            f"def f({STATE}):",
            *self._indented(self.block(self.random.choice([1, 1, 2, 3]))),
        ]
        results = self.random.sample(VARIABLES, self.random.randint(0, 3))
        lines.append(f"    return [{', '.join(results)}]")
        return "\n".join(lines) + "\n"

    def block(self, depth: int) -> Iterator[str]:
        for _ in range(self.random.randint(1, 4)):
            yield from self.statement(depth)

    def statement(self, depth: int) -> Iterator[str]:
        kind = self.random.choices(
            ["assign", "swap", "print", "cond", "switch", "loop", "for"],
            [6, 1, 1, *([2, 1, 1, 1] if depth else [0, 0, 0, 0])],
        )[0]
        if kind == "assign":
            yield f"{self.random.choice(VARIABLES)} = {self.expression(2)}"
        elif kind == "swap":
            one, other = self.random.sample(VARIABLES, 2)
            yield f"{one}, {other} = {other}, {self.expression(1)}"
        elif kind == "print":
            yield f"tf.print('p{self._number()}', {self.expression(1)})"
        elif kind == "loop":
            yield from self.loop(depth - 1)
        elif kind == "for":
            yield from self.counted_loop(depth - 1)
        else:
            yield from self.branches(kind, depth - 1)

    def branches(self, kind: str, depth: int) -> Iterator[str]:
        number = self._number()
        count = 2 if kind == "cond" else 3
        for branch in range(count):
            yield f"def branch{number}_{branch}({STATE}):"
            yield from self._indented(self.block(depth))
            yield f"    return {self.results()}"
        calls = [f"lambda: branch{number}_{i}({STATE})" for i in range(count)]
        if kind == "cond":
            yield f"{STATE} = tf.cond({self.test()}, {', '.join(calls)})"
        else:
            index = self.expression(1)
            yield f"{STATE} = tf.switch_case({index}, [{', '.join(calls)}])"

    def loop(self, depth: int) -> Iterator[str]:
        number = self._number()
        limit = self.random.choice(["3", "x % 4", "y"])
        yield f"def body{number}(i, {STATE}):"
        yield from self._indented(self.block(depth))
        yield f"    return i + 1, {self.results()}"
        test = f"tf.logical_and(i < {limit}, {self.test()})"
        if self.random.random() < 0.5:
            test = f"i < {limit}"
        yield (
            f"i, {STATE} = tf.while_loop(lambda i, {STATE}: {test}, body{number}, "
            f"(0, {STATE}), maximum_iterations=5)"
        )

    def counted_loop(self, depth: int) -> Iterator[str]:
        """A loop over a range or an array, staged as ``for`` is."""
        number = self._number()
        rows = self.random.choice(
            [
                *("tf.range(3)", "tf.range(x % 4)", "tf.range(2 - x % 5)"),
                *("tf.range(1, 9, y % 5 + 1)", "tf.stack([x, y, z])"),
            ]
        )
        yield f"rows{number} = {rows}"
        yield f"def body{number}(k{number}, {STATE}):"
        name = self.random.choice(VARIABLES)
        yield f"    {name} = tf.gather(rows{number}, k{number})"
        if self.random.random() < 0.3:
            yield f"    {self.random.choice(VARIABLES)} += k{number}"
        yield from self._indented(self.block(depth))
        yield f"    return k{number} + 1, {self.results()}"
        yield f"size{number} = tf.shape(rows{number})[0]"
        yield (
            f"_, {STATE} = tf.while_loop(lambda i, {STATE}: i < size{number}, "
            f"body{number}, (0, {STATE}))"
        )

    def results(self) -> str:
        """What a branch returns: its variables, some of them in the place of others."""
        names = list(VARIABLES)
        if self.random.random() < 0.3:
            names[self.random.randrange(4)] = self.random.choice(VARIABLES)
        if self.random.random() < 0.2:
            self.random.shuffle(names)
        return ", ".join(names)

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice([*VARIABLES, *VARIABLES, *NUMBERS])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if left.lstrip("-").isdigit():
            left = self.random.choice(VARIABLES)
        form = self.random.choices(
            [
                "({0} + {1})",
                "({0} - {1})",
                "({0} * {1})",
                "tf.math.floordiv({0}, {1})",
                "({0} % 5)",
                "tf.maximum({0}, {1})",
                "tf.gather([4, 5, 6], {0})",
                "tf.where({0} < {1}, {1}, {0})",
                "-({0})",
                "tf.identity({0})",
                "tf.abs({0})",
                "tf.bitwise.bitwise_xor({0}, {1})",
                "tf.cast(tf.cast({0}, tf.int64) * 3, tf.int32)",
                "tf.cast(tf.cast({0}, tf.float64) / 2, tf.int32)",
                "tf.reduce_max([{0}, {1}])",
            ],
            [4, 4, 4, 1, 2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1],
        )[0]
        return form.format(left, right)

    def test(self) -> str:
        operator = self.random.choice(["<", ">", "=="])
        return f"{self.random.choice(VARIABLES)} {operator} {self.expression(1)}"

    def _number(self) -> int:
        self.count += 1
        return self.count

    def _indented(self, lines: Iterator[str]) -> list[str]:
        return [f"    {line}" for line in lines]


def function_of(text: str, autograph: bool = False) -> Any:
    filename = f"<random program {next(_files)}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(text, filename, "exec"), namespace)
    return tf.function(namespace["f"], autograph=autograph)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    values=st.lists(
        st.integers(-3, 9) | st.sampled_from([2**31 - 1, -(2**31), 77777]),
        min_size=4,
        max_size=4,
    ),
)
def test_random_programs(
    seed: int, values: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    text = Writer(seed).function()
    args = [tf.constant(value, tf.int32) for value in values]
    try:
        concrete = function_of(text).get_concrete_function(*args)
    except tf.errors.InvalidArgumentError:
        return  # Tracing sees constants that do not do.
    arrays = [arg._array for arg in args]
    # The optimiser may find out that what raises is not needed.
    for graph in (concrete.graph, optimize(concrete.graph, chosen_passes())):
        verify(graph)
        executable = compile_graph(graph)
        interpreted = observe(lambda: interpreter.run(graph, arrays), capsys)
        source = observe(lambda: executable(arrays), capsys)

        assert source == interpreted, f"{text}\n{executable.source}"
