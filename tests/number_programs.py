"""Random programs about numbers at the edges of dtypes, and what they must give.

A program computes with Python's ints and floats in loops and branches that a tensor
decides, and with a tensor of any dtype, one operation to a statement. Run on a Python
number it computes what is expected; what it assigns on the way is noted, to tell
whether a graph may refuse: it must where an int needs more than 64 bits or does not fit
the dtype of the tensor, and may not elsewhere.

``python -m tests.number_programs FIRST COUNT`` tries programs by number.
"""

from __future__ import annotations

import argparse
import collections
import linecache
import math
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.optimize import optimize

__all__ = ["check", "random_number_program"]

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = [*INTS, "float16", "float32", "float64"]
_EDGES = [0, 1, -1, 2, 3, -3, 7, 10, 255, 256, 1000, 2**24 + 1]
_EDGES += [
    sign * (2**bits + more)
    for bits in (7, 8, 15, 16, 31, 32, 53, 62, 63)
    for sign in (1, -1)
    for more in (-1, 0, 1)
    if -(2**63) <= sign * (2**bits + more) < 2**63
]
_FLOATS = [0.0, -0.0, 0.1, 1.5, -2.25, 1e-300, 1e300, 16777217.0, 0.5, 3.0]
_SIGNS = ["<", ">=", "==", "!="]
_NAMES = "abc"


