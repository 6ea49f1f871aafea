"""Random programs about operations: every op, dtype and kind of shape.

A program computes with tensors of all dtypes, with empty ones and single numbers, and
with values at the edges; in loops, branches and gradient tapes. The elementwise ops
come from their records, so that an op that is added is tried; other ops need arguments,
and have forms here. While a program is written it is run eagerly, so that operands fit.

`tests.op_fuzz` runs programs, makes those that fail smaller, and prints them.
"""

from __future__ import annotations

import itertools
import linecache
import re
import warnings
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

import runtime as tf
from runtime.core.graph import record
from runtime.core.graph.record import Fails, Op
from runtime.core.types import dtypes
from runtime.ops.apply import apply

__all__ = ["FORMS", "RECORDED", "Program", "evaluated", "function_of", "random_program"]

Array = np.ndarray[Any, Any]

#: Lengths of dimensions, most often few elements or none.
LENGTHS = (0, 1, 1, 2, 2, 3, 3, 4)
#: More elements than this make no program more telling.
MOST_ELEMENTS, MOST_DIMENSIONS = 300, 4

KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}
#: The kinds of tensors that a group of forms takes.
GROUPS = {
    "any": {"float", "int", "bool", "complex"},
    "number": {"float", "int", "complex"},
    "real": {"float", "int"},
    "inexact": {"float", "complex"},
    **{kind: {kind} for kind in ("float", "int", "bool", "complex")},
}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", " ").split(";") if part.strip()]


