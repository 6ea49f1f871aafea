"""Numbers, builtins and functions of libraries, where JAX's arrays are among them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.lax.lax import _convert_element_type  # no public name gives weak types

from autograph.errors import StagingError
from autograph.operators.array_backend import ArrayBackend
from autograph.operators.merge.messages import Text, refused


def number(value: Any, dtype: Any) -> Any:
    """A number of Python in a dtype, which has to hold it as JAX's own would."""
    try:
        made = dtype.type(value)
    except OverflowError:
        raise too_large(value, dtype) from None
    own = jax.dtypes.canonicalize_dtype(type(value))
    if isinstance(value, float) and width(dtype) < width(own):
        if made != own.type(value) and value == value:
            raise two_dtypes(own, dtype)
    elif isinstance(value, int) and made.item() != value:
        raise two_dtypes("int", dtype)
    return made


def width(dtype: Any) -> int:
    """The bits of a dtype of floats; 0 for any other."""
    return jnp.finfo(dtype).bits if jnp.issubdtype(dtype, jnp.floating) else 0


def too_large(value: Any, dtype: Any) -> StagingError:
    """The error AG216, for an int that a dtype cannot hold."""
    return refused(
        "AG216",
        "an integer does not fit",
        f"{value} has no place in {dtype}",
        "begin with a float, or switch on `jax_enable_x64`",
    )


def two_dtypes(one: Any, other: Any) -> StagingError:
    """The error AG206, for a number that would be rounded."""
    return refused(
        "AG206",
        "a value has two dtypes",
        f"a number ({one}) would be rounded to the {other} that it meets",
        f"make it an array of the dtype that you want: `jnp.{other}(…)`",
    )


class _Shown:
    """A value as a text has it: a number without its dtype."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)

    def __str__(self) -> str:
        return str(self._value)

    def __repr__(self) -> str:
        return repr(self._value) if self._value.shape else str(self)


def _print(*values: Any, sep: str = " ", end: str = "\n", **options: Any) -> None:
    """``print``, when the program runs."""
    templates, arrays = [], []
    for value in values:
        text = Text.of(value)
        templates.append(text.template)
        arrays.append(text.values)
    leaves, tree = jax.tree.flatten(arrays)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def show(*present: Any) -> None:
        shown = [*leaves]
        for place, value in zip(places, present):
            shown[place] = _Shown(value)
        parts = zip(templates, jax.tree.unflatten(tree, shown))
        print(*(t.format(*v) for t, v in parts), sep=sep, end=end, **options)

    one = jax.device_count() == 1  # JAX keeps no order where there are many
    jax.debug.callback(show, *(leaves[place] for place in places), ordered=one)


def _int(value: Any, base: Any = None) -> Any:
    """``int(value)``: of Python's rules for dtypes, as a number of Python."""
    return _of_python(jnp.trunc(jnp.asarray(value)), int)


def _of_python(value: Any, kind: Any) -> Any:
    """An array as a number of Python's, which has a weak type."""
    return of_dtype(jnp.asarray(value), jax.dtypes.canonicalize_dtype(kind), True)


def of_dtype(value: Any, dtype: Any, weak_type: bool) -> Any:
    """An array with another dtype, which is that of Python's numbers or is not."""
    return _convert_element_type(value, dtype, weak_type=weak_type)


def _round(value: Any, digits: Any = None) -> Any:
    """``round(value)``, which of a float gives an int; of an array JAX's."""
    value = jnp.asarray(value)
    is_number = value.weak_type and not value.ndim and digits is None
    rounded = jnp.round(value, digits or 0)
    return _int(rounded) if is_number else rounded


def _sorted(
    backend: ArrayBackend, items: Any, *, key: Any = None, reverse: Any = False
) -> list[Any]:
    """``sorted(items)`` of numbers, or by numbers as keys."""
    items = list(items)
    keys = items if key is None else list(map(key, items))
    if not all(isinstance(x, (int, float)) or jnp.ndim(x) == 0 for x in keys):
        raise refused(
            "AG210",
            "a list in a graph cannot do this",
            "it is sorted by what are no numbers, and a tensor decides about the order",
            "sort by one number: `key=lambda item: item[0]`",
        )
    order = jnp.argsort(backend.stack(keys), stable=True, descending=bool(reverse))
    return [backend.picked(items, index) for index in order]


