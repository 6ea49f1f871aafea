"""Random programs under tapes, with loops, branches and shapes of all three kinds.

A program takes ``x`` of shape (N,), ``z`` of shape (M, N), ``s`` of shape () and a
count. Its arrays have one of these shapes, or are vectors whose length a loop changes.
Each value stays in a range in which all functions are smooth, but for the places where
`tf.maximum` and `tf.where` choose.

``python -m tests.gradient_programs FIRST COUNT`` tries programs by number: see
`tests.runtime.autodiff.agreement`.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import runtime as tf

__all__ = ["inputs", "random_gradient_program"]

_ONE = (
    *("tf.tanh({0})", "tf.sin({0})", "tf.exp(-{0} * {0})", "{0} * 0.5", "-{0}"),
    *("tf.sqrt({0} * {0} + 1.0)", "tf.sigmoid({0})", "{0} / ({0} * {0} + 1.0)"),
    *("tf.math.log({0} * {0} + 1.5)", "tf.identity({0})", "{0} ** 2 * 0.1"),
)
_TWO = (
    *("{0} * {1}", "{0} + {1}", "{0} - {1}", "{0} / ({1} * {1} + 1.0)"),
    *("tf.maximum({0}, {1})", "tf.where({0} > {1}, {0}, {1} * 0.5)"),
    *("tf.atan2({0}, {1} * {1} + 0.5)", "tf.pow({0} * {0} + 0.5, tf.tanh({1}))"),
    *("tf.math.squared_difference({0}, {1})", "tf.minimum({0}, {1} + 0.3)"),
)
#: What a vector whose length may change becomes.
_OPEN = (
    *("tf.concat([{0}, {1}], 0)", "{0}[1:]", "tf.concat([{0}, {0} * 0.5], 0)"),
    *("{0} * {2}", "tf.reverse({0}, [0])"),
    "tf.concat([tf.sin({0}), {0}[:1]], 0)",
)


class _Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines = ["def f(x, z, s, n):"]
        #: Names and kinds: ``s``, ``x`` and ``z`` for a shape, ``o`` for an open one.
        self.scope = [("x", "x"), ("z", "z"), ("s", "s")]
        self.count = 0

    def program(self) -> str:
        self._block(1, 2 + self.random.randrange(3), 0)
        self._loop(1, 0)
        self._block(1, self.random.randrange(2), 0)
        chosen = [name for name, _ in self.scope[-3:]]
        self._line(1, f"return [{', '.join(chosen)}]")
        return "\n".join(self.lines) + "\n"

    def _line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def _name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def _assign(self, level: int, text: str, kind: str) -> None:
        name = self._name()
        if self.random.random() < 0.4:
            text = f"tf.tanh({text})"
        self._line(level, f"{name} = {text}")
        self.scope.append((name, kind))

    def _any(self, kinds: str = "sxz") -> tuple[str, str]:
        fitting = [item for item in self.scope if item[1] in kinds]
        return self.random.choice(fitting[-5:])

    def _block(self, level: int, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.random.random()
            if depth < 2 and kind < 0.2:
                self._loop(level, depth)
            elif depth < 2 and kind < 0.35:
                self._branch(level, depth)
            elif depth < 2 and kind < 0.42:
                self._rows(level)
            else:
                self._statement(level)

    def _statement(self, level: int) -> None:
        form = self.random.randrange(8)
        if form < 2:
            name, kind = self._any()
            self._assign(level, self.random.choice(_ONE).format(name), kind)
        elif form < 6:
            one, other = self._any(), self._any()
            kind = max(one[1], other[1], key="sxz".index)
            text = self.random.choice(_TWO).format(one[0], other[0])
            self._assign(level, text, kind)
        elif form == 6:
            name, kind = self._any("xzo")
            self._assign(level, f"tf.reduce_sum({name})", "s")
        else:
            text = self.random.choice(
                ["tf.reduce_mean(tf.concat([z, z[:1] * 0.0 + 1.0], 0), 0) * x"]
                + ["tf.reduce_sum(z * x, 0)", "tf.linalg.matvec(z, x)[:1] * x"]
            )
            self._assign(
                level, f"tf.tanh({text})", "x" if "matvec" not in text else "o"
            )

    def _states(self, level: int) -> list[tuple[str, str]]:
        found = []
        for _ in range(1 + self.random.randrange(3)):
            (value, kind), name = self._any("sxzo"), self._name()
            self._line(level, f"{name} = {value}")
            if kind == "x" and self.random.random() < 0.4:
                kind = "o"
            found.append((name, kind))
        return found

    def _change(self, level: int, states: list[tuple[str, str]]) -> None:
        for name, kind in states:
            if kind == "o":
                form = self.random.choice(_OPEN)
                text = form.format(name, self._any("xo")[0], self._any("s")[0])
            else:
                # Values stay small, and each depends on the one before.
                other = self._any("sxz"[: "sxz".index(kind) + 1])[0]
                form = self.random.choice(_TWO).format(name, other)
                text = f"tf.tanh({form})" if self.random.random() < 0.6 else form
            self._line(level, f"{name} = {text}")

    def _loop(self, level: int, depth: int) -> None:
        states, own = self._states(level), self.scope[:]
        self.scope += states
        i, kind = self._name(), self.random.randrange(3)
        if kind < 2:
            count = self.random.choice(["n", "3", "2", "n + 1"])
            self._line(level, f"for {i} in tf.range({count}):")
        else:
            self._line(level, f"{i} = tf.constant(0)")
            self._line(level, f"while {i} < n and {self._test()}:")
            self._line(level + 1, f"{i} += 1")
        self._block(level + 1, self.random.randrange(3), depth + 1)
        self._change(level + 1, states)
        if self.random.random() < 0.3:
            self._line(level + 1, f"if {self._test()}:")
            self._line(level + 2, self.random.choice(["break", "continue"]))
            self._change(level + 1, states[:1])
        self.scope = own + states

    def _branch(self, level: int, depth: int) -> None:
        states, own = self._states(level), self.scope[:]
        known = own + states
        self._line(level, f"if {self._test()}:")
        for more in ("else:", None):
            self.scope = known[:]
            self._block(level + 1, self.random.randrange(2), depth + 1)
            self._change(level + 1, states)
            if more is None or self.random.random() < 0.4:
                break
            self._line(level, more)
        self.scope = known

    def _rows(self, level: int) -> None:
        """A list that a loop fills."""
        rows, i = self._name(), self._name()
        value, kind = self._any("sx")
        self._line(level, f"{rows} = [{value} * 0.5]")
        self._line(level, f"for {i} in tf.range({self.random.choice('n3')}):")
        factor = self._any("sx"[: "sx".index(kind) + 1])[0]
        self._line(level + 1, f"{rows}.append(tf.sin({rows}[-1] + {factor}))")
        self._assign(level, f"tf.reduce_sum(tf.stack({rows}), 0)", kind)

    def _test(self) -> str:
        value, limit = self._any("sxzo")[0], self.random.choice([-0.5, 0.2, 1.0, 3.0])
        return f"tf.reduce_sum({value}) {self.random.choice('<>')} {limit}"


def random_gradient_program(seed: int) -> Callable[..., Any]:
    """Program number `seed`."""
    text, filename = _Writer(seed).program(), f"<gradient program {seed}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def inputs(seed: int, dtype: Any = tf.float64) -> list[Any]:
    """Arguments for program number `seed`: lengths of 0 and 1 are among them."""
    random = np.random.default_rng(seed)
    n, m = (int(random.choice([0, 1, 2, 3, 4])) for _ in range(2))
    shapes = [(n,), (m, n), ()]
    values = [tf.constant(random.uniform(-1.2, 1.2, dims), dtype) for dims in shapes]
    return [*values, tf.constant(int(random.integers(0, 4)))]


if __name__ == "__main__":
    from runtime.engines.native.background import Background
    from tests.number_programs import try_by_number
    from tests.runtime.autodiff.agreement import try_program

    os.environ["AUTOGRAPH_NO_CACHE"] = "1"
    Background.is_enabled = False
    raise SystemExit(try_by_number(lambda seed, _: try_program(seed)))