#: Expressions by the kinds of ``{x}``. ``{y}`` and ``{z}`` have its dtype, ``{p}`` is
#: of bools, ``{k}`` of int32; ``{i}`` is an integer, ``{m}`` one that may be a tensor,
#: ``{s}`` a float.
FORMS: dict[str, list[str]] = {
    "any": _split("""
tf.identity({x}); tf.stack([{x}, {y}]); tf.stack([{x}, {y}], -1);
tf.concat([{x}, {y}], {axis}); tf.concat([{x}, {x}, {y}], 0);
tf.expand_dims({x}, {axis}); tf.squeeze({x}); tf.squeeze({x}, {axis});
tf.reshape({x}, [-1]); tf.reshape({x}, tf.shape({y})); tf.reshape({x}, [{m}, -1]);
tf.reshape({x}, [-1, {i}]); tf.reshape({x}, [1, -1, 1]); tf.transpose({x});
tf.transpose({x}, [1, 0]); tf.linalg.matrix_transpose({x}); tf.tile({x}, [{m}]);
tf.tile({x}, [2, {m}]); tf.reverse({x}, [{axis}]); tf.roll({x}, {m}, {axis});
tf.repeat({x}, {m}, {axis}); tf.repeat({x}, {i}); tf.repeat({x}, {k} & 3, {axis});
tf.gather({x}, {k} % tf.maximum(tf.shape({x})[{axis}], 1), axis={axis});
tf.gather({x}, [0, {i}]); tf.gather({x}, {m}); tf.gather({x}, {k});
tf.gather_nd({x}, [[0], [{i}]]); tf.gather_nd({x}, {k}[..., tf.newaxis]);
tf.where({p}, {x}, {y}); tf.where({p}, {x}, {x}); tf.where({x});
tf.boolean_mask({x}, {p}); {x}[{p}]; tf.boolean_mask({x}, tf.equal({x}, {y}));
tf.zeros_like({x}); tf.ones_like({x}); tf.zeros(tf.shape({x})); tf.eye({m});
tf.fill([{m}, 2], tf.reshape({x}, [-1])[0]); tf.fill(tf.shape({x}), {s});
{x}[{i}:]; {x}[..., {i}]; {x}[::-1]; {x}[{m}:{i}:{i}]; {x}[:, tf.newaxis]; {x}[{m}];
{x}[:{m}]; {x}[..., ::{i}]; {x}[1:, ..., :-1]; {x}[tf.newaxis, ..., :2];
tf.slice({x}, [{m}], [{i}]); tf.slice({x}, [0, {i}], [-1, 1]);
tf.broadcast_to({x}, tf.shape({y})); tf.broadcast_to({x}, [2, {m}, 3]);
tf.pad({x}, {pads}); tf.pad({x}, {pads}, 'REFLECT'); tf.pad({x}, {pads}, 'SYMMETRIC');
tf.linalg.band_part({x}, {i}, {i}); tf.linalg.diag({x}); tf.linalg.diag_part({x});
tf.linalg.diag({x}, k={i}); tf.linalg.diag_part({x}, k={i});
tf.linalg.set_diag({x}, tf.linalg.diag_part({y}));
tf.scatter_nd([[1], [{i}]], {x}, [4]);
tf.scatter_nd({k}[..., tf.newaxis], {x}, [4]); tf.scatter_nd([[{i}]], {x}, [3, {m}]);
tf.tensor_scatter_nd_update({x}, [[{i}]], {y}); tf.split({x}, 2, {axis})[{i}];
tf.split({x}, [1, {m}], {axis})[1]; tf.unstack({x})[{i}]; tf.unstack({x}, axis=1)[0];
tf.meshgrid({x}, {y})[{i}]; tf.shape({x}); tf.size({x}); tf.rank({x});
tf.unique({x})[0]; tf.unique({x})[1]; tf.unique_with_counts({x})[2];
tf.ensure_shape({x}, {x}.shape); tf.stop_gradient({x}); {x} == {x};
tf.not_equal({x}, {y});
tf.cast({x}, tf.bool); tf.debugging.check_numerics(tf.cast({x}, tf.float32), 'x');
tf.equal({x}, {y}); tf.searchsorted(tf.range(3), {k}); tf.one_hot({k}, 3);
tf.one_hot({k}, {m}, axis=0); tf.range({m}); tf.range({m}, {i}, {i}); tf.range(4)[:{m}];
tf.sequence_mask({k}, 3); tf.sequence_mask({k} & 7)
"""),
    "number": _split("""
{x} + {y}; {x} - {y}; {x} * {y}; {x} + 1; 2 * {x}; 1 - {x}; -{x}; {x} * 0;
tf.square({x}); tf.add_n([{x}, {y}, {x}]); tf.add_n([{x}]); {x} ** 2;
tf.reduce_sum({x}); tf.reduce_sum({x}, {axis}); tf.reduce_sum({x}, {axis}, True);
tf.reduce_prod({x}, {axis}); tf.reduce_mean({x}, {axis}); tf.reduce_mean({x});
tf.cumsum({x}, {axis}); tf.cumsum({x}, {axis}, exclusive=True, reverse=True);
tf.math.cumprod({x}, {axis}); tf.math.cumprod({x}, {axis}, True, True);
tf.matmul({x}, {y}); tf.matmul({x}, {x}, transpose_b=True);
tf.matmul({x}, {y}, transpose_a=True); tf.linalg.matvec({x}, {y});
tf.tensordot({x}, {y}, 1); tf.tensordot({x}, {y}, 0); tf.tensordot({x}, {x}, 2);
tf.einsum('ij,jk->ik', {x}, {y}); tf.einsum('ij,kj->ik', {x}, {y});
tf.einsum('i,i->', {x}, {y}); tf.einsum('...i,...i->...', {x}, {y});
tf.einsum('ij->ji', {x}); tf.einsum('ii->i', {x}); tf.einsum('ij->', {x});
tf.einsum('bij,bjk->bik', {x}, {y}); tf.linalg.trace({x}); tf.linalg.cross({x}, {y});
tf.tensor_scatter_nd_add({x}, [[{i}], [0]], {y}); tf.math.count_nonzero({x}, {axis});
tf.tensor_scatter_nd_sub({x}, [[{i}]], {y}); tf.math.multiply_no_nan({x}, {y});
tf.math.segment_sum({x}, [0, 0, 2]); tf.math.unsorted_segment_sum({x}, {k}, {m});
tf.math.segment_prod({x}, [0, 1]); tf.math.unsorted_segment_prod({x}, {k}, 3);
tf.math.segment_mean({x}, [0, 1, 1]); tf.math.unsorted_segment_mean({x}, {k}, 3);
{x} + tf.cast({k}, {x}.dtype); {x} * tf.cast({p}, {x}.dtype); tf.scalar_mul(2, {x});
tf.math.polyval([{x}, {y}], {y}); tf.math.zero_fraction({x}); {x} @ {y};
tf.cast({x}, tf.complex128); tf.clip_by_value({x}, 0, 1)
"""),
    "real": _split("""
{x} // {y}; {x} % {y}; {x} // 3; {x} % 3; {x} < {y}; {x} >= {y}; {x} > 0; abs({x});
tf.maximum({x}, {y}); tf.minimum({x}, 1); tf.sign({x}); tf.truncatediv({x}, {y});
tf.truncatemod({x}, {y}); tf.clip_by_value({x}, tf.minimum({x}, {y}), {y});
tf.sort({x}); tf.sort({x}, {axis}, 'DESCENDING'); tf.argsort({x}, {axis}, stable=True);
tf.argsort({x}, {axis}, 'DESCENDING', True); tf.math.top_k({x}, {m})[0];
tf.math.top_k({x}, 1)[1]; tf.argmax({x}, {axis}); tf.argmin({x}, {axis}, tf.int32);
tf.reduce_max({x}); tf.reduce_max({x}, {axis}); tf.reduce_min({x}, {axis}, True);
tf.reduce_min({x}); tf.tensor_scatter_nd_max({x}, [[{i}], [0]], {y});
tf.tensor_scatter_nd_min({x}, [[{i}]], {y}); tf.math.segment_max({x}, [0, 0, 2]);
tf.math.segment_min({x}, [0, 1]); tf.math.unsorted_segment_max({x}, {k}, {m});
tf.math.unsorted_segment_min({x}, {k}, 3); tf.searchsorted(tf.sort({x}), {y});
tf.searchsorted(tf.sort({x}), {y}, side='right'); round({x});
tf.math.squared_difference({x}, {y}); tf.nn.relu({x}); tf.nn.relu6({x});
tf.math.bincount({k} % 4, weights={x}); tf.complex(tf.cast({x}, tf.float32), 1.0);
tf.math.confusion_matrix({k} % 2, {k} % 2, weights={x}); tf.cast({x}, tf.float64);
tf.cast({x}, tf.float32); tf.cast({x}, tf.float16); tf.linspace({x}, {y}, 3);
tf.range({x} % 5, {y} % 7); tf.nn.max_pool1d(tf.reshape({x}, [1, -1, 1]), 2, 2, 'SAME');
tf.nn.max_pool2d(tf.reshape({x}, [1, -1, 2, 1]), 2, 1, 'SAME')
"""),
    "int": _split("""
{x} & {y}; {x} | {y}; {x} ^ {y}; ~{x}; {x} << ({y} & 7); {x} >> ({y} & 7); {x} << 2;
{x} ** ({y} & 3); {x} / {y}; tf.cast({x}, tf.int8); tf.cast({x}, tf.int32);
tf.cast({x}, tf.uint8); tf.cast({x}, tf.int64); tf.cast({x}, tf.uint64);
tf.math.bincount({x} % 5); tf.math.bincount(tf.cast({x} % 5, tf.int32), minlength={m})
"""),
    "bool": _split("""
~{x}; {x} & {y}; {x} | {y}; {x} ^ {y}; tf.reduce_any({x}); tf.reduce_all({x}, {axis});
tf.reduce_any({x}, {axis}, True); tf.cast({x}, tf.int32); tf.cast({x}, tf.float32);
tf.where({x})
"""),
    "float": _split("""
{x} / 3; 1 / {x}; {x} * {s}; {x} + {s}; {x} ** {s}; {x} ** 0.5; tf.floor({x});
tf.math.ceil({x}); tf.math.rint({x}); tf.math.divide_no_nan({x}, {y});
tf.math.reciprocal_no_nan({x}); tf.math.is_nan({x}); tf.math.is_inf({x});
tf.math.is_finite({x}); tf.nn.leaky_relu({x}, 0.3); tf.nn.elu({x}); tf.nn.gelu({x});
tf.nn.silu({x}); tf.math.log_sigmoid({x}); tf.nn.softmax({x});
tf.nn.softmax({x}, {axis});
tf.nn.log_softmax({x}, {axis}); tf.reduce_logsumexp({x}, {axis});
tf.math.reduce_euclidean_norm({x}, {axis}); tf.norm({x}); tf.norm({x}, axis={axis});
tf.math.reduce_std({x}, {axis}); tf.math.reduce_variance({x});
tf.math.cumulative_logsumexp({x}, {axis}); tf.math.l2_normalize({x}, {axis});
tf.nn.moments({x}, [{axis}])[1]; tf.nn.l2_loss({x}); tf.clip_by_norm({x}, 1.0);
tf.cast(tf.where(tf.abs({x}) < 99, {x}, tf.zeros_like({x})), tf.int32);
tf.nn.softmax_cross_entropy_with_logits({x}, {y});
tf.nn.sigmoid_cross_entropy_with_logits({x}, {y});
tf.nn.sparse_softmax_cross_entropy_with_logits({k} % 2, {x}); tf.math.lbeta({x});
tf.nn.in_top_k({k}, tf.cast({x}, tf.float32), 2); tf.nn.bias_add({x}, {y});
tf.nn.conv1d(tf.reshape({x}, [1, -1, 1]), tf.reshape({y}, [-1, 1, 1]), 1, 'SAME');
tf.nn.conv2d(tf.reshape({x}, [1, -1, 2, 1]), tf.ones([2, 2, 1, 3], {x}.dtype), 1,
    'SAME');
tf.nn.conv2d(tf.reshape({x}, [1, 2, -1, 2]), tf.ones([2, 1, 1, 2], {x}.dtype), 2,
    'VALID');
tf.nn.conv2d_transpose(tf.reshape({x}, [1, -1, 1, 1]), tf.ones([2, 1, 1, 1], {x}.dtype),
    [1, 2 * tf.size({x}), 1, 1], [2, 1], 'SAME');
tf.nn.depthwise_conv2d(tf.reshape({x}, [1, -1, 1, 2]), tf.ones([2, 1, 2, 2], {x}.dtype),
    [1, 1, 1, 1], 'SAME');
tf.nn.conv3d(tf.reshape({x}, [1, -1, 1, 1, 1]), tf.ones([2, 1, 1, 1, 2], {x}.dtype),
    [1, 1, 1, 1, 1], 'SAME');
tf.nn.avg_pool2d(tf.reshape({x}, [1, -1, 2, 1]), 2, 1, 'SAME');
tf.nn.avg_pool3d(tf.reshape({x}, [1, -1, 1, 1, 1]), 2, 1, 'SAME');
tf.nn.max_pool3d(tf.reshape({x}, [1, -1, 1, 1, 1]), 2, 1, 'SAME');
tf.nn.batch_normalization({x}, {y}, 1.0, {y}, 2.0, 0.01);
tf.linalg.det({x}); tf.linalg.inv({x} + tf.eye(2, dtype={x}.dtype));
tf.linalg.solve({x} + tf.eye(2, dtype={x}.dtype), {y}); tf.linalg.slogdet({x})[1];
tf.linalg.cholesky({x} @ tf.linalg.matrix_transpose({x}));
tf.linalg.triangular_solve({x} + tf.eye(2, dtype={x}.dtype), {y});
tf.linalg.svd({x}, compute_uv=False); tf.linalg.eigvalsh({x});
abs(tf.linalg.qr({x})[1]); tf.linalg.pinv({x});
tf.debugging.check_numerics({x}, 'x')
"""),
    "complex": _split("""
tf.math.conj({x}); tf.math.real({x}); tf.math.imag({x}); abs({x}); {x} / {y};
tf.math.angle({x}); {x} * (1 + 2j); tf.complex(tf.math.real({x}), tf.math.imag({y}));
tf.transpose({x}, conjugate=True); tf.matmul({x}, {y}, adjoint_b=True); 1 / {x};
tf.sqrt({x}); tf.exp({x}); tf.signal.fft({x}); tf.signal.ifft2d({x});
tf.signal.irfft({x}, [{i} + 2])
"""),
}  # fmt: skip
#: Ops whose forms need attributes: the records name no values for them.
_WITH_ATTRIBUTES = {"AddN", "Cast", "CastExactly", "LeakyRelu", "IsNone"}


