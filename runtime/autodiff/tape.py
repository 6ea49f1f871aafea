"""`GradientTape`: records what runs in its block, and goes back through it."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from runtime.autodiff.backprop import (
    Recording,
    backprop,
    has_gradient,
    load_rules,
    mark_recorded,
    outside,
)
from runtime.autodiff.control_flow import operands
from runtime.autodiff.jacobians import batch_jacobian, jacobian, zero_jacobian
from runtime.autodiff.sparse import added
from runtime.core.errors import GradientError, InvalidArgumentError, TracingWarning
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph, enclosing
from runtime.core.graph.recording import Recorder, begin_recording, end_recording
from runtime.core.location.user_code import user_position
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import nest
from runtime.ops.apply import forget
from runtime.ops.arrays.creation import ones_like, zeros_like
from runtime.ops.convert import convert_to_tensor
from runtime.ops.variables import IndexedSlices, Variable, underlying


class UnconnectedGradients(enum.Enum):
    """What the gradient of a source is that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


class GradientTape(Recorder):
    """Records operations in its block, to compute gradients of what they gave.

    Trainable variables that are read in the block are watched by themselves, tensors
    where `watch` is called.

    >>> import runtime as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

    Tapes nest: what an inner one computes in the block of an outer one is recorded
    there, and has a gradient.

    Args:
        persistent: whether `gradient` may be called several times. A tape keeps all
            that was recorded as long as it may be needed.
        watch_accessed_variables: whether trainable variables are watched that are read
            in the block.
    """

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True
    ) -> None:
        load_rules()
        self._persistent = persistent
        self.repeats = 2 if persistent else 1
        self._watches_variables = watch_accessed_variables
        self._recording: Recording | None = Recording()
        self._variables: dict[int, Variable] = {}
        self._graph: Graph | None = None
        self._is_open = False
        self._is_paused = False

    # --- the block --------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._is_open:
            raise ValueError("the tape is recording already")
        self._open()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._is_open:
            self._close()

    def _open(self) -> None:
        if self._recording is None:
            self._recording = Recording()
        self._graph = current_graph()
        self._is_open = True
        begin_recording(self)
        # They may have been taken for plain ones while no tape was open.
        mark_recorded(self._recording.known.values())

    def _close(self) -> None:
        self._is_open = False
        end_recording(self)

    # --- recording --------------------------------------------------------------------

    def record(self, step: Any) -> None:
        """Hear of an operation: see `runtime.core.graph.recording`."""
        if self._is_paused or self._recording is None or not self._is_here(step.graph):
            return
        if self._watches_variables:
            for operand in operands(step):
                if isinstance(operand, Variable) and operand.trainable:
                    self._watch_variable(operand)
        self._recording.record(step)

    def extended(self, node: Any, added: Sequence[Any]) -> None:
        """Hear of further outputs of a node: see `runtime.core.graph.recording`."""
        if self._recording is not None:
            self._recording.extended(node, added)

    def wants(self, operand: Any) -> bool:
        """Whether an eager tensor or variable is one whose use is recorded."""
        if self._is_paused or self._recording is None or self._graph is not None:
            return False
        if id(operand) in self._recording.known:
            return True
        is_variable = isinstance(operand, Variable) and operand.trainable
        return is_variable and self._watches_variables and has_gradient(operand)

    def _is_here(self, graph: Graph | None) -> bool:
        """Whether a graph is the one of the block, or lies in it."""
        if graph is self._graph:
            return True
        return self._graph is not None and self._graph in enclosing(graph)

    def _watch_variable(self, variable: Variable) -> None:
        if self._recording is not None and has_gradient(variable):
            self._variables.setdefault(id(variable), variable)
            self._recording.watch(variable)

    def watch(self, tensor: Any) -> None:
        """Record what is computed from a tensor, a variable, or those of a structure.

        Warns of tensors of other numbers, which have no gradient, and raises ValueError
        for what is no tensor.
        """
        for item in map(underlying, nest.flatten(tensor)):
            if not isinstance(item, (Tensor, Variable)):
                raise ValueError(
                    f"a tape watches tensors and variables, not {type(item).__name__}"
                )
            if not has_gradient(item):
                warnings.warn(
                    "a tape watches tensors of floats or complex numbers; the gradient "
                    f"is None for {item.dtype.name}: {item!r}",
                    TracingWarning,
                    stacklevel=2,
                )
            elif isinstance(item, Variable):
                self._watch_variable(item)
            elif self._recording is not None:
                item = in_graph(item, is_source=True)
                self._recording.watch(item)
                if self._is_open:
                    mark_recorded([item])

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Nothing in this block is recorded.

        Raises RuntimeError if the tape is not recording.
        """
        if not self._is_open or self._is_paused:
            raise RuntimeError("stop_recording() is for a tape that is recording")
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    def reset(self) -> None:
        """Forget all that was recorded and watched."""
        self._recording = Recording()
        self._variables = {}

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that are watched, in the order of their first use."""
        return tuple(self._variables.values())

    # --- gradients --------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of `target` with respect to `sources`.

        Args:
            target: a tensor or variable, or a structure of them, which are added.
            sources: tensors and variables in any structure, which the result has.
            output_gradients: what the gradients of the targets are multiplied with, in
                the structure of `target`; ones, where it is None.
            unconnected_gradients: "none" gives None and "zero" zeros for a source that
                the target does not depend on.

        Rows that were gathered from a source by indices have `tf.IndexedSlices`.

        Raises:
            RuntimeError: the tape is not persistent, and was used already.
            LookupError: the target depends on a source by an operation without
                gradient.
        """
        kind = UnconnectedGradients(unconnected_gradients)
        recording = self._take()
        flat = _sources(sources)
        if self._graph is not None:
            _check_reached(nest.flatten(target), self._graph)
        watched = [source for source in flat if id(source) in recording.known]
        given = seeds(target, output_gradients)
        found = iter(backprop(recording.steps, given, watched))
        results = [next(found) if id(s) in recording.known else None for s in flat]
        return _completed(results, flat, sources, kind, zeros_like)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The gradients of all elements of `target`, a tensor.

        The result has the structure of `sources`; each tensor has the shape of the
        target followed by that of the source. In a graph it is a loop over the elements
        of the target. The last two arguments are for programs of TensorFlow: they
        change nothing here.

        >>> import runtime as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.jacobian(y, x).numpy())
        [[2. 0.]
         [0. 4.]]

        Raises what `gradient` raises.
        """
        kind = UnconnectedGradients(unconnected_gradients)
        recording = self._take()
        flat, of = _sources(sources), _one_target(target)
        watched = [source for source in flat if id(source) in recording.known]
        found = iter(jacobian(recording, of, watched))
        results = [next(found) if id(s) in recording.known else None for s in flat]
        return _completed(
            results, flat, sources, kind, lambda source: zero_jacobian(of, source)
        )

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each ``target[i]`` by ``source[i]``.

        Right where ``target[i]`` depends on no other part of the source. The result has
        the shape ``[n, *target.shape[1:], *source.shape[1:]]``. The last two arguments
        change nothing.

        Raises what `gradient` raises; ValueError for a target or source without a first
        axis, and InvalidArgumentError for those of different lengths.
        """
        kind = UnconnectedGradients(unconnected_gradients)
        recording = self._take()
        (item,), of = _sources([source]), _one_target(target)
        found = batch_jacobian(recording, of, item)
        if found is None and kind is UnconnectedGradients.ZERO:
            return zero_jacobian(of, item, skipped=1)
        return found

    def _take(self) -> Recording:
        """What was recorded; a tape that is not persistent has it once."""
        recording = self._recording
        if recording is None:
            raise RuntimeError(
                "a tape that is not persistent gives gradients once; "
                "tf.GradientTape(persistent=True) gives them several times"
            )
        if not self._persistent:
            if self._is_open:
                self._close()
            self._recording = None
            # What is computed of them from now on goes the quick ways.
            forget(recording.known.values())
        return recording


def in_graph(tensor: Any, is_source: bool = False) -> Any:
    """What stands for an eager tensor in the graph that is being built."""
    graph = current_graph()
    if graph is None or not isinstance(tensor, EagerTensor):
        return tensor
    return graph.differentiate(tensor) if is_source else graph.capture(tensor)


def _sources(sources: Any) -> list[Any]:
    flat = [underlying(source) for source in nest.flatten(sources)]
    for source in flat:
        if not isinstance(source, (Tensor, Variable)):
            raise TypeError(
                "gradients are taken with respect to tensors and variables, not "
                f"{type(source).__name__}"
            )
    return [in_graph(source) for source in flat]


def _one_target(target: Any) -> Any:
    item = _as_target(target)
    if item is None:
        raise TypeError("the target of a Jacobian is one tensor, not None")
    return item


def _as_target(target: Any) -> Any:
    item = underlying(target)
    if isinstance(item, IndexedSlices):
        item = convert_to_tensor(item)
    if not isinstance(item, (Tensor, Variable, type(None))):
        raise TypeError(
            "the target of a gradient is a tensor or variable, not "
            f"{type(item).__name__}"
        )
    return in_graph(item)


def _completed(
    found: Sequence[Any],
    flat: Sequence[Any],
    sources: Any,
    kind: UnconnectedGradients,
    zeros: Callable[[Any], Any],
) -> Any:
    """Gradients in the structure of the sources."""
    results = [
        zeros(source)
        if gradient is None and kind is UnconnectedGradients.ZERO
        else gradient
        for gradient, source in zip(found, flat)
    ]
    return nest.pack_sequence_as(sources, results)


def _check_reached(targets: Sequence[Any], graph: Graph) -> None:
    """Raise GradientError for a target in a loop of which the tape knows no iteration.

    A loop carries values from one iteration to the next: what they depend on is not
    in the body, and a tape around the loop knows of the body alone.
    """
    waiting = [t for t in targets if isinstance(t, SymbolicTensor)]
    seen = {id(tensor) for tensor in waiting}
    while waiting:
        tensor = waiting.pop()
        if tensor.graph is graph or graph not in enclosing(tensor.graph):
            continue
        inputs: Sequence[Any] = tensor.node.inputs
        if tensor.node.op == "Placeholder":
            outer = outside(tensor)
            if outer is None:
                raise _of_an_iteration(tensor)
            inputs = [outer]
        for item in inputs:
            if id(item) not in seen and isinstance(item, SymbolicTensor):
                seen.add(id(item))
                if has_gradient(item):
                    waiting.append(item)


def _of_an_iteration(tensor: SymbolicTensor) -> GradientError:
    position = user_position()
    start = "" if position is None else f"{position.filename}:{position.lineno}: "
    return GradientError(
        f"{start}AG330: the gradient of a value that a loop carries "
        f"({tensor.name!r}) is asked for in the loop, of a tape around it; open the "
        "tape in the body of the loop, or ask behind the loop"
    )


def seeds(target: Any, output_gradients: Any) -> dict[int, Any]:
    """The gradients that the targets start with, by the id of the tensor.

    Those that cannot have any are left out.
    """
    flat = nest.flatten(target)
    given: Sequence[Any] = [None] * len(flat)
    if output_gradients is not None:
        given = nest.flatten_up_to(target, output_gradients)
    found: dict[int, Any] = {}
    for leaf, start in zip(flat, given):
        item = _as_target(leaf)
        if item is None or not has_gradient(item):
            continue
        seed, known = _seed(item, start), found.get(id(item))
        found[id(item)] = seed if known is None else added(known, seed, item)
    return found


def _seed(target: Any, seed: Any) -> Any:
    if seed is None:
        return ones_like(target)
    found = convert_to_tensor(seed, target.dtype)
    if not found.shape.is_compatible_with(target.shape):
        raise InvalidArgumentError(
            f"an output gradient of shape {found.shape} is not for a target of shape "
            f"{target.shape}"
        )
    return found
