"""Python control flow on JAX's traced values.

Importing this module registers the backend; the extra is ``jax``. After that,

    jax.jit(autograph.convert(f)), jax.vmap(...), jax.grad(...)

stage ``if``, ``while``, ``for``, ``and``, … on tracers as `lax.cond`, `lax.while_loop`
and `lax.scan`. Values that are known are left to Python, also while differentiating.

What only the run can know, and plain JAX cannot raise, is a `checkify.check`: a
``raise`` in a branch, an ``assert``, and reading a variable that may have no value.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jax import lax, tree_util
from jax._src.checkify import check_lowering_rule, check_p  # these have no public names
from jax._src.core import trace_state_clean  # nor has what tells whether JAX traces
from jax.experimental import checkify
from jax.interpreters import mlir

import autograph
from autograph.backends.jax_functions import (
    answer,
    number,
    of_dtype,
    too_large,
    two_dtypes,
    width,
)
from autograph.backends.jax_tracers import Tracer, as_own
from autograph.diagnostics import Diagnostic
from autograph.errors import StagingError
from autograph.operators import Perhaps, register
from autograph.operators.array_backend import ArrayBackend, Arrays
from autograph.operators.calls import answer_for_libraries
from autograph.operators.merge.forms import Row, refusal_of_items
from autograph.operators.merge.messages import Located, Text, raise_if_settled
from autograph.operators.merge.perhaps import text_of_missing
from autograph.operators.sequences import Items
from autograph.operators.state.mutations import may_see_order
from autograph.operators.state.retired import retiring

_NUMBERS = (bool, int, float, complex)


# --- what values are like -------------------------------------------------------------


class MaybeArray(Perhaps):
    """A value that there may not be: to read it is checked."""

    __slots__ = ()

    def is_missing(self) -> None:
        """Have the check fail where there is no value."""
        BACKEND.check(self.present, text_of_missing(self))

    def __jax_array__(self) -> Any:
        return jnp.asarray(self.read())


def _given(value: MaybeArray) -> Any:
    """What a function of JAX's gets, or gives: the value, and never None."""
    if value.absent is None and not value.is_there():
        raise value.refusal(value.place)
    if not value.is_there():
        BACKEND.check(value.present, Located.of(text_of_missing(value), value.place))
    inner = value.value
    return (inner.read() if isinstance(inner, MaybeArray) else inner,), None


tree_util.register_pytree_node(MaybeArray, _given, lambda _, items: items[0])
tree_util.register_pytree_node(Row, lambda row: ([*row], None), lambda _, x: [*x])


class Structure(NamedTuple):
    """A kind of pytree: its class, and its keys or JAX's description."""

    cls: type
    details: Hashable

    def __str__(self) -> str:
        keys = ""
        if self.cls in (dict, defaultdict) and isinstance(self.details, tuple):
            keys = f" with the keys {', '.join(map(repr, self.details[1:]))},"
        return f"a {self.cls.__name__}{keys}"