def _arity(op: Op) -> int:
    if op.name == "SelectV2":
        return 3
    return 1 if op.fails is Fails.NEVER else 2


def _recorded() -> dict[str, list[str]]:
    """What applies each elementwise op to tensors of each dtype that it takes."""
    forms: dict[str, list[str]] = {}
    for op in map(record.get, record.names()):
        if op.family != "elementwise" or op.name in _WITH_ATTRIBUTES:
            continue
        if op.stateful or op.is_host or _arity(op) == 3:
            continue
        operands = ", ".join(["{x}", "{y}"][: _arity(op)])
        for dtype in op.takes or dtypes.ALL:
            if dtype.kind in "biufc":
                form = f"apply({op.name!r}, {operands})"
                forms.setdefault(dtype.name, []).append(form)
    return forms


RECORDED = _recorded()


class Program(NamedTuple):
    """``f(a, b, c, n)`` as text, and the arguments of its runs, as arrays."""

    text: str
    runs: tuple[tuple[Array, ...], ...]


# --- values ---------------------------------------------------------------------------


def _values(random: Random, dtype: tf.DType, shape: tuple[int, ...], wild: bool) -> Any:
    """Small numbers; the ends of the dtype, NaN and infinities if `wild`."""
    size = int(np.prod(shape))
    if dtype.is_bool:
        pool: list[Any] = [True, False]
    elif dtype.is_integer:
        pool = [0, 1, 2, 3, 5, *([] if dtype.is_unsigned else [-1, -2, -7])]
        if wild:
            pool += [dtype.min, dtype.max, dtype.max - 1]
    else:
        pool = [0.0, 1.0, -1.0, 0.5, 2.5, -3.25, 0.1, 3.0, -0.7]
        if wild:
            limits = np.finfo(dtype.np_dtype)
            pool += [-0.0, np.inf, -np.inf, np.nan, limits.max, limits.tiny, 1e4]
        if dtype.is_complex:
            pool = [complex(a, random.choice(pool)) for a in pool]
    array = np.empty(shape, dtype.np_dtype)
    array.flat = [random.choice(pool) for _ in range(size)] if size else 0
    return array


