"""What Python asks of JAX's tracers: refused at the user's line, or answered.

Importing this module changes the class of tracers, for converted functions alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax._src import source_info_util
from jax._src.core import trace_ctx

from autograph.backends.jax_functions import too_large
from autograph.frames import frame_at, outwards
from autograph.loading.on_demand import is_generated
from autograph.operators import replaced
from autograph.operators.merge.messages import refused
from autograph.operators.merge.noted import note_ends

Tracer = jax.core.Tracer
# JAX's errors tell where an operation comes from: not from here.
source_info_util.register_exclusion(__file__)
_NUMBER = ("AG302", "a tensor was used as a Python number")
_LENGTH = (
    "JAX's arrays have a length that is known: compute on all items, and mask them"
)
#: What Python asks of an array that it wants to know, and how that is refused.
_ASKED: dict[str, tuple[str, str, str]] = {
    "__array__": (
        "AG305",
        "a tensor was given to NumPy",
        "call the function of `jax.numpy`, or `jax.pure_callback`",
    ),
    "__bool__": (
        "AG301",
        "a tensor was used as a Python bool",
        "ask for it in an `if`, `while` or `and` of a converted function",
    ),
    "__complex__": (*_NUMBER, "call the function of `jax.numpy`"),
    "__float__": (*_NUMBER, "call the function of `jax.numpy`"),
    "__getitem__": (*_NUMBER, "`lax.dynamic_slice`, or mask what is not asked for"),
    "__hash__": (
        "AG313",
        "tensors are not hashable",
        "use an array in place of the dict or set: `table[n]`, `jnp.any(xs == x)`",
    ),
    "__index__": (*_NUMBER, _LENGTH),
    "__int__": (*_NUMBER, _LENGTH),
    "__iter__": ("AG303", "a tensor was iterated", "iterate an array that has rows"),
}


def _refuses(cls: Any, name: str) -> None:
    """Have what converted code cannot do say so, with a code and the user's line."""
    original = getattr(cls, name)

    @functools.wraps(original)
    def method(array: Any, *args: Any, **options: Any) -> Any:
        try:
            return original(array, *args, **options)
        except (TypeError, IndexError) as error:
            is_other = isinstance(error, IndexError) and "static" not in str(error)
            if is_other or not _is_asked_by_converted():
                raise
        code, title, fix = _ASKED[name]
        raise refused(code, title, "only the run knows the value", fix)

    setattr(cls, name, method)


def _fits(cls: Any, name: str) -> None:
    """Have arithmetic with an int that does not fit say so, as above."""
    original = getattr(cls, name)

    @functools.wraps(original)
    def method(array: Any, other: Any) -> Any:
        try:
            return original(array, other)
        except OverflowError:
            if not _is_asked_by_converted():
                raise
            raise too_large(other, array.dtype) from None
        except TypeError:
            is_known = type(other) in (list, str, tuple) or name == "__pow__"
            if not is_known or not _is_asked_by_converted():
                raise
        if name == "__pow__" and type(other) is int:
            raise refused(
                "AG310",
                "the arguments do not fit the operation",
                "JAX's ints have no negative powers, which are floats",
                "make it a float first: `float(n) ** -1`",
            )
        raise refused(
            "AG210",
            "a list in a graph cannot do this",
            "a tensor decides about its length, or it would be added to a list or text",
            "make it an array first: `jnp.asarray(xs)`, `jnp.zeros(n)`",
        )

    setattr(cls, name, _noting_ends(method) if name == "__mod__" else method)


def _noting_ends(mod: Callable[..., Any]) -> Callable[..., Any]:
    """``%`` that notes what is known of ``n % 3``, for items of lists."""

    def method(array: Any, other: Any) -> Any:
        found = mod(array, other)
        if type(other) is int and other > 0 and isinstance(found, Tracer):
            note_ends(found, (0, other - 1))
        return found

    return functools.wraps(mod)(method)


def _is_asked_by_converted() -> bool:
    own = ("autograph.", "functools")
    for frame in outwards(frame_at(2)):
        if not (frame.f_globals.get("__name__") or "").startswith(own):
            return is_generated(frame.f_code)
    return False


#: The traces of branches and loops that are in progress: not `lax.scan`'s, say.
own_traces: set[Any] = set()


def as_own(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that the backend has JAX trace."""

    @functools.wraps(function)
    def traced(*args: Any) -> Any:
        trace = trace_ctx.trace
        own_traces.add(trace)
        try:
            return function(*args)
        finally:
            own_traces.discard(trace)

    return traced


def _value_type(array: Any) -> type | None:
    """The class of the number that a tracer stands for, if it is one of Python's, which
    have weak types.
    """
    if array.ndim or not (array.weak_type or array.dtype == bool):
        return None
    return type(array.dtype.type(0).item())


def _type(array: Any) -> type | None:
    """As above, where that is sure: not of a bool, which JAX may have made, and not in
    functions that JAX traces without `jax.jit`, where it makes tracers of all numbers.
    """
    found, trace = _value_type(array), array._trace
    outer = getattr(trace, "parent_trace", None)
    is_sure = trace in own_traces or getattr(outer, "parent_trace", None) is None
    is_jitted = type(array).__name__ == "DynamicJaxprTracer"
    if found is not None and (found is bool or not is_sure or not is_jitted):
        raise refused(
            "AG300",
            "a symbolic tensor has no value",
            f"nobody knows whether Python would have a {found.__name__} here, or an "
            "array of JAX's",
            "ask for the dtype: `jnp.issubdtype(jnp.result_type(x), jnp.floating)`",
        )
    return found


def _assigns(cls: Any) -> None:
    """Let ``array[i] = x`` in converted functions be ``array = array.at[i].set(x)``."""
    original = cls.__setitem__

    def set_item(array: Any, key: Any, value: Any) -> None:
        caller = frame_at(1)
        if is_generated(caller.f_code):
            new = array.at[key].set(value)  # None, where it changed a `jax.new_ref`
            if new is None or replaced(array, new):
                return
        else:
            try:
                original(array, key, value)
                return
            except TypeError:
                module = caller.f_globals.get("__name__") or ""
                if not module.startswith("autograph.operators"):
                    raise
        raise refused(
            "AG314",
            "tensors never change",
            "no variable or attribute has this array alone, which could have another",
            "assign all indexes at once, `xs[i, j] = x`, or `xs = xs.at[i].set(x)`",
        )

    cls.__setitem__ = set_item


for _class in (Tracer, type(jnp.zeros(()))):
    _assigns(_class)
for _name in _ASKED:
    _refuses(Tracer, _name)
for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lt", "le", "gt", "ge"):
    _fits(Tracer, f"__{_name}__")
for _name in ("eq", "ne", "and", "or", "xor", "radd", "rsub", "rmul", "rpow"):
    _fits(Tracer, f"__{_name}__")
Tracer.__autograph_value_type__ = _value_type
Tracer.__autograph_type__ = _type
