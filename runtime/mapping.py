"""Functions of the slices of tensors: `map_fn`, `scan`, `foldl`, `foldr`.

Each is one loop over the first axis. Outside of graphs it runs in Python, while a
function is traced it becomes one ``While`` node.

>>> import runtime as tf
>>> print(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])))
tf.Tensor([1 4 9], shape=(3,), dtype=int32)
>>> print(tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3])))
tf.Tensor([1 3 6], shape=(3,), dtype=int32)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime import nest
from runtime.context import current_graph
from runtime.errors import TracingError
from runtime.ops.convert import convert_to_tensor
from runtime.ops.type_specs import type_spec_from_value
from runtime.slices import Expected, Slices, as_spec
from runtime.specs import TensorSpec
from runtime.tensor import Tensor
from runtime.tensor_array import TensorArray
from runtime.while_loops import while_loop

__all__ = ["foldl", "foldr", "map_fn", "scan", "vectorized_map"]


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """The results of `fn` for each slice of `elems` along the first axis, stacked.

    Args:
        fn: takes one argument, the slice: a structure of tensors as `elems`.
        elems: a tensor, or a structure of tensors that are equally long.
        fn_output_signature: the dtypes, or `TensorSpec`s, of what `fn` returns, in the
            structure in which it returns them. Without it `fn` returns what it gets:
            the structure and dtypes of `elems`.
        dtype: the older name of `fn_output_signature`.
        infer_shape: whether all results must have one shape.
        parallel_iterations, back_prop, swap_memory: accepted, without effect.

    Raises:
        ValueError, TypeError: `fn` returns another structure, or `elems` are not
            equally long.
        InvalidArgumentError: `fn` returns tensors of other dtypes.

    >>> import runtime as tf
    >>> big = lambda x: x > 1
    >>> print(tf.map_fn(big, tf.constant([1, 2]), fn_output_signature=tf.bool))
    tf.Tensor([False  True], shape=(2,), dtype=bool)
    """
    slices = Slices("map_fn", fn, elems)
    signature = dtype if fn_output_signature is None else fn_output_signature
    if signature is None:
        given = "elems (fn_output_signature was not given)"
        wanted = slices.pack([TensorSpec(None, t.dtype) for t in slices.tensors])
    else:
        given = "fn_output_signature"
        wanted = nest.map_structure(as_spec, signature)
    results = Expected("map_fn", wanted, given, "fn_output_signature")
    return _map(slices, results, infer_shape, name or "map")


def vectorized_map(
    fn: Callable[[Any], Any],
    elems: Any,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """As `map_fn`, but `fn` may return any structure and dtypes.

    To see which, `fn` is traced once more. It runs as a loop: `fallback_to_while_loop`
    and `warn` are accepted, without effect. The first axes must be equally long, also
    where one has length 1.

    >>> import runtime as tf
    >>> print(tf.vectorized_map(lambda x: x > 1, tf.constant([1, 2, 3])))
    tf.Tensor([False  True  True], shape=(3,), dtype=bool)
    """
    slices = Slices("vectorized_map", fn, elems)
    eager = current_graph() is None and slices.length != 0
    first = fn(slices.at(0)) if eager else None
    wanted = _specs_of(first) if eager else slices.traced(_specs_of)
    results = Expected("vectorized_map", wanted, "its first result")
    done = [first] if eager else []
    return _map(slices, results, True, "vectorized_map", done)


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All the values of ``total = fn(total, slice)`` over the first axis, stacked.

    It begins with `initializer`, of whose structure, dtypes and shapes the total stays;
    without one with the first slice, which is then the first result. `reverse` goes
    from the last slice to the first. The other arguments and the errors are those of
    `map_fn`.

    >>> import runtime as tf
    >>> add = lambda total, x: total + x
    >>> print(tf.scan(add, tf.constant([1, 2, 3]), initializer=10, reverse=True))
    tf.Tensor([16 15 13], shape=(3,), dtype=int32)
    """
    slices = Slices("scan", fn, elems, reverse)
    start, total = slices.start(initializer)
    arrays = [
        TensorArray(
            leaf.dtype,
            size=slices.length,
            element_shape=leaf.shape if infer_shape else None,
            infer_shape=infer_shape,
        )
        for leaf in total.tensors
    ]
    if initializer is None:
        arrays = _written(arrays, slices.place(0), total.tensors)

    def body(step: Any, tensors: Any, arrays: Any) -> Any:
        leaves = total.next(fn, tensors, slices.at(step))
        return step + 1, leaves, _written(arrays, slices.place(step), leaves)

    variables = (start, total.tensors, arrays)
    _, _, arrays = _loop(slices, body, variables, name or "scan")
    return total.pack([array.stack() for array in arrays])


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of ``total = fn(total, slice)``, from the first slice on.

    Arguments and errors are those of `scan`.

    >>> import runtime as tf
    >>> print(tf.foldl(lambda total, x: 10 * total + x, tf.constant([1, 2, 3])))
    tf.Tensor(123, shape=(), dtype=int32)
    """
    return _fold(Slices("foldl", fn, elems), initializer, name or "foldl")


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """As `foldl`, from the last slice to the first.

    >>> import runtime as tf
    >>> print(tf.foldr(lambda total, x: 10 * total + x, tf.constant([1, 2, 3])))
    tf.Tensor(321, shape=(), dtype=int32)
    """
    slices = Slices("foldr", fn, elems, reverse=True)
    return _fold(slices, initializer, name or "foldr")


# --- loops ----------------------------------------------------------------------------


def _map(
    slices: Slices,
    results: Expected,
    infer_shape: bool,
    name: str,
    done: Sequence[Any] = (),
) -> Any:
    """The stacked results, of which the first ones may be there already."""
    specs = results.specs
    if current_graph() is None and slices.length == 0:
        specs = _specs_of_none(slices, results)
    arrays = [
        TensorArray(
            spec.dtype,
            size=slices.length,
            element_shape=spec.shape,
            infer_shape=infer_shape,
        )
        for spec in specs
    ]
    for step, result in enumerate(done):
        arrays = _written(arrays, step, results.leaves(result))

    def body(step: Any, arrays: Any) -> Any:
        leaves = results.leaves(slices.fn(slices.at(step)))
        return step + 1, _written(arrays, step, leaves)

    start = convert_to_tensor(len(done))
    _, arrays = _loop(slices, body, (start, arrays), name)
    stacked = [array.stack() for array in arrays]
    return nest.pack_sequence_as(results.structure, stacked)


def _written(
    arrays: Sequence[TensorArray], place: Any, leaves: Sequence[Tensor]
) -> list[TensorArray]:
    return [array.write(place, leaf) for array, leaf in zip(arrays, leaves)]


def _specs_of_none(slices: Slices, results: Expected) -> list[TensorSpec]:
    """What the results look like that there are none of: tracing `fn` tells."""
    if all(spec.shape.is_fully_defined() for spec in results.specs):
        return results.specs
    try:
        found = slices.traced(results.leaves)
    except TracingError as error:
        raise ValueError(
            f"{slices.caller}: there are no elements, and without one the shape of "
            "the results is not known: give fn_output_signature=tf.TensorSpec(...)"
        ) from error
    return [tensor.spec for tensor in found]


def _specs_of(result: Any) -> Any:
    return nest.map_structure(type_spec_from_value, result)


def _fold(slices: Slices, initializer: Any, name: str) -> Any:
    start, total = slices.start(initializer)

    def body(step: Any, tensors: Any) -> Any:
        return step + 1, total.next(slices.fn, tensors, slices.at(step))

    _, tensors = _loop(slices, body, (start, total.tensors), name)
    return total.pack(tensors)


def _loop(slices: Slices, body: Callable[..., Any], variables: Any, name: str) -> Any:
    """Repeat the body, whose first variable is the step, for all slices."""
    return while_loop(lambda step, *_: step < slices.length, body, variables, name=name)