_DTYPES = [d for d in dtypes.ALL if d.kind in "biufc" and d.name != "bfloat16"]
_COMMON = [dtypes.float32, dtypes.float64, dtypes.int32]


def _arguments(random: Random) -> tuple[tuple[Array, ...], ...]:
    """The arguments of two runs, which differ in the lengths of dimensions."""
    wild = random.random() < 0.3
    specs = []
    dims = random.choices(LENGTHS, k=3)
    first = random.choice(_COMMON if random.random() < 0.6 else _DTYPES)
    for place in range(3):
        is_other = place and random.random() < 0.4
        dtype = random.choice(_DTYPES) if is_other else first
        rank = random.choice([0, 1, 1, 2, 2, 3])
        specs.append((dtype, random.choices(dims, k=rank)))
    others = {d: random.choice(LENGTHS) if random.random() < 0.7 else d for d in dims}
    runs = []
    for lengths in ({}, others):
        arrays = [
            _values(random, dtype, tuple(lengths.get(d, d) for d in shape), wild)
            for dtype, shape in specs
        ]
        runs.append((*arrays, np.array(random.choice([0, 1, 2, 3]), np.int32)))
    return tuple(runs)


# --- writing --------------------------------------------------------------------------


class _Unfit(Exception):
    """No expression was found."""