def _domain(backend: ArrayBackend, function: Any, *values: Any) -> Any:
    """A function of `math` as JAX's, with the error of Python's under `checkify`."""
    found = function(*values)
    known = functools.reduce(operator.and_, map(jnp.isfinite, values))
    message = "ValueError: math domain error"
    backend.check_index(~known | jnp.isfinite(found), message)
    return found


def _log(value: Any, base: Any = None) -> Any:
    """``math.log(value, base)``."""
    return jnp.log(value) if base is None else jnp.log(value) / jnp.log(base)


#: Functions of `math`, and how JAX calls them where that is another name.
_MATH = dict.fromkeys(
    (
        *("cbrt", "copysign", "cos", "cosh", "degrees", "exp", "exp2", "expm1"),
        *("fmod", "hypot", "isfinite", "isinf", "isnan", "log10", "log1p", "log2"),
        *("radians", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
)
_MATH |= {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh"}
_MATH |= {"atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "fabs": "abs"}
_MATH |= {"pow": "float_power"}
_DOMAINS = {"acos", "acosh", "asin", "atanh", "fmod", "log", "log10", "log1p", "log2"}
_DOMAINS |= {"sqrt"}
_OTHERS = {
    "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc,
    "gamma": jax.scipy.special.gamma,
    "lgamma": jax.scipy.special.gammaln,
    "log": _log,
}
#: Functions of NumPy that make arrays to be changed in place, which JAX's are not.
_MAKING = {"array", "asarray", "copy", "empty_like", "full_like", "ones_like"}
_MAKING |= {"asanyarray", "ascontiguousarray", "zeros_like"}


def _of_library(backend: ArrayBackend, name: str) -> Callable[..., Any] | None:
    """JAX's function for one of NumPy or `math`, by its full name; None if none is."""
    module, *path = name.split(".")
    if module == "numpy" and path[0] not in _MAKING:
        same: Any = jnp
        for part in path:
            same = getattr(same, part, None)
        return same if callable(same) else None
    if module != "math" or path[0] not in (*_MATH, *_OTHERS):
        return None
    found = _OTHERS.get(path[0]) or getattr(jnp, _MATH[path[0]] or path[0])

    def of_floats(*values: Any) -> Any:
        numbers = [_of_python(value, float) for value in values]
        if path[0] in _DOMAINS:
            return _domain(backend, found, *numbers)
        return found(*numbers)

    return of_floats


def _array_item(items: Any, key: Any) -> Any:
    """``array[start:stop]`` with ends that only the run knows is no array of JAX's."""
    if not isinstance(key, slice):
        return NotImplemented
    raise refused(
        "AG302",
        "a tensor was used as a Python number",
        "the end of a slice is traced, and JAX has no arrays of a length that only the "
        "run knows",
        "`lax.dynamic_slice(xs, (start,), (length,))` for a length that is known, or "
        "keep all items and mask them: `jnp.where(jnp.arange(len(xs)) < n, xs, 0)`",
    )


_BUILTINS: dict[str, Callable[..., Any]] = {
    "array item": _array_item,
    "float": lambda value: _of_python(value, float),
    "int": _int,
    "math.ceil": lambda value: _int(jnp.ceil(value)),
    "math.gcd": lambda *values: functools.reduce(jnp.gcd, values),
    "math.floor": lambda value: _int(jnp.floor(value)),
    "math.prod": lambda items: functools.reduce(operator.mul, items, 1),
    "math.trunc": _int,
    "print": _print,
    "round": _round,
}


def answer(backend: ArrayBackend, name: str) -> Callable[..., Any] | None:
    """The answer for a builtin, or a function of a library; None if there is none."""
    if name == "sorted":
        return functools.partial(_sorted, backend)
    if name == "list.sort":
        return lambda items, **options: items.__setitem__(
            slice(None), _sorted(backend, items, **options)
        )
    return _BUILTINS.get(name) or (_of_library(backend, name) if "." in name else None)
