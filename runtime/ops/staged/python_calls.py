"""``tf.py_function`` and ``tf.numpy_function``: Python that runs with the program.

While a function is traced its Python code runs once, on tensors without values. What
must run each time, on values, becomes a node: it calls a Python function in its place
in the program and checks what that gives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, InvalidArgumentError
from runtime.core.graph import Graph, leak_error
from runtime.core.graph.context import building, current_graph
from runtime.core.graph.record import Op, get, register
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import nest
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply, as_array
from runtime.ops.checks.numerics import check_eager, is_checking
from runtime.ops.convert import convert_to_tensor
from runtime.ops.derivatives import without_gradient

Array = np.ndarray[Any, Any]

#: How NumPy deals with overflow and the like unless it is told otherwise. The code of
#: graphs is silent about them; what users wrote for NumPy is not.
_DEFAULT_STATE = np.geterr()


# --- the functions --------------------------------------------------------------------


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,  # noqa: N803
    name: str | None = None,
) -> Any:
    """Call ``func(*inp)`` each time the program runs, with eager tensors.

    Calls keep their order among all effects, and happen even if nobody uses the
    results. In eager code `func` is called at once. Without `func` this is a decorator.

    Args:
        func: a Python function. It may do anything: print, change Python objects, use
            other libraries. What it raises reaches the caller as it is.
        inp: a list of what becomes tensors.
        Tout: the dtype of the result, or a `tf.TensorSpec`; a list, tuple or dict of
            these for a function that gives such a structure; ``[]`` for one that gives
            None.
        name: the name of the node.

    Gives:
        Tensors in the structure of `Tout`. Of a dtype alone nobody knows the shape
        while tracing: ``tf.ensure_shape`` says and checks it, as does a TensorSpec.

    Raises:
        TypeError: `func` cannot be called, `inp` is no list or tuple, or `Tout` holds
            something else than dtypes.
        InvalidArgumentError: what `func` gave is not what `Tout` says.

    >>> from runtime.ops.convert import constant
    >>> py_function(lambda x: sorted(x.numpy()), [constant([3, 1, 2])], "int32")
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    return _call("EagerPyFunc", "tf.py_function", func, inp, Tout, name)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """As `py_function`, but `func` is called with NumPy arrays.

    It must not change them. Scalars are NumPy's scalars, and bytes for strings. A
    function whose calls matter for their results alone is not `stateful`: a call that
    nobody needs is left out.

    >>> numpy_function(np.histogram, [[1.0, 2.0, 9.0], 2], ["int64", "float32"])
    [<tf.Tensor: shape=(2,), dtype=int64, numpy=array([2, 1])>, ...]
    """
    op = "PyFunc" if stateful else "PyFuncStateless"
    return _call(op, "tf.numpy_function", func, inp, Tout, name)


def _call(
    op: str,
    caller: str,
    func: Callable[..., Any] | None,
    inp: Sequence[Any] | None,
    returned: Any,
    name: str | None,
) -> Any:
    if func is None:
        return lambda function: functools.wraps(function)(
            lambda *args: _call(op, caller, function, args, returned, name)
        )
    if not callable(func):
        raise TypeError(f"{caller} takes a function, not {func!r}")
    if not isinstance(inp, (list, tuple)):
        raise TypeError(
            f"{caller} takes a list of arguments for {_name(func)!r}; write [x] for "
            f"the one argument x, not {inp!r}"
        )
    out = _Returns(caller, _name(func), returned)
    tensors = [convert_to_tensor(value) for value in inp]
    results: Any
    if current_graph() is None and all(type(t) is EagerTensor for t in tensors):
        # Not by way of the table of ops, which takes errors for those of kernels.
        arrays = [tensor._array for tensor in tensors]  # type: ignore[attr-defined]
        found = call_python(*arrays, func=func, out=out)
        results = _each(EagerTensor, found)
        if is_checking():
            check_eager(op, tensors, results if type(results) is tuple else [results])
    else:
        results = apply(op, *tensors, name=name, func=func, out=out)
    flat = results if type(results) is tuple else [results]
    return nest.pack_sequence_as(returned, flat)


def _each(function: Callable[[Any], Any], results: Any) -> Any:
    """The one result of an op, or its tuple of results, mapped."""
    return (
        tuple(map(function, results)) if type(results) is tuple else function(results)
    )


# --- results --------------------------------------------------------------------------