class _Writer:
    """Writes one program, and runs it on the way."""

    def __init__(self, random: Random, arguments: tuple[Array, ...]) -> None:
        self.random = random
        self.env: dict[str, Any] = {"tf": tf, "apply": apply}
        self.lines: list[str] = []
        self.scope = list("abcn")
        self.env |= {n: tf.constant(a) for n, a in zip(self.scope, arguments)}
        self.count = 0
        self.fails = False

    def program(self) -> str:
        self.lines = ["def f(a, b, c, n):"]
        self.block(1, self.random.randint(2, 5), 0)
        self.line(1, f"return [{', '.join(self.scope[4:])}]")
        return "\n".join(self.lines) + "\n"

    def line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def new(self, value: Any = None) -> str:
        self.count += 1
        name = f"v{self.count}"
        if value is not None:
            self.env[name] = value
            self.scope.append(name)
        return name

    def block(self, level: int, count: int, depth: int) -> None:
        weights = [8, *([1.2, 0.8, 1.2, 0.5, 0.2] if depth < 2 else [])]
        forms = [self.assign, self.loop, self.branch, self.tape, self.rows]
        if not depth:
            forms.append(self.recursion)
        for _ in range(count):
            if self.fails:
                return
            form = self.random.choices(forms[: len(weights)], weights[: len(forms)])[0]
            form(level, depth)

    def assign(self, level: int, depth: int) -> None:
        try:
            text, value = self.expression(may_fail=True)
        except _Unfit:
            return
        self.line(level, f"{self.new(value)} = {text}")

    # --- expressions ------------------------------------------------------------------

    def pick(self, fits: Callable[[Any], bool], recent: bool = True) -> str:
        names = [name for name in self.scope if fits(self.env[name])]
        if not names:
            raise _Unfit
        if recent and self.random.random() < 0.6:
            names = names[-3:]
        return self.random.choice(names)

    def expression(
        self, fits: Callable[[Any], bool] = lambda value: True, may_fail: bool = False
    ) -> Any:
        """An expression and its value; rarely one that raises, if it `may_fail`."""
        for _ in range(25):
            try:
                text = self.filled(self.pick(lambda value: True))
            except _Unfit:
                continue
            try:
                value = evaluated(text, self.env)
            except Exception:
                if may_fail and self.random.random() < _FAILING:
                    self.fails = True
                    return text, self.env["a"]
                continue
            if not tf.is_tensor(value) or value.shape.rank > MOST_DIMENSIONS:
                continue
            if int(np.prod(value.shape)) <= MOST_ELEMENTS and fits(value):
                return text, value
        raise _Unfit

    def filled(self, x: str) -> str:
        """A form for that variable, with all its operands."""
        random, value = self.random, self.env[x]
        kind, rank = KINDS[value.dtype.kind], value.shape.rank
        if random.random() < 0.35:
            forms = RECORDED[value.dtype.name]
        else:
            groups = [name for name, kinds in GROUPS.items() if kind in kinds]
            forms = FORMS[random.choice([g for g in groups if g in FORMS])]

        def same(other: Any) -> bool:
            return other.dtype is value.dtype

        def operand(key: str) -> str:
            if key in "yz":
                return self.pick(same, False)
            if key == "p":
                return self.pick(lambda v: v.dtype is tf.bool)
            if key == "k":
                return self.pick(lambda v: v.dtype is tf.int32)
            if key == "m":
                return random.choice(["n", "n", "1", "2", "3"])
            if key == "s":
                return random.choice(["0.5", "-1.0", "2.0", "0.0", "3.0", "1.5"])
            if key == "pads":
                return str([[random.randrange(2), random.randrange(3)]] * rank)
            if key == "axis":
                return str(random.randrange(-rank, rank) if rank else 0)
            return str(random.randrange(-2, 4))

        return re.sub(
            r"\{(\w+)\}",
            lambda found: x if found[1] == "x" else operand(found[1]),
            random.choice(forms),
        )

    # --- statements of statements -----------------------------------------------------

    def states(self, level: int) -> list[str]:
        names = []
        for _ in range(self.random.randint(1, 2)):
            value = self.pick(lambda value: True)
            names.append(self.new(self.env[value]))
            # A graph carries values: which objects they are no tape can tell there.
            self.line(level, f"{names[-1]} = tf.identity({value})")
        return names

    def change(self, level: int, states: list[str]) -> None:
        """Assign to each of the state what has its dtype and its shape."""
        for name in states:
            old = self.env[name]

            def fits(value: Any, old: Any = old) -> bool:
                return value.dtype is old.dtype and value.shape == old.shape

            try:
                fitting = [n for n in self.scope if fits(self.env[n]) and n != name]
                if fitting and self.random.random() < 0.6:
                    text, value = f"tf.identity({fitting[-1]})", self.env[fitting[-1]]
                else:
                    text, value = self.expression(fits)
            except _Unfit:
                text, value = self.random.choice(_STEPS).format(name), old
                if old.dtype.kind == "b":
                    text = f"~{name}"
            self.line(level, f"{name} = {text}")
            self.env[name] = value

    def loop(self, level: int, depth: int) -> None:
        states, own = self.states(level), self.scope[:]
        count, i = self.random.choice(["n", "n", "2", "n + 1"]), self.new()
        kind = self.random.randrange(4)
        if kind < 2:
            self.line(level, f"for {i} in tf.range({count}):")
            self.env[i] = tf.constant(0)
        elif kind == 2:
            rows = self.pick(lambda v: v.shape.rank > 0 and v.shape[0] > 0)
            self.line(level, f"for {i} in {rows}:")
            self.env[i] = self.env[rows][0]
        else:
            self.line(level, f"{i} = tf.constant(0)")
            self.line(level, f"while {i} < {count}:")
            self.line(level + 1, f"{i} = {i} + 1")
            self.env[i] = tf.constant(1)
        self.scope.append(i)
        self.block(level + 1, self.random.randint(1, 3), depth + 1)
        if self.random.random() < 0.12:
            self.line(level + 1, f"if {self.test()}:")
            self.line(level + 2, self.random.choice(["break", "continue"]))
        self.change(level + 1, states)
        self.scope = own

    def branch(self, level: int, depth: int) -> None:
        states, own = self.states(level), self.scope[:]
        before = {name: self.env[name] for name in states}
        self.line(level, f"if {self.test()}:")
        for word in ("else:", ""):
            self.env |= before
            self.block(level + 1, self.random.randint(0, 2), depth + 1)
            self.change(level + 1, states)
            self.scope = own[:]
            if not word or self.random.random() < 0.4:
                break
            self.line(level, word)

    def test(self) -> str:
        value = self.pick(lambda value: value.dtype.kind != "c")
        name = "any" if self.env[value].dtype is tf.bool else "max"
        text = f"tf.reduce_{name}({value})"
        tests = [
            f"{text} > {self.random.randrange(3)}",
            "n > 1",
            f"tf.size({value}) > 2",
        ]
        if name == "any":
            tests[0] = text
        return self.random.choice(tests)

    def tape(self, level: int, depth: int) -> None:
        def inexact(value: Any) -> bool:
            return value.dtype.kind in "fc"

        sources = list(dict.fromkeys(self.pick(inexact) for _ in range(2)))
        tape = f"tape{len(self.lines)}"
        self.line(level, f"with tf.GradientTape() as {tape}:")
        self.line(level + 1, f"{tape}.watch([{', '.join(sources)}])")
        known = len(self.scope)
        self.block(level + 1, self.random.randint(1, 3), depth + 1)
        targets = [n for n in self.scope[known:] if inexact(self.env[n])]
        if not targets:
            self.line(level + 1, f"{(y := self.new())} = {sources[0]} * {sources[0]}")
            targets = [y]
        names = [self.new(tf.zeros_like(self.env[source])) for source in sources]
        call = f"{tape}.gradient({targets[-1]}, [{', '.join(sources)}], None, 'zero')"
        # Those of tf.gather are IndexedSlices.
        self.line(level, f"[{', '.join(names)}] = map(tf.convert_to_tensor, {call})")

    def rows(self, level: int, depth: int) -> None:
        """A list or an array of tensors that a loop fills."""
        own, i = self.scope[:], self.new()
        value = self.env[self.pick(lambda value: True)]
        rows = f"rows{len(self.lines)}"
        # Of no elements nobody knows the shape while the program runs eagerly.
        count = self.random.choice(["n + 1", "2"])
        make, write, stack = self.random.choice(_ROWS)
        make = make.format(dtype=value.dtype.name, count=count)
        self.line(level, f"{rows} = {make}")
        self.line(level, f"for {i} in tf.range({count}):")
        self.env[i] = tf.constant(0)
        self.scope.append(i)
        self.block(level + 1, self.random.randrange(3), depth + 1)
        row = self.pick(lambda v: (v.dtype, v.shape) == (value.dtype, value.shape))
        self.line(level + 1, write.format(rows=rows, i=i, row=row))
        self.scope = own
        stacked = tf.stack([self.env[row]] * 2)
        if int(np.prod(stacked.shape)) <= MOST_ELEMENTS:
            self.line(level, f"{self.new(stacked)} = {stack.format(rows=rows)}")

    def recursion(self, level: int, depth: int) -> None:
        """A function that calls itself."""
        own, value = self.scope[:], self.pick(lambda value: True)
        name, k = f"g{len(self.lines)}", self.new(tf.constant(1))
        state = self.new(self.env[value])
        self.line(level, f"def {name}({k}, {state}):")
        self.line(level + 1, f"if {k} <= 0:")
        self.line(level + 2, f"return {state}")
        self.block(level + 1, self.random.randint(1, 2), 2)
        self.change(level + 1, [state])
        self.line(level + 1, f"return {name}({k} - 1, {state})")
        self.scope = own
        self.line(
            level, f"{self.new(self.env[state])} = {name}(n, tf.identity({value}))"
        )


