"""What `autograph` asks of this library: see `autograph.verification.library`.

The entry point ``autograph.libraries`` in ``pyproject.toml`` names this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.graph.context import current_graph
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.function.function import Function, function
from runtime.function.report import report as report
from runtime.function.show import arguments_of
from runtime.ops.convert import constant
from runtime.ops.staged.python_calls import py_function
from runtime.ops.variables import Variable

_NUMBERS = (bool, int, float, complex)
_TENSOR = re.compile(r"tf\.Tensor\((.*?), shape=\([\d, ]*\), dtype=\w+\)", re.DOTALL)


def specs(text: str) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments that ``int32[], 0.5`` stands for: specs, and Python's values.

    Raises ValueError if it is written otherwise.
    """
    try:
        found = arguments_of(text)
        for leaf in filter(is_spec, nest.flatten(found)):
            leaf.dtype.as_numpy_dtype  # noqa: B018  (bfloat16 has none)
        return found
    except (InvalidArgumentError, TypeError, UnimplementedError) as error:
        raise ValueError(str(error)) from error


def is_spec(value: Any) -> bool:
    """Whether a value is a `TensorSpec`."""
    return isinstance(value, TensorSpec)


def array(values: Any, spec: TensorSpec) -> Any:
    """Values of a spec as Python's code takes them: numbers, or arrays of NumPy."""
    if spec.shape.rank == 0:
        return values
    return np.asarray(values, spec.dtype.as_numpy_dtype)


def tensor(value: Any, spec: TensorSpec | None = None) -> Any:
    """A tensor of a spec; without one, of a number, an array or a list of numbers, and
    all else as it is.
    """
    if spec is not None:
        return constant(value, spec.dtype)
    if isinstance(value, (*_NUMBERS, np.ndarray, np.generic)):
        return constant(value)
    if isinstance(value, list) and value and _is_regular(value):
        return constant(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(map(tensor, value))
    return value


def _is_regular(value: list[Any]) -> bool:
    """Whether a list holds numbers alone, the rows all as long as each other."""
    if all(isinstance(item, list) for item in value):
        lengths = {len(item) for item in value}
        return len(lengths) == 1 and 0 not in lengths and all(map(_is_regular, value))
    return all(isinstance(item, _NUMBERS) for item in value)


def to_python(value: Any) -> Any:
    """Numbers and lists of a tensor, a variable or an array, the text of a tensor that
    has no value, and all else as it is.
    """
    if isinstance(value, SymbolicTensor):
        return repr(value)
    if isinstance(value, (EagerTensor, Variable)):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def printed(text: str) -> str:
    """A text with tensors as the numbers and lists that Python prints."""
    return _TENSOR.sub(lambda match: re.sub(r"(?<=\S)\s+", ", ", match[1]), text)


def stagers() -> dict[str, Callable[[Callable[..., Any]], Any]]:
    """What makes a graph of a function, for each executor that is installed."""
    found: dict[str, Callable[..., Any]] = {}
    found["staged, numpy"] = partial(function, jit_compile=False)
    if find_spec("llvmlite") is not None:
        # To ask for a compiler waits for it; ``executor="native"`` begins with NumPy.
        found["staged, native"] = partial(function, jit_compile=True)
    if find_spec("jax") is not None:
        found["staged, xla"] = partial(function, executor="xla")
    return found


def observe(note: Callable[[Any], None], value: Any) -> None:
    """Call ``note`` with a value whenever the program is here; with NotImplemented for
    a value of a kind that a graph does not hand to Python.
    """
    if current_graph() is None:
        note(value)
        return
    leaves = nest.flatten(value)
    if not all(isinstance(leaf, (Tensor, *_NUMBERS, str)) for leaf in leaves):
        value, leaves = NotImplemented, []
    symbolic = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]

    def noted(*tensors: Any) -> None:
        left = iter(tensors)
        now = [
            next(left) if isinstance(leaf, SymbolicTensor) else leaf for leaf in leaves
        ]
        note(nest.pack_sequence_as(value, now) if leaves else value)

    py_function(noted, symbolic, [])


def explain(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    """The statements that tensors decide in a trace, the trace, what the function
    calls, and what of it is native code, where that is installed.
    """
    is_native = find_spec("llvmlite") is not None
    staged = f if isinstance(f, Function) else function(f, jit_compile=is_native)
    concrete = staged.get_concrete_function(*args, **kwargs)
    native = concrete.explain()
    called = str(staged.converted_callees())
    calls = f"calls\n{called}" if called else ""
    return "\n\n".join(filter(None, [str(staged.explain()), calls, native]))
