"""Random programs about tensors at the edges of every dtype, and what they must give.

A program computes with two tensors of one dtype, numbers or rows, that begin with the
largest and least numbers, -0.0, infinities and nan; and with numbers of Python. Called
eagerly it says what is expected; every executor must give the same bits of its graph,
also of the prepared one, or refuse a number of Python that does not fit.

``python -m tests.edge_programs FIRST COUNT`` tries programs by number.
"""

from __future__ import annotations

import collections
import linecache
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import runtime as tf
from runtime.engines import interpreter
from runtime.passes.lowering.prepare import prepare
from tests.number_programs import try_by_number
from tests.runtime.engines.numpy_source.agreement import assert_same, ways

__all__ = ["check", "random_edge_program"]

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DTYPES = [*INTS, *INTS, *FLOATS, *FLOATS, *COMPLEX]
#: What refuses a number of Python that does not fit.
REFUSALS = ("AG206", "AG216", "AG312")


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")]


_ARITHMETIC = _split("""
{x} + {y}; {x} - {y}; {x} * {y}; {x} + 1; 2 * {x}; {x} - {x}; 1 - {x}; {x} * 0;
{x} + {k}; {x} * {x}; tf.square({x}); tf.where({x} == {y}, {x}, {y});
tf.where({p}, {x}, {y}); tf.add_n([{x}, {y}]); {x} + tf.cast({p}, {x}.dtype);
tf.stack([{x}, {y}])[{bit}]; tf.reduce_sum(tf.stack([{x}, {y}]), 0);
tf.zeros_like({x}); tf.identity({x}); {x} if n > {small} else {y};
tf.cumsum([{x}, {y}])[1]; tf.reduce_prod(tf.stack([{x}, {y}]), 0);
tf.ones_like({x}) * {x}
""")
_REAL = _split("""
{x} // {y}; {x} % {y}; {x} // 3; {x} % 7; 7 // {x}; -7 % {x}; tf.minimum({x}, {y});
tf.maximum({x}, {y}); tf.maximum({x}, 0); tf.math.floormod({x}, {y});
tf.truncatediv({x}, {y}); tf.truncatemod({x}, 3); round({x}); tf.round({y});
tf.math.squared_difference({x}, {y}); tf.clip_by_value({x}, tf.minimum({x}, {y}), {y});
tf.sort(tf.stack([{x}, {y}]), 0)[0]; tf.reduce_max(tf.stack([{x}, {y}]), 0);
tf.reduce_min(tf.stack([{x}, {y}]), 0); {x} // {k}; {x} % {k};
tf.math.floordiv({y}, {x})
""")
_SIGNED = _split("-{x}; abs({x}); tf.sign({x}); tf.abs({y}); -(-{x}); 0 - {x}")
_INT = _split("""
{x} & {y}; {x} | {y}; {x} ^ {y}; ~{x}; {x} << ({y} & 7); {x} >> ({y} & 7);
{x} << {small}; {x} >> {small}; 1 << ({x} & 7); {x} ** 2; {x} ** ({y} & 7);
tf.bitwise.invert({x}); {x} & 15; tf.bitwise.right_shift({x}, {y});
tf.bitwise.left_shift({x}, {y} & 63); tf.cast(tf.cast({x}, tf.{other}), {x}.dtype);
tf.reduce_mean(tf.stack([{x}, {y}]), 0); tf.cast(tf.argmax([{x}, {y}]), {x}.dtype)
""")
_FLOAT = _split("""
{x} / {y}; {x} / 3; 1 / {x}; {x} * 0.5; {x} + {h}; {h} * {x}; {x} / {k}; tf.floor({x});
tf.math.ceil({x}); tf.math.rint({x}); tf.sqrt(abs({x})); {x} ** 2; {x} ** 0.5;
tf.math.divide_no_nan({x}, {y}); tf.math.multiply_no_nan({x}, {y});
tf.math.reciprocal({x}); tf.nn.relu({x}); tf.math.reciprocal_no_nan({x});
tf.reduce_mean(tf.stack([{x}, {y}]), 0); tf.cast(tf.cast({x}, tf.{other}), {x}.dtype);
tf.nn.relu6({x}); {x} ** {small}; {x} - 0.0; 0.0 - {x}
""")
_COMPLEX = _split("""
{x} / {y}; -{x}; tf.math.conj({x}); {x} ** 2; {x} + 1j; {x} * 0.5;
tf.complex(tf.math.real({x}), tf.math.imag({y})); {x} / 2; 1 / {x};
tf.cast(abs({x}), {x}.dtype); tf.cast(tf.math.real({x}), {y}.dtype);
tf.math.reciprocal({x}); {x} * (1 + 2j)
""")
_EQUAL = _split("{x} == {y}; {x} != {y}; {x} == {x}; tf.equal({x}, {k})")
_ORDER = _split("{x} < {y}; {x} >= {y}; {x} > 0; {x} <= {k}; tf.less({x}, {y})")
_NAN = _split("tf.math.is_nan({x}); tf.math.is_inf({x}); tf.math.is_finite({y})")


