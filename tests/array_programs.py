"""Random programs on arrays whose shapes are decided by the program.

Each statement gives a new array of a dtype and of dimensions that are numbers, those of
the arguments (``N`` and ``M``), or counted by the program, as of what a mask leaves.
Loops and branches change arrays of one shape, or of any number of rows. What floats
hold are few bits, so that all executors compute the same in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

__all__ = ["random_array_program"]

INTS = ("int32", "int64")
FLOATS = ("float32", "float64")
DTYPES = (*INTS, *FLOATS, "bool", "uint8")
LENGTHS = (0, 1, 2, 3, 4, 5, 8, 17, 40)

Dim = int | str


class Array(NamedTuple):
    """A variable of a program."""

    name: str
    dtype: str
    shape: tuple[Dim, ...]


#: The arguments of each program; those after are int32 numbers.
ARGUMENTS = (
    Array("x", "int32", ("N",)),
    Array("y", "float32", ("N", "M")),
    Array("z", "float32", ("M",)),
    Array("w", "int64", ("N", 3)),
    Array("p", "bool", ("N",)),
    Array("q", "float64", (3, 4)),
    Array("r", "uint8", (2, "M")),
)
NUMBERS = ("n", "m")

_SAME = {
    "number": (
        *("-{0}", "{0} * {0}", "abs({0})", "tf.sign({0})", "{0} - 3", "2 * {0}"),
        *("tf.maximum({0}, 1)", "tf.clip_by_value({0}, -2, 5)", "{0} // 2", "{0} % 3"),
        *("tf.where({0} > 1, {0}, 2)", "tf.zeros_like({0})", "tf.identity({0})"),
        *("tf.cumsum({0})", "tf.cumsum({0}, -1, exclusive=True)", "tf.sort({0})"),
        *("tf.cumsum({0}, 0, reverse=True)", "tf.reverse({0}, [0])", "{0}[::-1]"),
        *("tf.roll({0}, 1, 0)", "tf.sort({0}, 0, 'DESCENDING')", "tf.square({0})"),
        "tf.gather({0}, tf.argsort({0}[..., 0] if len({0}.shape) > 1 else {0}))",
    ),
    "bool": ("~{0}", "tf.logical_not({0})", "{0} & {0}", "tf.reverse({0}, [0])"),
}
_PAIR = {
    "number": (
        *("{0} + {1}", "{0} - {1}", "{0} * {1}", "tf.minimum({0}, {1})"),
        *("tf.maximum({0}, {1})", "tf.where({0} > {1}, {0}, {1})"),
        *("{0} // tf.where({1} == 0, tf.ones_like({1}), {1})", "{0} + {1} * {1}"),
        *("{0} % tf.maximum({1}, 1)", "tf.math.squared_difference({0}, {1})"),
    ),
    "bool": ("{0} & {1}", "{0} | {1}", "{0} ^ {1}", "{0} == {1}"),
}
_TESTS = ("{0} < {1}", "{0} >= {1}", "{0} == {1}", "{0} != {1}")
_REDUCED = ("sum", "max", "min")


class _Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.scope: list[Array] = list(ARGUMENTS)
        self.count = 0

    def program(self) -> str:
        arguments = ", ".join([*(a.name for a in ARGUMENTS), *NUMBERS])
        self.lines = [f"def f({arguments}):"]
        self._block(1, 3 + self.random.randrange(6), 0)
        own = self.scope[len(ARGUMENTS) :] or self.scope
        chosen = self.random.sample(own, min(len(own), 1 + self.random.randrange(4)))
        self._line(1, f"return [{', '.join(a.name for a in chosen)}]")
        return "\n".join(self.lines) + "\n"

    def _line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def _new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def _assign(
        self, level: int, text: str, dtype: str, shape: tuple[Dim | None, ...]
    ) -> Array:
        """A new variable; a dimension that is None is one that nothing else has."""
        name = self._new()
        dims = [f"{name}.{k}" if dim is None else dim for k, dim in enumerate(shape)]
        if dtype in FLOATS and self.random.random() < 0.7:
            text = f"tf.clip_by_value(tf.round(2 * ({text})) / 2, -8, 8)"
        self._line(level, f"{name} = {text}")
        found = Array(name, dtype, tuple(dims))
        self.scope.append(found)
        return found

    # --- statements -------------------------------------------------------------------

    def _block(self, level: int, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.random.random()
            if depth < 2 and kind < 0.12:
                self._loop(level, depth)
            elif depth < 2 and kind < 0.2:
                self._branch(level, depth)
            elif depth < 2 and kind < 0.26:
                self._rows(level, depth)
            elif depth == 0 and kind < 0.3:
                self._recursion(level)
            else:
                self._statement(level)

    def _statement(self, level: int) -> None:
        for _ in range(20):
            made = self.random.choice(_STATEMENTS)(self)
            if made is not None:
                self._assign(level, *made)
                return

    def _states(self, level: int) -> list[tuple[Array, bool]]:
        """Variables for what a loop or a branch changes, and whether rows may change.

        Only in what follows, `Array.shape` says less of those that may.
        """
        found = []
        for _ in range(1 + self.random.randrange(3)):
            value, name = self._any(), self._new()
            self._line(level, f"{name} = {value.name}")
            is_open = bool(value.shape) and self.random.random() < 0.35
            rows: tuple[Dim, ...] = (f"{name}.0",) if is_open else value.shape[:1]
            array = Array(name, value.dtype, rows + value.shape[1:])
            found.append((array, is_open))
        return found

    def _change(self, level: int, states: list[tuple[Array, bool]]) -> None:
        """Assign to some of the state what fits."""
        for state, is_open in states:
            fitting = [
                a
                for a in self.scope
                if a.dtype == state.dtype and len(a.shape) == len(state.shape)
                if a.shape[is_open:] == state.shape[is_open:] and a.name != state.name
            ]
            if fitting and self.random.random() < 0.9:
                # What was made last depends on the state most often.
                value = self.random.choice(fitting[-4:]).name
                self._line(level, f"{state.name} = {value}")

    def _loop(self, level: int, depth: int) -> None:
        states, own = self._states(level), self.scope[:]
        self.scope += [state for state, _ in states]
        i = self._new()
        kind = self.random.randrange(3)
        if kind < 2:
            count = self.random.choice(["n", "m", "3", "tf.maximum(n, m)", "1"])
            self._line(level, f"for {i} in tf.range({count}):")
        else:
            self._line(level, f"{i} = tf.constant(0)")
            self._line(level, f"while {i} < {self.random.choice('nm2')}:")
            self._line(level + 1, f"{i} += 1")
        self.scope.append(Array(i, "int32", ()))
        self._block(level + 1, 1 + self.random.randrange(4), depth + 1)
        if self.random.random() < 0.15:
            self._line(level + 1, f"if {self._test()}:")
            self._line(level + 2, self.random.choice(["break", "continue"]))
        self._change(level + 1, states)
        self.scope = own + [state for state, _ in states]

    def _branch(self, level: int, depth: int) -> None:
        states, own = self._states(level), self.scope[:]
        known = own + [state for state, _ in states]
        self._line(level, f"if {self._test()}:")
        for more in ("else:", None):
            self.scope = known[:]
            self._block(level + 1, 1 + self.random.randrange(3), depth + 1)
            self._change(level + 1, states)
            if more is None or self.random.random() < 0.4:
                break
            self._line(level, more)
        self.scope = known

    def _rows(self, level: int, depth: int) -> None:
        """A list or an array of tensors that a loop fills."""
        own, count = self.scope[:], self.random.choice(["n", "m", "4"])
        rows, i = self._new(), self._new()
        form = self.random.randrange(3)
        value = self._any()
        size = {0: "0, dynamic_size=True", 1: count, 2: ""}[form]
        make = f"tf.TensorArray(tf.{value.dtype}, {size})"
        self._line(level, f"{rows} = {'[]' if form == 2 else make}")
        self._line(level, f"for {i} in tf.range({count}):")
        self.scope.append(Array(i, "int32", ()))
        self._block(level + 1, self.random.randrange(3), depth + 1)
        fitting = [a for a in self.scope if a[1:] == value[1:]]
        row = self.random.choice(fitting[-3:]).name
        if form == 2:
            self._line(level + 1, f"{rows}.append({row})")
            if self.random.random() < 0.3:
                self._line(level + 1, f"{rows}[0] = {row}")
        else:
            self._line(level + 1, f"{rows} = {rows}.write({i}, {row})")
        self.scope = own
        text = f"tf.stack({rows})" if form == 2 else f"{rows}.stack()"
        shape = (int(count) if count == "4" else None, *value.shape)
        self._assign(level, text, value.dtype, shape)

    def _recursion(self, level: int) -> None:
        """A function that calls itself, as the last it does or not."""
        value, own = self._any(lambda a: a.dtype != "bool"), self.scope[:]
        name, k, state = self._new(), self._new(), self._new()
        self._line(level, f"def {name}({k}, {state}):")
        self._line(level + 1, f"if {k} <= 0:")
        self._line(level + 2, f"return {state}")
        self.scope += [Array(k, "int32", ()), value._replace(name=state)]
        self._block(level + 1, 1 + self.random.randrange(3), 2)
        fitting = [a for a in self.scope if a[1:] == value[1:] and a.name != state]
        following = self.random.choice(fitting[-3:]).name if fitting else state
        call = f"{name}({k} - 1, {following})"
        if self.random.random() < 0.5:
            call = f"tf.minimum({state}, {call}) - {state}"
        self._line(level + 1, f"return {call}")
        self.scope = own
        self._assign(level, f"{name}(n, {value.name})", value.dtype, value.shape)

    # --- parts ------------------------------------------------------------------------

    def _any(self, fits: Callable[[Array], bool] = lambda array: True) -> Any:
        """A variable, rather one of the last; None where there is none that fits."""
        fitting = list(filter(fits, self.scope))
        if not fitting:
            return None
        return self.random.choice(
            fitting[-6:] if self.random.random() < 0.7 else fitting
        )

    def _ranked(self, least: int = 1) -> Any:
        return self._any(lambda a: len(a.shape) >= least)

    def _number(self) -> str:
        return self.random.choice([*NUMBERS, "1", "2", "0"])

    def _test(self) -> str:
        value = self._any(lambda a: a.dtype not in ("bool", "uint8"))
        reduced = self.random.choice([f"tf.reduce_sum({value.name})", "n", "m"])
        return f"{reduced} {self.random.choice(['>', '<=', '=='])} {self._small()}"

    def _small(self) -> str:
        return str(self.random.randrange(-1, 4))

    def _dim(self, array: Array, axis: int) -> str:
        dim = array.shape[axis]
        return str(dim) if isinstance(dim, int) else f"tf.shape({array.name})[{axis}]"

    # --- forms ------------------------------------------------------------------------

    def same(self) -> Any:
        a = self._ranked()
        if a is None or a.dtype == "uint8":
            return None
        form = self.random.choice(_SAME["bool" if a.dtype == "bool" else "number"])
        return form.format(a.name), a.dtype, a.shape

    def pair(self) -> Any:
        a = self._any()
        b = self._any(lambda b: b.dtype == a.dtype and _broadcast(a.shape, b.shape))
        kind = "bool" if a.dtype == "bool" else "number"
        forms, dtype = _PAIR[kind], a.dtype
        if kind == "number" and self.random.random() < 0.25:
            forms, dtype = _TESTS, "bool"
        pair = [a.name, b.name]
        self.random.shuffle(pair)
        text = self.random.choice(forms).format(*pair)
        return text, dtype, _broadcast(a.shape, b.shape)

    def cast(self) -> Any:
        a, dtype = self._any(), self.random.choice(DTYPES)
        if a.dtype in FLOATS and dtype == "uint8":
            return None  # of negative numbers nobody says what it gives
        return f"tf.cast({a.name}, tf.{dtype})", dtype, a.shape

    def select(self) -> Any:
        p = self._any(lambda a: a.dtype == "bool")
        a = self._any(lambda a: _broadcast(a.shape, p.shape) is not None)
        shape = _broadcast(a.shape, p.shape)
        b = self._any(
            lambda b: b.dtype == a.dtype and _broadcast(shape, b.shape) == shape
        )
        return b and (f"tf.where({p.name}, {a.name}, {b.name})", a.dtype, shape)

    def reduced(self) -> Any:
        a = self._ranked()
        axis, keeps = self.random.randrange(len(a.shape)), self.random.random() < 0.3
        rest = (*a.shape[:axis], *([1] if keeps else []), *a.shape[axis + 1 :])
        if a.dtype == "bool":
            name = self.random.choice(["any", "all"])
        elif a.dtype == "uint8":
            name = self.random.choice(["max", "min"])
        else:
            name = self.random.choice(_REDUCED)
        if self.random.random() < 0.2:
            return f"tf.reduce_{name}({a.name})", a.dtype, ()
        return f"tf.reduce_{name}({a.name}, {axis}, {keeps})", a.dtype, rest

    def place(self) -> Any:
        a = self._any(lambda a: bool(a.shape) and a.dtype != "bool")
        axis = self.random.randrange(len(a.shape))
        name = self.random.choice(["argmax", "argmin"])
        rest = (*a.shape[:axis], *a.shape[axis + 1 :])
        return f"tf.{name}({a.name}, {axis}, tf.int32)", "int32", rest

    def sliced(self) -> Any:
        a = self._ranked()
        keys: list[str] = []
        shape: list[Dim | None] = []
        for axis, dim in enumerate(a.shape):
            kind = self.random.random()
            if kind < 0.3:
                keys.append(":")
                shape.append(dim)
            elif kind < 0.4:
                keys.append(self._index(a, axis))
            elif kind < 0.5:
                keys.append("tf.newaxis, ::-1")
                shape += [1, dim]
            else:
                ends = [self.random.choice(["", *"nm1234", "-1", "-2"]) for _ in "12"]
                stride = self.random.choice(["", "", "2", "-1", "-2"])
                keys.append(":".join([*ends, stride]))
                shape.append(None)
        if self.random.random() < 0.2:
            keys = ["...", *keys[-1:]]
            shape = [*a.shape[:-1], *shape[len(shape) - _kept(keys[-1]) :]]
        return f"{a.name}[{', '.join(keys)}]", a.dtype, tuple(shape)

    def _index(self, a: Array, axis: int) -> str:
        if a.shape[axis] in (2, 3, 4):
            return str(self.random.choice([0, 1, -1]))
        return f"{self.random.choice('nm')} % tf.maximum({self._dim(a, axis)}, 1)"

    def moved(self) -> Any:
        a = self._ranked()
        rank = len(a.shape)
        order = self.random.sample(range(rank), rank)
        axis, more = self.random.randrange(rank), self.random.randrange(1, 3)
        rows = (*a.shape[:axis], None, *a.shape[axis + 1 :])
        pads = [[more, 0] if k == axis else [0, 0] for k in range(rank)]
        mode = self.random.choice(["CONSTANT"] * 3 + ["SYMMETRIC", "REFLECT"])
        counts = [more if k == axis else 1 for k in range(rank)]
        n = self.random.choice("nm")
        return self.random.choice(
            [
                (
                    f"tf.transpose({a.name}, {order})",
                    a.dtype,
                    tuple(a.shape[k] for k in order),
                ),
                (f"tf.reshape({a.name}, [-1])", a.dtype, (None,)),
                (f"tf.reshape({a.name}, [1, -1])", a.dtype, (1, None)),
                (
                    f"tf.expand_dims({a.name}, {axis})",
                    a.dtype,
                    (*a.shape[:axis], 1, *a.shape[axis:]),
                ),
                (f"tf.pad({a.name}, {pads}, {mode!r})", a.dtype, rows),
                (f"tf.tile({a.name}, {counts})", a.dtype, rows),
                (f"tf.repeat({a.name}, {more}, {axis})", a.dtype, rows),
                (f"tf.repeat({a.name}, {n}, {axis})", a.dtype, rows),
                (f"tf.concat([{a.name}, {a.name}], {axis})", a.dtype, rows),
                (f"tf.reverse({a.name}, [{axis}])", a.dtype, a.shape),
                (f"tf.roll({a.name}, {n}, {axis})", a.dtype, a.shape),
            ]
        )

    def joined(self) -> Any:
        a = self._ranked()
        b = self._any(
            lambda b: b.dtype == a.dtype and b.shape[1:] == a.shape[1:] and b.shape
        )
        if a.shape == b.shape and self.random.random() < 0.4:
            return f"tf.stack([{a.name}, {b.name}])", a.dtype, (2, *a.shape)
        both = [a.name, b.name]
        self.random.shuffle(both)
        return f"tf.concat([{', '.join(both)}], 0)", a.dtype, (None, *a.shape[1:])

    def picked(self) -> Any:
        a = self._ranked()
        i = self._any(lambda i: i.dtype in INTS and bool(i.shape))
        if len(i.shape) + len(a.shape) > 4:
            return None
        axis = self.random.randrange(len(a.shape))
        limit = f"tf.cast(tf.maximum({self._dim(a, axis)}, 1), tf.{i.dtype})"
        shape = (*a.shape[:axis], *i.shape, *a.shape[axis + 1 :])
        text = f"tf.gather({a.name}, {i.name} % {limit}, axis={axis})"
        return text, a.dtype, shape

    def masked(self) -> Any:
        p = self._any(lambda p: p.dtype == "bool" and len(p.shape) == 1)
        if p is None:
            return None
        a = self._any(lambda a: a.shape[:1] == p.shape)
        kind = self.random.randrange(3)
        if kind == 0 or a is None:
            return f"tf.where({p.name})[:, 0]", "int64", (None,)
        if kind == 1:
            return f"tf.boolean_mask({a.name}, {p.name})", a.dtype, (None, *a.shape[1:])
        return f"{a.name}[{p.name}]", a.dtype, (None, *a.shape[1:])

    def ordered(self) -> Any:
        a = self._any(lambda a: bool(a.shape) and a.dtype not in ("bool", "uint8"))
        one = len(a.shape) == 1
        forms = [
            (f"tf.argsort({a.name}, stable=True)", "int32", a.shape),
            (f"tf.argsort({a.name}, 0, 'DESCENDING', True)", "int32", a.shape),
            (
                f"tf.math.top_k({a.name}, tf.minimum({self._dim(a, -1)}, 2))[0]",
                a.dtype,
                (*a.shape[:-1], None),
            ),
            (
                f"tf.math.top_k({a.name}, tf.minimum({self._dim(a, -1)}, 3))[1]",
                "int32",
                (*a.shape[:-1], None),
            ),
        ]
        if one:
            forms += [
                (f"tf.unique({a.name})[0]", a.dtype, (None,)),
                (f"tf.unique({a.name})[1]", "int32", a.shape),
            ]
        return self.random.choice(forms)

    def counted(self) -> Any:
        a = self._ranked()
        dim = self._dim(a, 0)
        i = self._any(lambda i: i.dtype in INTS and len(i.shape) == 1)
        forms: list[Any] = [
            (f"tf.range({dim})", "int32", a.shape[:1]),
            (f"tf.range({self._number()}, {self._number()} + 3)", "int32", (None,)),
            (f"tf.fill([{dim}, 2], {a.name}[0, 0])", a.dtype, (a.shape[0], 2))
            if len(a.shape) == 2
            else None,
            (f"tf.size({a.name})", "int32", ()),
            (f"{self.random.choice('nm')} + {self._small()}", "int32", ()),
            (f"tf.math.count_nonzero({a.name})", "int64", ()),
        ]
        if i is not None:
            forms += [
                (f"tf.one_hot({i.name}, 3)", "float32", (*i.shape, 3)),
                (
                    f"tf.math.bincount(tf.cast({i.name} % 5, tf.int32))",
                    "int32",
                    (None,),
                ),
            ]
        return self.random.choice(forms)

    def product(self) -> Any:
        a = self._any(lambda a: len(a.shape) == 2 and a.dtype not in ("bool", "uint8"))
        if a is None:
            return None
        b = self._any(
            lambda b: (
                len(b.shape) == 2 and b.dtype == a.dtype and b.shape[0] == a.shape[1]
            )
        )
        if b is None or self.random.random() < 0.3:
            text = f"tf.matmul({a.name}, {a.name}, transpose_b=True)"
            return text, a.dtype, (a.shape[0], a.shape[0])
        return f"tf.matmul({a.name}, {b.name})", a.dtype, (a.shape[0], b.shape[1])

    def scattered(self) -> Any:
        a = self._ranked()
        if a.dtype in ("bool", "uint8"):
            return None
        name = self.random.choice(["update", "add", "max"])
        u = self._any(
            lambda u: u.dtype == a.dtype and u.shape[1:] == a.shape[1:] and u.shape
        )
        limit = f"tf.maximum({self._dim(a, 0)}, 1)"
        # Each row is written to once, unless they are added.
        places = f"(tf.range({self._dim(u, 0)}) % {limit})[:, tf.newaxis]"
        if name == "update":
            u = a
            places = f"tf.range({self._dim(a, 0)})[::-1, tf.newaxis]"
        text = f"tf.tensor_scatter_nd_{name}({a.name}, {places}, {u.name})"
        return text, a.dtype, a.shape


def _kept(key: str) -> int:
    """The dimensions that a key of a slice gives."""
    return 2 if "newaxis" in key else int(":" in key)


def _broadcast(one: tuple[Dim, ...], other: tuple[Dim, ...]) -> Any:
    """The shape that both have in common; None where it is not known to be one."""
    if len(one) < len(other):
        one, other = other, one
    found = list(one)
    for axis, dim in enumerate(other, len(one) - len(other)):
        if found[axis] == 1:
            found[axis] = dim
        elif dim not in (1, found[axis]):
            return None
    return tuple(found)


_STATEMENTS: tuple[Callable[[_Writer], Any], ...] = (
    *(_Writer.same, _Writer.same, _Writer.pair, _Writer.pair, _Writer.pair),
    *(_Writer.cast, _Writer.select, _Writer.reduced, _Writer.reduced, _Writer.place),
    *(_Writer.sliced, _Writer.sliced, _Writer.moved, _Writer.moved, _Writer.joined),
    *(_Writer.picked, _Writer.masked, _Writer.ordered, _Writer.counted),
    *(_Writer.product, _Writer.scattered),
)


def random_array_program(seed: int) -> str:
    """The text of program number `seed`: ``f`` of `ARGUMENTS` and two numbers."""
    return _Writer(seed).program()


def inputs(seed: int) -> Iterator[list[Any]]:
    """The inputs of its runs: the lengths change, and so do the elements."""
    random = Random(-seed)
    for run in range(3):
        lengths = {name: random.choice(LENGTHS) for name in "NM"}
        rng = np.random.default_rng([seed, run])
        arrays: list[Any] = []
        for array in ARGUMENTS:
            shape = [lengths.get(str(dim), dim) for dim in array.shape]
            values = rng.integers(
                0 if array.dtype in ("bool", "uint8") else -3, 4, shape
            )
            if array.dtype == "bool":
                values = values > 1
            arrays.append(values.astype(array.dtype))
        yield [*arrays, np.int32(random.randrange(4)), np.int32(random.randrange(3))]