class JaxValues:
    """What JAX says of its values, for `Forms`: a kind is an aval."""

    perhaps: type[Perhaps] = MaybeArray

    def kind(self, value: Any, carried: bool) -> Any:
        """The shape and dtype, and whether Python's rules give the dtype."""
        is_array = isinstance(value, jax.Array) or (
            hasattr(value, "dtype") and hasattr(value, "shape")
        )
        if not is_array and not (carried and isinstance(value, _NUMBERS)):
            return None
        try:
            return jax.typeof(value)
        except OverflowError:
            raise too_large(value, "int32") from None

    def join(self, one: Any, other: Any) -> Any:
        """The dtype that both are promoted to."""
        if one.shape != other.shape:
            return None
        kinds = map(_struct, (one, other))
        return jax.typeof(jax.eval_shape(lambda a, b: jnp.where(True, a, b), *kinds))

    def flatten(self, value: Any) -> Any:
        """One level of a pytree."""
        if type(value) in (dict, defaultdict):  # JAX sorts the keys
            factory = getattr(value, "default_factory", None)
            return list(value.values()), Structure(type(value), (factory, *value))
        items, tree = tree_util.tree_flatten(value, is_leaf=lambda x: x is not value)
        is_leaf = len(items) == 1 and items[0] is value
        return None if is_leaf else (items, Structure(type(value), tree))

    def unflatten(self, structure: Any, items: Any) -> Any:
        """The pytree of these items."""
        if structure.cls is Row:
            return Row(items)
        if structure.cls not in (dict, defaultdict):
            return tree_util.tree_unflatten(structure.details, items)
        factory, *keys = structure.details
        made: Any = {} if structure.cls is dict else defaultdict(factory)
        made.update(zip(keys, items))
        return made

    def reorder(self, items: Any, structure: Any, wanted: Any, joins: bool) -> Any:
        """The items of a dict in another order: JAX itself sorts keys."""
        classes = {structure.cls, wanted.cls}
        if len(classes) > 1 or not classes <= {dict, defaultdict}:
            return None
        (_, *keys), (_, *others) = structure.details, wanted.details
        if set(keys) != set(others) or (joins and may_see_order()):
            return None
        found = dict(zip(keys, items))
        return [found[key] for key in others]

    def convert(self, value: Any, kind: Any) -> Any:
        """The array, with another dtype if it has another."""
        if isinstance(value, _NUMBERS):
            made = number(value, kind.dtype)
            value = made.item() if kind.weak_type else made
        value = jnp.asarray(value)
        is_rounded = width(value.dtype) > width(kind.dtype)
        if is_rounded and value.weak_type and not kind.weak_type:
            raise_if_settled(two_dtypes(value.dtype, kind.dtype))
        if value.dtype != kind.dtype or value.weak_type != kind.weak_type:
            value = of_dtype(value, kind.dtype, kind.weak_type)
        axes = _varying(kind) - _varying(jax.typeof(value))
        return lax.pcast(value, tuple(axes), to="varying") if axes else value

    def blank(self, kind: Any) -> Any:
        """Zeros."""
        zero = kind.dtype.type(0)
        zeros = jnp.full(kind.shape, zero.item() if kind.weak_type else zero)
        return self.convert(zeros, kind)

    def trace(self, function: Any, kinds: Any) -> Any:
        """The function as a jaxpr."""
        closed = jax.make_jaxpr(as_own(function))(*map(_struct, kinds))
        outer = dict(zip(map(id, closed.jaxpr.constvars), closed.consts))
        atoms = [outer.get(id(atom), atom) for atom in closed.jaxpr.outvars]

        def again(*arrays: Any) -> Arrays:
            return list(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *arrays))

        return again, closed.jaxpr.invars, atoms


def _struct(kind: Any) -> Any:
    more = {}
    if _varying(kind):
        more = {"manual_axis_type": kind.manual_axis_type, "sharding": kind.sharding}
    return jax.ShapeDtypeStruct(
        kind.shape, kind.dtype, weak_type=kind.weak_type, **more
    )


def _varying(kind: Any) -> frozenset[str]:
    """The axes of `jax.shard_map` along which an array differs."""
    axes = getattr(kind, "manual_axis_type", None)
    return frozenset() if axes is None else frozenset(axes.varying)


# --- statements -----------------------------------------------------------------------


class JaxItems(Items):
    """What a loop over tracers goes over."""

    __slots__ = ()


_NO_INDEX = "; of items of one kind make an array, which JAX clamps: jnp.stack(xs)[i]"


def _lower_check(ctx: Any, *args: Any, err_tree: Any, debug: bool) -> Any:
    """JAX's rule for a check; its refusal where nobody asks for the error is ours."""
    try:
        return check_lowering_rule(ctx, *args, err_tree=err_tree, debug=debug)
    except ValueError as error:
        failures = tree_util.tree_unflatten(err_tree, args)._metadata.values()
        found = (tree_util.tree_unflatten(f, [0] * f.num_leaves) for f in failures)
        texts = (getattr(failure, "fmt_string", None) for failure in found)
        text = next((text for text in texts if isinstance(text, Located)), None)
        if text is None:
            raise
        raise StagingError(
            Diagnostic(
                "AG218",
                "an exception that a program cannot raise",
                f"the program may raise here when it runs ({text})",
                text.place,
                "checkify.checkify(jax.jit(f)) gives the error beside the result"
                + _NO_INDEX * text.startswith("IndexError"),
            )
        ) from error


