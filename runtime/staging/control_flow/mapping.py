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

from runtime.core.errors import ConversionError, InvalidArgumentError, TracingError
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.shape import shape as shape_of
from runtime.ops.checks.debugging import assert_equal, assert_positive
from runtime.ops.containers.tensor_array import TensorArray
from runtime.ops.convert import convert_to_tensor, type_spec_from_value
from runtime.staging.control_flow.while_loops import while_loop
from runtime.staging.tracing.subgraph import trace_subgraph

# --- slices of tensors ----------------------------------------------------------------


class Slices:
    """The slices of tensors along their first axes."""

    def __init__(self, caller: str, fn: Any, elems: Any, reverse: bool = False) -> None:
        if not callable(fn):
            raise TypeError(f"{caller}: fn must be callable, not {fn!r}")
        self.caller = caller
        self.fn = fn
        self._elems = elems
        self._reverse = reverse
        self.tensors = [_as_elem(caller, *x) for x in nest.flatten_with_paths(elems)]
        if not self.tensors:
            raise ValueError(f"{caller}: elems must hold at least one tensor")
        #: The number of slices: an int where it is known.
        self.length = self._common_length()

    def _common_length(self) -> Any:
        """The length of all first axes; unknown lengths are compared in the graph."""
        lengths = [tensor.shape[0] for tensor in self.tensors]
        static = [length for length in lengths if length is not None]
        if len(set(static)) > 1:
            raise ValueError(
                f"{self.caller}: the elems are not equally long; their shapes are "
                + ", ".join(str(tensor.shape) for tensor in self.tensors)
            )
        length = static[0] if static else shape_of(self.tensors[0])[0]
        message = f"{self.caller}: the elems must be equally long"
        for tensor, static_length in zip(self.tensors, lengths):
            if static_length is None and (static or tensor is not self.tensors[0]):
                assert_equal(shape_of(tensor)[0], length, message)
        return length

    def pack(self, leaves: Sequence[Any]) -> Any:
        """Values in the structure of the elems."""
        return nest.pack_sequence_as(self._elems, leaves)

    def place(self, step: Any) -> Any:
        """The index of the slice of a step; steps count from 0."""
        return self.length - 1 - step if self._reverse else step

    def at(self, step: Any) -> Any:
        """The slice of a step."""
        index = self.place(step)
        tensors: list[Any] = self.tensors
        return self.pack([tensor[index] for tensor in tensors])

    def start(self, initializer: Any) -> tuple[Tensor, Total]:
        """The first step, and the total before it."""
        if initializer is not None:
            return convert_to_tensor(0), Total(self.caller, initializer, "initializer")
        message = f"{self.caller}: without elements there must be an initializer"
        if not isinstance(self.length, int):
            assert_positive(self.length, message)
        elif self.length == 0:
            raise ValueError(message)
        return convert_to_tensor(1), Total(self.caller, self.at(0), "elems")

    def traced(self, take: Callable[[Any], Any]) -> Any:
        """``take(result)`` of a result of `fn`, traced in a graph that never runs."""
        specs = [TensorSpec(t.shape[1:], t.dtype) for t in self.tensors]
        with building(current_graph() or Graph(self.caller)):
            graph, result = trace_subgraph(
                lambda *slices: self.fn(self.pack(slices)), specs, self.caller
            )
        with building(graph):
            return take(result)


def _as_elem(caller: str, path: str, leaf: Any) -> Tensor:
    try:
        tensor = convert_to_tensor(leaf)
    except ConversionError as error:
        raise TypeError(f"{caller}: elems{path} is no tensor: {error}") from None
    if tensor.shape.rank == 0:
        raise ValueError(
            f"{caller}: elems{path} has the shape {tensor.shape}, but it needs a first "
            "axis to loop over; of a list of numbers make a tensor, tf.constant(elems)"
        )
    return tensor


# --- the results of fn ----------------------------------------------------------------


class Expected:
    """The structure and specs that `fn` must return, and the check of a result."""

    def __init__(
        self, caller: str, structure: Any, source: str, remedy: str | None = None
    ) -> None:
        self.structure = structure
        self.specs: list[TensorSpec] = nest.flatten(structure)
        self._caller = caller
        self._source = source
        self._remedy = remedy

    def leaves(self, result: Any) -> list[Tensor]:
        """The tensors of a result. Raises if it differs from the expected structure."""
        shown, wanted = nest.outline(result), nest.outline(self.structure)
        try:
            nest.assert_same_structure(wanted, shown)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{self._caller}: fn returns {shown!r}, but {self._source} is "
                f"{wanted!r}: {error}"
            ) from None
        pairs = zip(nest.flatten_with_paths(result), self.specs)
        return [self._leaf(path, leaf, spec) for (path, leaf), spec in pairs]

    def _leaf(self, path: str, leaf: Any, spec: TensorSpec) -> Tensor:
        where = f" at result{path}" if path else ""
        try:
            tensor = convert_to_tensor(leaf, dtype_hint=spec.dtype)
        except ConversionError:
            raise TypeError(
                f"{self._caller}: fn returns {leaf!r}{where}, which is no tensor"
            ) from None
        if tensor.spec.weak and tensor.dtype is not spec.dtype:
            tensor = convert_to_tensor(tensor, spec.dtype)
        remedy = f"; tf.cast it{f', or give {self._remedy}' if self._remedy else ''}"
        if tensor.dtype is not spec.dtype:
            raise InvalidArgumentError(
                f"{self._caller}: fn returns {tensor.dtype.name}{where}, but "
                f"{self._source} has {spec.dtype.name} there{remedy}"
            )
        if not tensor.shape.is_compatible_with(spec.shape):
            raise InvalidArgumentError(
                f"{self._caller}: fn returns the shape {tensor.shape}{where}, but "
                f"{self._source} has {spec.shape} there"
            )
        return tensor


class Total:
    """The value that `scan` and the folds carry, flattened."""

    def __init__(self, caller: str, initial: Any, source: str) -> None:
        self._initial = initial
        self.tensors = [convert_to_tensor(leaf) for leaf in nest.flatten(initial)]
        specs = self.pack([TensorSpec(None, tensor.dtype) for tensor in self.tensors])
        self._expected = Expected(caller, specs, source)

    def pack(self, tensors: Sequence[Any]) -> Any:
        """Values in the structure of the total."""
        return nest.pack_sequence_as(self._initial, tensors)

    def next(self, fn: Any, tensors: Sequence[Any], item: Any) -> list[Tensor]:
        """The tensors of the total after one more slice."""
        return self._expected.leaves(fn(self.pack(tensors), item))


def as_spec(signature: Any) -> TensorSpec:
    """The spec of one result, given as a spec or as a dtype."""
    if isinstance(signature, TensorSpec):
        return signature
    return TensorSpec(None, as_dtype(signature))


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
    """The stacked results; ``done`` has the first ones that were computed already."""
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
    arrays: Sequence[TensorArray], index: Any, leaves: Sequence[Tensor]
) -> list[TensorArray]:
    return [array.write(index, leaf) for array, leaf in zip(arrays, leaves)]


def _specs_of_none(slices: Slices, results: Expected) -> list[TensorSpec]:
    """The specs of the results for zero slices, found by tracing `fn`."""
    if all(spec.shape.is_fully_defined() for spec in results.specs):
        return results.specs
    try:
        tensors = slices.traced(results.leaves)
    except TracingError as error:
        raise ValueError(
            f"{slices.caller}: there are no elements, and without one the shape of "
            "the results is not known: give fn_output_signature=tf.TensorSpec(...)"
        ) from error
    return [tensor.spec for tensor in tensors]


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
