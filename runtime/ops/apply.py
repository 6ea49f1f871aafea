"""Running an operation: at once on arrays, or as a node of the graph being built.

>>> import numpy as np
>>> from runtime.core.tensor import EagerTensor
>>> apply("Neg", EagerTensor(np.array([1.0, -2.0])))
<tf.Tensor: shape=(2,), dtype=float64, numpy=array([-1.,  2.])>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from typing import Any

import numpy as np

from runtime.core.errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
    TracedArgumentError,
)
from runtime.core.graph import Graph, leak_error
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Op, get
from runtime.core.graph.recording import Step, demote, recorders
from runtime.core.hooks import hooks
from runtime.core.location.handlers import check_op
from runtime.core.tensor import (
    EagerTensor,
    Recorded,
    SymbolicTensor,
    Tensor,
    WeakTensor,
)
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec

Array = np.ndarray[Any, Any]


def apply(op: str, /, *tensors: Tensor, name: str | None = None, **attrs: Any) -> Any:
    """Run an operation on tensors: at once, or as a node of the graph being built.

    Gives one tensor, or a tuple where the op has several (or no) results. ``name``
    names the node. Raises an `OpError` that names the op if it cannot be computed;
    while a graph is built, that is as soon as the static shapes and dtypes show it.
    """
    definition = get(op)
    graph = current_graph()
    if graph is None:
        return _run_eagerly(definition, tensors, attrs)
    return add_node(graph, definition, tensors, attrs, name)


def apply_one(
    op: str, /, *tensors: Tensor, name: str | None = None, **attrs: Any
) -> Tensor:
    """`apply` for an op with one result."""
    tensor: Tensor = apply(op, *tensors, name=name, **attrs)
    return tensor


def apply_eagerly(
    definition: Op, tensors: Sequence[Tensor], attrs: dict[str, Any]
) -> Any:
    """Run the operation at once; gives what `apply` gives."""
    arrays = []
    is_known = not tensors  # it may read a variable
    weak = bool(tensors) and not definition.strong
    for tensor in tensors:
        if type(tensor) is WeakTensor:
            tensor = tensor.narrowed() if definition.strong else tensor
        else:
            weak = False
            if type(tensor) is not EagerTensor:
                if type(tensor) not in (Recorded, DeviceTensor):
                    raise _not_eager(definition, tensor)
                is_known = True
        arrays.append(tensor._array)  # type: ignore[attr-defined]
    result = run_kernel(definition, arrays, attrs)
    if weak and as_array(result).dtype.kind in "fc":
        return WeakTensor(as_array(result))
    if type(result) is tuple:
        results = tuple([EagerTensor(as_array(item)) for item in result])
        if is_known:
            record(definition.name, tensors, attrs, results)
        return results
    found = EagerTensor(as_array(result))
    if is_known:
        record(definition.name, tensors, attrs, (found,))
    return found


def record(
    op: str, tensors: Sequence[Any], attrs: dict[str, Any], results: Sequence[Any]
) -> None:
    """Tell the open tapes of an operation that ran on what tapes may know."""
    if open_tapes := recorders():
        step = Step(op, tensors, attrs, results)
        for tape in open_tapes:
            tape.record(step)
    elif tensors:
        forget(tensors)


def forget(tensors: Iterable[Any]) -> None:
    """Let the quick ways take tensors again, if no tape is open anywhere."""

    def change() -> None:
        for tensor in tensors:
            if type(tensor) is Recorded:
                tensor.__class__ = EagerTensor  # type: ignore[assignment]

    demote(change)


_run_eagerly = apply_eagerly


def replace_eager(runner: Callable[..., Any] | None) -> None:
    """Have operations run at once by `runner` (None: by `apply_eagerly` again)."""
    global _run_eagerly
    _run_eagerly = runner or apply_eagerly


def add_node(
    graph: Graph,
    definition: Op,
    tensors: Sequence[Tensor],
    attrs: dict[str, Any],
    name: str | None = None,
) -> Any:
    """Append the operation to `graph`; gives what `apply` gives."""
    if check_handlers(definition, tensors):
        tensors = list(map(hooks.as_read, tensors))
    specs = [tensor.spec for tensor in tensors]
    try:
        inferred = infer_specs(definition, specs, attrs)
    except InvalidArgumentError as error:
        if type(error) is InvalidArgumentError:
            raise TracedArgumentError(error.node_def, error.op, error.message) from None
        raise
    results = inferred if type(inferred) is tuple else (inferred,)
    weak = bool(specs) and not definition.strong and all(spec.weak for spec in specs)
    results = tuple([s.with_weak(weak and _stands_for_python(s)) for s in results])
    outputs = graph.add(definition.name, tensors, attrs, results, name)
    return outputs if type(inferred) is tuple else outputs[0]


def _stands_for_python(spec: TensorSpec) -> bool:
    """Whether what an op makes of numbers or texts of Python may be one."""
    return spec.dtype is dtypes.wide(spec.dtype) and not spec.dtype.is_bool


def check_handlers(definition: Op, tensors: Sequence[Tensor]) -> bool:
    """Refuse the operation in a ``try`` that would catch what it raises when the graph
    runs; gives whether one of the tensors may be missing.
    """
    missing = next(filter(None, map(_missing, tensors)), None)
    raises = definition.raises
    has_effect = definition.stateful and not raises and definition.family != "check"
    check_op(definition.name, raises or missing, has_effect)
    return missing is not None


def _missing(tensor: Any) -> Exception | None:
    """What Python raises for a value that may be missing, where it is used."""
    op = getattr(tensor, "op_name", None)
    if op not in Graph.guards or hooks.fact(tensor.node.inputs[1]):
        return None
    return get(op).raises


def infer_specs(
    definition: Op, specs: Sequence[TensorSpec], attrs: dict[str, Any]
) -> Any:
    """What `definition.infer` gives; its errors name the op."""
    try:
        return definition.infer(*specs, **attrs)
    except OpError as error:
        raise error.for_op(definition.name) from None


# What NumPy warns of is a context variable. A context prepared once is much cheaper
# than np.errstate; but it hides the caller's, which effects may depend on.
_quiet = Context()
_quiet.run(np.seterr, all="ignore")


#: What kernels raise where NumPy refuses operands, or has no memory for a result.
KERNEL_ERRORS = (ValueError, TypeError, IndexError, OverflowError, MemoryError)


def run_kernel(
    definition: Op,
    arrays: Sequence[Array],
    attrs: dict[str, Any],
    kernel: Callable[..., Any] | None = None,
) -> Any:
    """What the kernel gives, without NumPy's warnings; all errors name the op."""
    kernel = kernel or definition.kernel
    try:
        if definition.stateful or definition.calls_python:
            with np.errstate(all="ignore"):
                return kernel(*arrays, **attrs)
        return _quiet.copy().run(kernel, *arrays, **attrs)
    except OpError as error:
        raise error.for_op(definition.name) from None
    except KERNEL_ERRORS as error:
        raise kernel_error(definition, arrays, attrs, error) from None