class _Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.loops = 0

    def program(self) -> str:
        pick = self.random.choice
        self.lines = ["def f(n, x, note):"]
        for name in _NAMES:
            self._line(1, f"{name} = {pick(_EDGES)}")
        for name in "gh":
            self._line(1, f"{name} = {pick(_FLOATS)!r}")
        self._block(1, 2 + self.random.randrange(4), depth=0)
        self._line(1, "return a, b, c, g, h, x")
        return "\n".join(self.lines) + "\n"

    def _line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def _assign(self, level: int, name: str, value: str) -> None:
        self._line(level, f"{name} = {value}")
        self._line(level, f"note({name!r}, {name})")

    def _block(self, level: int, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.random.random()
            if depth < 2 and kind < 0.25:
                self._loop(level, depth)
            elif depth < 3 and kind < 0.4:
                self._branch(level, depth)
            else:
                self._statement(level)

    def _loop(self, level: int, depth: int) -> None:
        self.loops += 1
        i = f"i{self.loops}"
        kind = self.random.randrange(4)
        if kind == 0:
            self._line(level, f"{i} = 0")
            self._line(level, f"while {i} < n:")
        elif kind == 1:
            self._line(level, f"{i} = n")
            self._line(level, f"while {i} > 0:")
        elif kind == 2:
            start = self.random.choice([0, 1, -2])
            self._line(level, f"for {i} in range({start}, n):")
        else:
            self._line(level, f"for {i} in range(n):")
        self._block(level + 1, 1 + self.random.randrange(3), depth + 1)
        if kind != 1 and self.random.random() < 0.4:  # there it is a tensor
            self._assign(level + 1, self._int(), f"{self._int()} + {i}")
        if kind == 0:
            self._line(level + 1, f"{i} += 1")
        elif kind == 1:
            self._line(level + 1, f"{i} -= 1")
        elif self.random.random() < 0.2:
            self._line(level + 1, f"if {self._int()} > {self.random.choice(_EDGES)}:")
            self._line(level + 2, "break")

    def _branch(self, level: int, depth: int) -> None:
        tests = [
            f"n > {self.random.randrange(4)}",
            f"{self._int()} {self.random.choice(_SIGNS)} {self._int()}",
            f"{self._float()} < {self._float()}",
            f"{self._int()} % 2 == n % 2",
        ]
        self._line(level, f"if {self.random.choice(tests)}:")
        self._block(level + 1, 1 + self.random.randrange(2), depth + 1)
        if self.random.random() < 0.6:
            self._line(level, "else:")
            self._block(level + 1, 1 + self.random.randrange(2), depth + 1)

    def _int(self) -> str:
        return self.random.choice(_NAMES)

    def _float(self) -> str:
        return self.random.choice("gh")

    def _statement(self, level: int) -> None:
        random, edge = self.random, self.random.choice(_EDGES)
        a, b, x = self._int(), self._int(), self._float()
        positive = random.choice([2, 3, 7, 10, 255, 2**31, 2**53 + 1])
        ints = [
            f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{a} + {edge}", f"{edge} - {a}",
            f"{a} * {random.choice([2, 3, -1, 10])}", f"{a} // {positive}",
            f"{a} % {positive}", f"{a} // -3", f"{a} % -7", f"-{a}", f"abs({a})",
            f"~{a}", f"{a} & {b}", f"{a} | {b}", f"{a} ^ {edge}",
            f"{a} << {random.choice([1, 3, 31])}",
            f"{a} >> {random.choice([1, 7, 40])}",
            f"min({a}, {b})", f"max({a}, {edge})", f"{a} ** 2", f"{a} ** 3", f"{edge}",
            f"{b} if {a} > n else {a}", f"int({x})" if random.random() < 0.3 else a,
            f"2 ** ({a} & 31)", f"({a} & 7) ** 3", f"1 << ({a} & 31)",
            f"{a} >> ({b} & 31)", f"divmod({a}, 7)[1]", f"divmod({a}, -{positive})[0]",
            f"pow({a}, 2)", f"len(range({random.choice([0, 2])}, n))",
            f"round({x})" if random.random() < 0.3 else f"round({a})",
            f"int({a} > {b})", f"{a} ^ {b}", f"{a} // ({b} | 1)", f"{a} % ({b} | 1)",
        ]  # fmt: skip
        floats = [
            f"{x} + {self._float()}", f"{x} * 0.1", f"{x} / 3", f"{x} * {a}",
            f"{x} - {a}", f"{a} / 2", f"{a} / {positive}", f"{x} + 0.1", f"-{x}",
            f"abs({x})", f"float({a})" if random.random() < 0.5 else f"{x} * 2.0",
            f"{x} if n > 1 else {self._float()}", f"{x} // 3", f"{x} % 0.7",
            f"{x} ** 2", f"{x} // -0.3", f"min({x}, 2.5)", f"abs({a}) / 3",
            f"max({x}, {self._float()})",
            f"float({a} < {b})", f"{a} ** 2 / 7", f"divmod({x}, 3)[1]",
        ]  # fmt: skip
        tensors = [
            f"x + {a}", f"x - {a}", f"{a} + x", "x + 1", f"x * {random.choice([1, 2])}",
            f"x if {a} < {b} else x + 1",
        ]  # fmt: skip
        kind = random.random()
        if kind < 0.65:
            self._assign(level, self._int(), random.choice(ints))
        elif kind < 0.87:
            self._assign(level, self._float(), random.choice(floats))
        else:
            operand = random.choice(tensors)
            if operand in (f"x + {a}", f"x - {a}", f"{a} + x"):
                self._line(level, f"note('x', {a})")
            self._assign(level, "x", operand)


def random_number_program(seed: int) -> str:
    """The text of program number `seed`."""
    return _Writer(seed).program()


# --- running --------------------------------------------------------------------------


class Difference(AssertionError):
    """A graph gave something else than Python, or refused what it must not."""


#: Powers in nested loops would keep Python busy for hours.
MOST_BITS = 10_000


class _Notes:
    """What a program assigned: whether a graph may refuse it, and whether it must."""

    def __init__(self, dtype: tf.DType) -> None:
        self.dtype = dtype
        self.is_large = False
        self.is_rounded = False

    def __call__(self, name: str, value: Any) -> None:
        if type(value) is int:
            self.is_large |= not -(2**63) <= value < 2**63
            self.is_rounded |= abs(value) > 2**53
            if value.bit_length() > MOST_BITS:
                raise OverflowError(f"{name} has {value.bit_length()} bits")
            if name == "x" and self.dtype.is_integer:
                lowest, highest = self.dtype.limits
                self.is_large |= not lowest <= value <= highest
        elif type(value) is float:
            self.is_large |= abs(value) >= 2**63 or math.isnan(value)


def _has_wide(text: str) -> bool:
    """Whether an integer is written that float64 would round."""
    return any(int(float(n)) != int(n) for n in re.findall(r"\b\d{16,19}\b", text))


def _silent(name: str, value: Any) -> None:
    """What a program tells while nobody listens."""


def _function(text: str, name: str) -> Callable[..., Any]:
    filename = f"<number program {name}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    namespace: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def _leaving(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with results that leave it exactly."""

    def whole(n: Any, x: Any) -> Any:
        a, b, c, g, h, x = f(n, x, None)
        ints = [tf.cast(number, tf.int64) for number in (a, b, c)]
        one = tf.constant(1.0, tf.float64)
        return (*ints, one * g, one * h, x)

    return whole


def _expected(text: str, n: int, x: Any) -> tuple[Any, _Notes]:
    notes = _Notes(x.dtype)
    try:
        *numbers, x = _function(text, "plain")(n, x, notes)
    except (tf.errors.OpError, ValueError, TypeError, OverflowError) as error:
        return error, notes
    for number in numbers:
        notes("result", number)
    return [*numbers, x.numpy()], notes


def check(seed: int, tally: collections.Counter[str] | None = None) -> None:
    """Run program number `seed` by all executors; `Difference` if one is wrong."""
    tally = collections.Counter() if tally is None else tally
    random = Random(-seed)
    text = random_number_program(seed)
    dtype = tf.as_dtype(random.choice(DTYPES))
    start = random.choice([0, 1, dtype.max, dtype.min]) if dtype.is_integer else 1
    x = tf.constant(start, dtype)
    staged_text = "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith("note(")
    )
    function = tf.function(_leaving(_function(staged_text, "staged")))
    try:
        concrete = function.get_concrete_function(tf.constant(0), x)
    except (tf.errors.OpError, ValueError, TypeError, OverflowError) as error:
        if all(isinstance(_expected(text, n, x)[0], Exception) for n in (0, 1, 2, 5)):
            tally["raises"] += 1
            return
        code = str(getattr(error, "code", None))
        if code not in ("AG312", "AG216"):
            raise Difference(
                f"tracing raises {type(error).__name__} {error}"
            ) from error
        tally["refused while tracing"] += 1
        return
    better = optimize(concrete.graph)
    ways: dict[str, Callable[[list[Any]], Any]] = {
        "interpreter": lambda arrays: interpreter.run(concrete.graph, arrays),
        "optimised": lambda arrays: interpreter.run(better, arrays),
        "source": lambda arrays: compile_graph(concrete.graph)(arrays),
        "optimised source": lambda arrays: compile_graph(better)(arrays),
    }
    for n in (0, 1, 2, 5):
        expected, notes = _expected(text, n, x)
        for way, run in ways.items():
            try:
                found = [np.asarray(part) for part in run([np.int32(n), x._array])]
            except Exception as error:
                code = _code(error)
                allowed = isinstance(expected, Exception)
                allowed |= code in ("AG216", "AG312") and notes.is_large
                allowed |= code == "AG206" and (notes.is_rounded or _has_wide(text))
                if not allowed:
                    raise Difference(
                        f"{way} of {n}: {error!r}, not {expected}"
                    ) from error
                tally[code] += 1
                continue
            if isinstance(expected, Exception):
                if notes.is_large or isinstance(expected, OverflowError):
                    continue  # nobody uses it, or a power of a float is infinite
                raise Difference(f"{way} of {n}: {found}, not {expected!r}")
            tally["equal"] += 1
            _compare(f"{way} of {n} {dtype}", found, expected)


def _code(error: Exception) -> str:
    text = str(error)
    return next((code for code in ("AG206", "AG216", "AG312") if code in text), "")


def _compare(way: str, found: list[Any], expected: list[Any]) -> None:
    for name, one, other in zip("abcghx", found, expected, strict=True):
        number = one[()].item()
        other = other if type(other) in (int, float) else other.item()
        same = number == other or (number != number and other != other)
        if not same or math.copysign(1, number) != math.copysign(1, other):
            raise Difference(f"{way}: {name} is {number}, not {other}")


def try_by_number(check: Callable[[int, collections.Counter[str]], None]) -> int:
    """Try programs by number."""
    parser = argparse.ArgumentParser(description=try_by_number.__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    tally: collections.Counter[str] = collections.Counter()
    failures = 0
    for seed in range(options.first, options.first + options.count):
        try:
            with np.errstate(all="ignore"):
                check(seed, tally)
        except Exception as error:
            failures += 1
            print(f"{seed}: {type(error).__name__} {str(error)[:400]}", flush=True)
    print(f"{options.count} programs, {dict(tally)}; {failures} differences")
    return bool(failures)


if __name__ == "__main__":
    raise SystemExit(try_by_number(check))