#: How many of the expressions that raise stay in a program, which ends there.
_FAILING = 0.004
#: How rows are kept: what makes them, what adds one, and what gives all.
_ROWS = (
    ("tf.TensorArray(tf.{dtype}, {count})", "{rows} = {rows}.write({i}, {row})",
     "{rows}.stack()"),
    ("tf.TensorArray(tf.{dtype}, 0, dynamic_size=True)",
     "{rows} = {rows}.write({i}, {row})", "{rows}.stack()"),
    ("[]", "{rows}.append({row})", "tf.stack({rows})"),
)  # fmt: skip
#: What keeps the dtype and the shape of anything.
_STEPS = ("tf.identity({0})", "tf.zeros_like({0})", "tf.where({0} == {0}, {0}, {0})")


def evaluated(text: str, env: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, env)


def random_program(seed: int) -> Program:
    """Program number `seed`."""
    for attempt in itertools.count():
        random = Random(f"{seed} {attempt}")
        runs = _arguments(random)
        try:
            text = _Writer(random, runs[0]).program()
        except _Unfit:
            continue
        if "return []" not in text:
            return Program(text, runs)
    raise AssertionError("an attempt succeeds")


# --- functions ------------------------------------------------------------------------

_files = itertools.count()


def function_of(text: str) -> Callable[..., Any]:
    """The function of a program."""
    filename = f"<op program {next(_files) % 100}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    namespace: dict[str, Any] = {"tf": tf, "apply": apply}
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function
