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
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, tree_util
from jax._src.core import trace_state_clean  # no public name tells whether JAX traces
from jax.experimental import checkify

import autograph
from autograph.frames import frame_at
from autograph.loading.on_demand import is_generated
from autograph.operators import Perhaps, register, replaced
from autograph.operators.array_backend import ArrayBackend, Arrays, Text
from autograph.operators.merge.perhaps import text_of_missing
from autograph.operators.sequences import Items
from autograph.operators.state.retired import retiring

Tracer = jax.core.Tracer
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
        raise value.refusal()
    return (value.read(),), None


tree_util.register_pytree_node(MaybeArray, _given, lambda _, items: items[0])


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
        return jax.typeof(value)

    def join(self, one: Any, other: Any) -> Any:
        """The dtype that both are promoted to."""
        if one.shape != other.shape:
            return None
        kinds = map(_struct, (one, other))
        return jax.typeof(jax.eval_shape(lambda a, b: jnp.where(True, a, b), *kinds))

    def flatten(self, value: Any) -> Any:
        """One level of a pytree."""
        items, tree = tree_util.tree_flatten(value, is_leaf=lambda x: x is not value)
        return None if len(items) == 1 and items[0] is value else (items, tree)

    def unflatten(self, structure: Any, items: Any) -> Any:
        """The pytree of these items."""
        return tree_util.tree_unflatten(structure, items)

    def convert(self, value: Any, kind: Any) -> Any:
        """The array, with another dtype if it has another."""
        if isinstance(value, _NUMBERS):
            number = kind.dtype.type(value)
            value = number.item() if kind.weak_type else number
        value = jnp.asarray(value)
        if value.dtype != kind.dtype and kind.weak_type:
            value = value * kind.dtype.type(1).item()
        elif value.dtype != kind.dtype or (value.weak_type and not kind.weak_type):
            value = lax.convert_element_type(value, kind.dtype)
        axes = _varying(kind) - _varying(jax.typeof(value))
        return lax.pcast(value, tuple(axes), to="varying") if axes else value

    def blank(self, kind: Any) -> Any:
        """Zeros."""
        zero = kind.dtype.type(0)
        zeros = jnp.full(kind.shape, zero.item() if kind.weak_type else zero)
        return self.convert(zeros, kind)

    def trace(self, function: Any, kinds: Any) -> Any:
        """The function as a jaxpr."""
        closed = jax.make_jaxpr(function)(*map(_struct, kinds))
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
        return jnp.stack(list(map(jnp.asarray, items)))

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
        checkify.check(jnp.asarray(holds), template, *map(jnp.asarray, values))

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The answer for a builtin."""
        return _BUILTINS.get(name) or super().builtin(name)


def _print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    jax.debug.print(sep.join(["{}"] * len(values)) + end.removesuffix("\n"), *values)


_BUILTINS: dict[str, Callable[..., Any]] = {
    "float": lambda value: jnp.asarray(value, float),
    "int": lambda value: jnp.trunc(value).astype(int),
    "print": _print,
}


# --- what Python asks of tracers ------------------------------------------------------


def _assigns(cls: Any) -> None:
    """Let ``array[i] = x`` in converted functions be ``array = array.at[i].set(x)``."""
    refused = cls.__setitem__

    def set_item(array: Any, key: Any, value: Any) -> None:
        is_converted = is_generated(frame_at(1).f_code)
        if not is_converted or not replaced(array, array.at[key].set(value)):
            refused(array, key, value)

    cls.__setitem__ = set_item


BACKEND = Staging(JaxValues())
for _class in (Tracer, MaybeArray, JaxItems, Text):
    register(_class, BACKEND)
for _class in (Tracer, type(jnp.zeros(()))):
    _assigns(_class)
autograph.add_library("jax")


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """`autograph.convert`, and with it the functions that JAX calls for ``function``.

    Those given to `jax.vmap` or `lax.scan`, say, and what properties and operators
    call: they are converted in place once they turn out to have control flow that a
    tracer decides.
    """

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

    return converted