class _Writer:
    """Writes one program for tensors of a dtype."""

    def __init__(self, seed: int, dtype: tf.DType, is_scalar: bool) -> None:
        self.random = Random(seed)
        self.dtype = dtype
        self.is_scalar = is_scalar
        self.lines: list[str] = []
        self.tensors = list(_ARITHMETIC)
        self.tests = list(_EQUAL)
        if dtype.is_complex:
            self.tensors += _COMPLEX
        else:
            self.tensors += _REAL
            self.tests += _ORDER
        if dtype.is_integer:
            self.tensors += _INT
        elif not dtype.is_complex:
            self.tensors += _FLOAT
        if dtype.is_floating:
            self.tests += _NAN
        if not dtype.is_unsigned and not dtype.is_complex:
            self.tensors += _SIGNED

    def program(self) -> str:
        pick = self.random.choice
        self.lines = ["def f(x, y, n):"]
        self._line(
            1, f"k = {pick([0, 1, -1, 2, 3, -3, 127, 255, 256, 2**31, -(2**63)])}"
        )
        self._line(1, f"h = {pick([0.0, -0.0, 0.1, 1.5, 1e300, 65520.0, 1e-320])!r}")
        self._line(1, "p = x == y")
        self._block(1, 3 + self.random.randrange(5), 0)
        self._line(1, "return x, y, p, tf.cast(k, tf.int64), tf.cast(h, tf.float64)")
        return "\n".join(self.lines) + "\n"

    def _line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def _block(self, level: int, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.random.random()
            if depth < 2 and kind < 0.15:
                i = f"i{len(self.lines)}"
                rows = ["range(n)", "range(2)", "tf.range(n)", "range(n, 0, -1)"]
                self._line(level, f"for {i} in {self.random.choice(rows)}:")
                self._block(level + 1, 1 + self.random.randrange(3), depth + 1)
            elif depth < 3 and kind < 0.3:
                self._branch(level, depth)
            else:
                self._statement(level)

    def _branch(self, level: int, depth: int) -> None:
        tests = ["n > 1", "k > 3", "h < 1.0", "tf.reduce_any(p)", "tf.reduce_all(p)"]
        self._line(level, f"if {self.random.choice(tests)}:")
        self._block(level + 1, 1 + self.random.randrange(2), depth + 1)
        if self.random.random() < 0.5:
            self._line(level, "else:")
            self._block(level + 1, 1 + self.random.randrange(2), depth + 1)

    def _statement(self, level: int) -> None:
        pick, kind = self.random.choice, self.random.random()
        if kind < 0.7:
            name, choices = pick("xy"), self.tensors
        elif kind < 0.82:
            name, choices = "p", [*self.tests, "~p", "p & ({x} == {y})", "p | p"]
        elif kind < 0.92:
            name, choices = "k", ["k + 1", "k * 3", "-k", "k // 7", "k % 5", "k << 3"]
            choices += ["k >> 2", "k ** 2", "abs(k)", "k ^ 21", "len(tf.shape(x))"]
            if self.is_scalar and not self.dtype.is_complex:
                choices += ["int({x})", "int({y})"]
            choices.append("max(k, 3)")
        else:
            name, choices = (
                "h",
                ["h + 1", "h * 0.1", "-h", "h / 3", "abs(h)", "float(k)"],
            )
            if self.is_scalar and not self.dtype.is_complex:
                choices += ["float({x})", "float({y})"]
        one, other = self.random.sample("xy", 2) if kind > 0.2 else ("x", "x")
        text = pick(choices).format(
            x=one, y=other, p="p", k="k", h="h",
            bit=self.random.randrange(2), small=self.random.randrange(4),
            other=pick(INTS if self.dtype.is_integer else ["float16", "float32"]),
        )  # fmt: skip
        self._line(level, f"{name} = {text}")


def random_edge_program(seed: int) -> tuple[str, tuple[Any, Any]]:
    """The text of program number `seed`, and what it is to be called with."""
    random = Random(-seed)
    dtype = tf.as_dtype(random.choice(DTYPES))
    is_scalar = random.random() < 0.6
    one, other = (
        tf.constant([random.choice(_edges(dtype)) for _ in range(3)], dtype)
        for _ in range(2)
    )
    values = (one[0], other[0]) if is_scalar else (one, other)
    return _Writer(seed, dtype, is_scalar).program(), values


def _edges(dtype: tf.DType) -> list[Any]:
    if dtype.is_integer:
        lowest, highest = dtype.limits
        inner = [0, 1, 2, 3, 7, lowest + 1, highest - 1, highest // 2]
        return [lowest, highest, *inner, *(-n for n in inner[1:5] if lowest < 0)]
    real = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1 / 3, np.inf, -np.inf, np.nan]
    if dtype.is_complex:
        return [complex(a, b) for a in real for b in real]
    limits = np.finfo(dtype.np_dtype)
    return [*real, limits.max, limits.min, limits.tiny, limits.eps, 1 / limits.eps]


# --- running --------------------------------------------------------------------------


class Difference(AssertionError):
    """A graph gave something else than eager code, or refused what it must not."""


def _function(text: str, name: str) -> Callable[..., Any]:
    filename = f"<edge program {name}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def check(seed: int, tally: collections.Counter[str] | None = None) -> None:
    """Run program number `seed` in every way; `Difference` if one is wrong."""
    tally = collections.Counter() if tally is None else tally
    text, (x, y) = random_edge_program(seed)
    function = tf.function(_function(text, "staged"))
    eager = _function(text, "eager")
    outcomes = [_outcome(lambda n=n: eager(x, y, tf.constant(n))) for n in (0, 1, 3)]
    try:
        graph = function.get_concrete_function(x, y, tf.constant(0)).graph
    except Exception as error:
        failed = all(isinstance(outcome, Exception) for outcome in outcomes)
        if not failed and not _is_refusal(error):
            raise Difference(f"tracing raises {error!r}") from error
        tally["refused while tracing"] += 1
        return
    runs = dict(ways(graph))
    runs["prepared"] = lambda arrays, low=prepare(graph): interpreter.run(low, arrays)
    for n, expected in zip((0, 1, 3), outcomes, strict=True):
        for way, run in runs.items():
            found = _outcome(
                lambda run=run, n=n: run([x._array, y._array, np.int32(n)])
            )
            _compare(f"{way} of {n}", found, expected, tally)


def _outcome(run: Callable[[], Any]) -> Any:
    try:
        return [np.asarray(getattr(part, "_array", part)) for part in run()]
    except Exception as error:
        return error


def _is_refusal(error: Exception) -> bool:
    return any(code in f"{getattr(error, 'code', '')} {error}" for code in REFUSALS)


def _compare(
    way: str, found: Any, expected: Any, tally: collections.Counter[str]
) -> None:
    if isinstance(found, Exception):
        if not isinstance(expected, Exception) and not _is_refusal(found):
            raise Difference(f"{way}: {found!r}, not {expected}") from found
        tally["refused"] += 1
    elif not isinstance(expected, Exception):
        note = f"{way}: {found}, not {expected}"
        if found[0].dtype.kind == "c":
            # The last bits of NumPy's products depend on where the factors lie.
            for part in (0, 1):
                np.testing.assert_allclose(
                    found[part], expected[part], 1e-4, err_msg=note
                )
            found, expected = found[3:], expected[3:]
        assert_same(found, expected, note)
        tally["equal"] += 1


if __name__ == "__main__":
    raise SystemExit(try_by_number(check))