def kernel_error(
    definition: Op, arrays: Sequence[Array], attrs: dict[str, Any], error: Exception
) -> Exception:
    """The error to show where NumPy refused: what inference says of the inputs."""
    specs = [EagerTensor(array).spec for array in arrays]
    try:
        infer_specs(definition, specs, attrs)
    except OpError as inferred:
        return inferred
    if type(error) is InvalidArgumentError or isinstance(error, OpError):
        return error
    if isinstance(error, MemoryError):
        reason = str(error) or "the process has no more memory"
        return ResourceExhaustedError(reason).for_op(definition.name)
    return InvalidArgumentError(str(error)).for_op(definition.name)


def as_array(result: Any) -> Array:
    """The result of a kernel as an array, where NumPy may give a scalar."""
    if type(result) is np.ndarray:
        return result
    if isinstance(result, bytes):
        # NumPy would make a fixed-length text of it.
        return np.array(result, dtype=object)
    return np.asarray(result)


def with_dtype(result: Any) -> Any:
    """The result of a kernel; a bare text, for which NumPy has no scalar, as an array.

    Kernels give and take arrays and NumPy's scalars, which have a dtype and a shape.
    NumPy takes single elements out of an array of texts as Python's own `bytes`.
    """
    return as_array(result) if type(result) is bytes else result


def _not_eager(definition: Op, value: Any) -> Exception:
    if isinstance(value, SymbolicTensor):
        return leak_error(value, None)
    return InternalError(
        f"inputs must be converted to tensors first, not {type(value).__name__}"
    ).for_op(definition.name)