class Staging(ArrayBackend):
    """The backend: see `autograph.operators.array_backend`."""

    tells = staticmethod(lambda: not trace_state_clean())
    sequence = JaxItems

    def stages(self, value: Any) -> bool:
        """Tracers without a value: differentiating alone, JAX has the value."""
        return not isinstance(value, Tracer) or value.to_concrete_value() is None

    def choose(self, test: Any, if_true: Any, if_false: Any) -> Arrays:
        """`lax.cond`."""
        chosen: Arrays = lax.cond(test, if_true, if_false)
        return chosen

    def repeat(self, test: Any, body: Any, arrays: Arrays) -> Arrays:
        """`lax.while_loop`."""
        last: Arrays = lax.while_loop(test, body, arrays)
        return last

    def scan(self, body: Any, arrays: Arrays, rows: Any) -> Arrays:
        """`lax.scan`, which has gradients."""
        last: Arrays
        last, _ = lax.scan(lambda inside, row: (body(inside, row), None), arrays, rows)
        return last

    def row(self, rows: Any) -> Any:
        """The shapes and dtypes of a row."""
        return jax.eval_shape(lambda: jax.tree.map(lambda array: array[0], rows))

    def indices(self, length: int) -> Any:
        """`jnp.arange`."""
        return jnp.arange(length)

    def rows_of(self, iterated: Any) -> Items:
        """Along the first axis."""
        array = jnp.asarray(iterated)
        if not array.ndim:
            raise TypeError("iteration over a 0-d array")
        return JaxItems(len(array), lambda index: array[index], lambda: array)

    def stack(self, items: list[Any]) -> Any:
        """`jnp.stack`."""
        try:
            return jnp.stack(list(map(jnp.asarray, items)))
        except (TypeError, ValueError, OverflowError):
            raise refusal_of_items("list") from None

    def where(self, test: Any, one: Any, other: Any) -> Any:
        """`jnp.where`."""
        return jnp.where(test, one, other)

    def truth(self, value: Any) -> Any:
        """As Python asks for it: of one element."""
        array = jnp.asarray(value if hasattr(value, "dtype") else bool(value))
        if array.size != 1:
            raise ValueError(
                "the truth value of an array with many elements is ambiguous"
            )
        return (
            array if array.dtype == bool and not array.ndim else array.reshape(()) != 0
        )

    def check_index(self, holds: Any, message: str) -> None:
        """`checkify.debug_check`: without it, JAX's own rules hold for indexes."""
        checkify.debug_check(holds, message)

    def check(self, holds: Any, template: str, *values: Any) -> None:
        """`checkify.check`."""
        template = Located.of(template)
        checkify.check(jnp.asarray(holds), template, *map(jnp.asarray, values))

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The answer for a builtin."""
        return answer(self, name) or super().builtin(name)


BACKEND = Staging(JaxValues())
for _class in (Tracer, MaybeArray, JaxItems, Text):
    register(_class, BACKEND)
for _platform in ("cpu", "cuda", "rocm", "tpu"):
    mlir.register_lowering(check_p, _lower_check, platform=_platform)
autograph.add_library("jax")
answer_for_libraries(Staging.tells)


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """`autograph.convert`, and with it the functions that JAX calls for ``function``.

    Those given to `jax.vmap` or `lax.scan`, say, and what properties and operators
    call: they are converted in place once they turn out to have control flow that a
    tracer decides. The same function has the same converted one, so that `jax.jit` does
    not trace it again.
    """
    made = getattr(function, "__autograph_jax__", None)
    if made is not None and made.__wrapped__ is function:
        return cast("Callable[..., Any]", made)

    @functools.wraps(function)
    def converted(*args: Any, **kwargs: Any) -> Any:
        while True:
            try:
                with retiring():
                    return autograph.convert(function)(*args, **kwargs)
            except (
                jax.errors.ConcretizationTypeError,
                jax.errors.TracerIntegerConversionError,
            ) as error:
                if not autograph.convert_raising(error):
                    raise

    if isinstance(function, FunctionType):
        function.__autograph_jax__ = converted  # type: ignore[attr-defined]
    return converted