class _Returns:
    """What a Python function was said to give: the static argument of its node."""

    def __init__(self, caller: str, function: str, structure: Any) -> None:
        self.caller = caller
        self.function = function
        self.specs = tuple(_spec(leaf, caller) for leaf in nest.flatten(structure))
        self._paths = [path for path, _ in nest.flatten_with_paths(structure)]
        self._structure = structure

    def __repr__(self) -> str:
        return f"({', '.join(spec.describe() for spec in self.specs)})"

    @property
    def graph_text(self) -> str:
        """The dtypes and shapes, as printed graphs show them."""
        return repr(self)

    def arrays(self, result: Any) -> Array | tuple[Array, ...]:
        """The result as one array, or as a tuple of those of a structure.

        Raises InvalidArgumentError if it is not what Tout says.
        """
        if result is None and not self.specs:
            return ()
        structure = self._structure
        if isinstance(structure, (list, tuple)):
            # As in TensorFlow lists and tuples stand for one another, and one value for
            # a list of it.
            if isinstance(result, (list, tuple)):
                structure, result = list(structure), list(result)
            elif len(structure) == 1:
                structure = structure[0]
        try:
            parts = nest.flatten_up_to(structure, result)
        except (ValueError, TypeError) as error:
            raise self._wrong(f"another structure than Tout: {error}") from None
        arrays = tuple(map(self._array, parts, self.specs, self._paths))
        return arrays[0] if len(arrays) == 1 else arrays

    def _array(self, value: Any, spec: TensorSpec, path: str) -> Array:
        where = f" at result{path}" if path else ""
        has_dtype = isinstance(value, (Tensor, np.ndarray, np.generic))
        try:
            tensor = convert_to_tensor(value, None if has_dtype else spec.dtype)
        except ConversionError:
            text = f"{value!r} of type {type(value).__name__}{where}"
            raise self._wrong(f"{text}, where Tout says {spec.dtype.name}") from None
        if tensor.dtype is not spec.dtype:
            raise self._wrong(
                f"a {tensor.dtype.name} value{where}, where Tout says "
                f"{spec.dtype.name}; convert it in the function (tf.cast, or astype of "
                "NumPy) or change Tout"
            )
        if not spec.shape.is_compatible_with(tensor.shape):
            text = f"a value of shape {tensor.shape}{where}"
            raise self._wrong(f"{text}, where Tout says {spec.shape}")
        if not isinstance(tensor, EagerTensor):
            assert isinstance(tensor, SymbolicTensor)
            raise leak_error(tensor, None)
        return tensor._array

    def _wrong(self, what: str) -> InvalidArgumentError:
        # With the op named the message stays as it is.
        text = f"{self.caller}: the function {self.function!r} gave {what}"
        return InvalidArgumentError(None, self.caller, text)


def _spec(leaf: Any, caller: str) -> TensorSpec:
    if isinstance(leaf, TensorSpec):
        return TensorSpec(leaf.shape, leaf.dtype)
    try:
        return TensorSpec(None, as_dtype(leaf))
    except (TypeError, ValueError):
        raise TypeError(
            f"{caller}: Tout says of each result the dtype or the tf.TensorSpec, such "
            f"as Tout=tf.float32 or Tout=[] for none, not {leaf!r}"
        ) from None


def _name(func: Callable[..., Any]) -> str:
    return str(getattr(func, "__name__", type(func).__name__))


# --- the ops --------------------------------------------------------------------------


def call_python(
    *arrays: Any, func: Callable[..., Any], out: _Returns
) -> Array | tuple[Array, ...]:
    """The kernel: what `func` gives, as arrays that are what `out` says."""
    as_argument = EagerTensor if out.caller == "tf.py_function" else _read_only
    arguments = [as_argument(as_array(array)) for array in arrays]
    with building(None), np.errstate(**_DEFAULT_STATE):
        return out.arrays(func(*arguments))


def _read_only(array: Array) -> Any:
    """The array as an argument: a change would be one of a tensor."""
    if not array.ndim:
        return array[()]
    view = array.view()
    view.flags.writeable = False
    return view


def _infer(*inputs: TensorSpec, func: Any, out: _Returns) -> Any:
    return out.specs[0] if len(out.specs) == 1 else out.specs


for _op in ("EagerPyFunc", "PyFunc", "PyFuncStateless"):
    register(
        Op(
            _op,
            call_python,
            _infer,
            stateful=_op != "PyFuncStateless",
            strong=True,
            family="python",
            is_own=True,
            raises_for_program=True,
            calls_python=True,
        )
    )

without_gradient("PyFunc", "PyFuncStateless")


def called_functions(graph: Graph) -> Iterator[Callable[..., Any]]:
    """The Python functions that a graph calls when it runs."""
    met = {graph}
    pending = [graph]
    for one in pending:
        for node in one.nodes:
            if "func" in node.attrs and get(node.op).calls_python:
                yield node.attrs["func"]
            inner = [sub for _, sub in node.subgraphs() if sub not in met]
            met.update(inner)
            pending += inner
