"""Python control flow on JAX's traced values.

Importing this module registers the backend; the extra is ``jax``. After that,

    jax.jit(autograph.convert(f)), jax.vmap(...), jax.grad(...)

stage ``if``, ``while``, ``for``, ``and``, … on tracers as `lax.cond`, `lax.while_loop`
and `lax.scan`. Values that are known are left to Python, also while differentiating.

What only the run can know, and plain JAX cannot raise, is a `checkify.check`: a
``raise`` in a branch, an ``assert``, and reading a variable that may have no value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, tree_util
from jax._src.core import trace_state_clean  # no public name tells whether JAX traces
from jax.experimental import checkify

import autograph
from autograph.operators import Perhaps, pattern_truth, register
from autograph.operators.array_backend import ArrayBackend, Arrays
from autograph.operators.perhaps import text_of_missing
from autograph.operators.sequences import Items

Tracer = jax.core.Tracer
_NUMBERS = (bool, int, float, complex)


# --- what values are like -------------------------------------------------------------


class MaybeArray(Perhaps):
    """A value that there may not be: to read it is checked."""

    def is_missing(self) -> None:
        """Have the check fail where there is no value."""
        BACKEND.check(self.present, text_of_missing(self))

    def __jax_array__(self) -> Any:
        return jnp.asarray(self.read())


# To return it from a function of JAX's, or give it to one, is to read it.
tree_util.register_pytree_node(
    MaybeArray, lambda value: ((value.read(),), None), lambda _, items: items[0]
)


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
        if value.dtype == kind.dtype and value.weak_type == kind.weak_type:
            return value
        if kind.weak_type:
            return value * kind.dtype.type(1).item()
        return lax.convert_element_type(value, kind.dtype)

    def blank(self, kind: Any) -> Any:
        """Zeros."""
        zero = kind.dtype.type(0)
        return jnp.full(kind.shape, zero.item() if kind.weak_type else zero)

    def trace(self, function: Any, kinds: Any) -> Any:
        """The function as a jaxpr."""
        closed = jax.make_jaxpr(function)(*map(_struct, kinds))
        outer = dict(zip(map(id, closed.jaxpr.constvars), closed.consts))
        atoms = [outer.get(id(atom), atom) for atom in closed.jaxpr.outvars]

        def again(*arrays: Any) -> Arrays:
            return list(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *arrays))

        return again, closed.jaxpr.invars, atoms


def _struct(kind: Any) -> Any:
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)


# --- statements -----------------------------------------------------------------------


class JaxItems(Items):
    """What a loop over tracers goes over."""


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

    def least(self, one: Any, other: Any) -> Any:
        """`jnp.minimum`."""
        return jnp.minimum(one, other)

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

    def check(self, holds: Any, message: str) -> None:
        """`checkify.check`."""
        text = message.replace("{", "{{").replace("}", "}}")
        checkify.check(jnp.asarray(holds), text)

    def builtin(self, name: str) -> Callable[..., Any] | None:
        """The answer for a builtin."""
        return _BUILTINS.get(name) or super().builtin(name)


_BUILTINS: dict[str, Callable[..., Any]] = {}


# --- what Python asks of tracers ------------------------------------------------------


def _asked(value: Any) -> bool:
    answer = pattern_truth(value)  # where a `match` statement asks
    return _bool(value) if answer is None else answer


BACKEND = Staging(JaxValues())
for _class in (Tracer, MaybeArray, JaxItems):
    register(_class, BACKEND)
_bool, Tracer.__bool__ = Tracer.__bool__, _asked
autograph.add_library("jax")
