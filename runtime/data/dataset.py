"""`Dataset`: elements that are described once, and computed when they are asked for.

>>> numbers = Dataset.from_tensor_slices([1, 2, 3, 4]).map(lambda x: x * 10).batch(2)
>>> for batch in numbers:
...     print(batch)
tf.Tensor([10 20], shape=(2,), dtype=int32)
tf.Tensor([30 40], shape=(2,), dtype=int32)
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph import leak_error
from runtime.core.graph.context import current_graph
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.shapes import as_shape
from runtime.core.types.specs import TensorSpec
from runtime.data import methods, sources
from runtime.data.arguments import (
    check_uncompressed,
    checked_spec,
    count_argument,
    count_of,
    elements_file,
    seeds_of,
)
from runtime.data.cache import SavedElements
from runtime.data.functions import DataFunction
from runtime.data.iterator import (
    Iterator,
    NumpyIterator,
    StagedEnumerate,
    python_loop,
    staged_items,
)
from runtime.data.methods import Transformations
from runtime.data.node import Argument, Node, symbolic_parts
from runtime.data.ops import (
    Description,
    IteratorState,
    cardinality_kernel,
    length,
    reduce_kernel,
    single_kernel,
)
from runtime.data.structure import (
    DatasetSpec,
    HandleTensor,
    element_packer,
    flat_specs,
    handle_array,
    handle_of,
    legacy,
    normalized,
    packed,
    spec_of,
)
from runtime.ops.apply import apply, as_array
from runtime.ops.convert import convert_to_tensor
from runtime.ops.files.systems import LOCAL, files_of
from runtime.staging.compiler import LazyBackend
from runtime.staging.lists.sequences import weakened


class Dataset(Transformations):
    """A description of elements, each a structure of tensors.

    Made by the class methods, and of other data sets by their methods; never changed.
    An iteration computes the elements one by one. A ``for`` over a data set within a
    `tf.function` is staged: the graph has the loop once. As an argument of such a
    function a data set is known by its `element_spec`: others of the same spec share
    the trace.
    """

    #: The staging protocol of the compiler: see `runtime.staging.compiler.backend`.
    __autograph_backend__: ClassVar[Any] = LazyBackend("ITERATED")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._argument: tuple[DatasetSpec, HandleTensor] | None = None

    def _of(self, node: Node) -> Dataset:
        return Dataset(node)

    # --- where elements come from -----------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: a structure of tensors.

        >>> Dataset.from_tensors([1, 2])
        <TensorDataset shapes: (2,), types: tf.int32>
        """
        structure = normalized(tensors)
        leaves = nest.flatten(structure)
        return Dataset(sources.Tensors(leaves, spec_of(structure)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The items of tensors along their first axis, which is as long in each.

        >>> [int(a + b) for a, b in Dataset.from_tensor_slices(([1, 2], [10, 20]))]
        [11, 22]
        """
        structure = normalized(tensors)
        spec = spec_of(structure)
        shapes = [leaf.shape for leaf in nest.flatten(spec)]
        if not shapes:
            raise ValueError(f"from_tensor_slices() found no tensors in {tensors!r}")
        if any(shape.rank is None for shape in shapes):
            raise ValueError("from_tensor_slices() takes tensors whose rank is known")
        sources.check_lengths([shape.dims or [] for shape in shapes], spec)
        items = nest.map_structure(
            lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), spec
        )
        return Dataset(sources.Slices(nest.flatten(structure), items))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The values of a generator, which is called anew for each iteration.

        `output_signature` is the structure of their specs; the older way to say it are
        `output_types` and `output_shapes`. `args` are passed on as NumPy's values.

        A value that is not as announced is an InvalidArgumentError; what the generator
        raises reaches the loop as it is.

        >>> def squares(n):
        ...     for i in range(n):
        ...         yield i * i
        >>> signature = TensorSpec([], dtypes.int32)
        >>> numbers = Dataset.from_generator(
        ...     squares, args=[3], output_signature=signature
        ... )
        >>> [int(x) for x in numbers]
        [0, 1, 4]
        """
        if not callable(generator):
            raise TypeError(f"from_generator() takes a function, not {generator!r}")
        if (output_types is None) == (output_signature is None):
            raise TypeError(
                "from_generator() takes output_signature, or output_types and perhaps "
                "output_shapes"
            )
        spec = output_signature
        if spec is None:
            spec = _signature(output_types, output_shapes)
        for leaf in nest.flatten(spec):
            if not isinstance(leaf, TensorSpec):
                raise TypeError(
                    f"a generator gives tensors: {leaf!r} is no tf.TensorSpec"
                )
        arguments = tuple(map(convert_to_tensor, args or ()))
        return Dataset(sources.Generated(generator, spec, arguments))

    @staticmethod
    def range(
        *args: Any, output_type: Any = dtypes.int64, name: str | None = None
    ) -> Dataset:
        """The numbers of Python's ``range``, of int64 if nothing else is asked for.

        >>> [int(x) for x in Dataset.range(5, 0, -2)]
        [5, 3, 1]
        """
        bounds = [count_argument(arg) for arg in args]
        if not 1 <= len(bounds) <= 3:
            raise ValueError(f"range() takes one to three numbers, not {len(bounds)}")
        whole = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: tuple(bounds)}
        start, stop, step = whole[len(bounds)]
        if type(step) is int and step == 0:
            raise InvalidArgumentError("range(): the step must not be 0")
        return Dataset(sources.Range(start, stop, step, as_dtype(output_type)))

    @staticmethod
    def random(
        seed: Any = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Random integers below 2**32, of int64, without end."""
        anew = bool(rerandomize_each_iteration)
        return Dataset(sources.Random(seeds_of(seed), anew))

    @staticmethod
    def counter(
        start: Any = 0,
        step: Any = 1,
        dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Dataset:
        """Numbers in steps, without end."""
        first = convert_to_tensor(start, as_dtype(dtype))
        width = convert_to_tensor(step, as_dtype(dtype))
        ones = Dataset.from_tensors(np.int64(0)).repeat()
        return ones.scan(first, lambda count, _: (count + width, count))  # type: ignore[no-any-return]

    @staticmethod
    def list_files(
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The names of the files that fit patterns, in random order unless told not to.

        Raises InvalidArgumentError if there are none.
        """
        given = nest.flatten(file_pattern)
        texts = [p.numpy() if isinstance(p, Tensor) else p for p in given]
        patterns = [p.decode() if isinstance(p, bytes) else str(p) for p in texts]
        found = sorted({path for pattern in patterns for path in _matching(pattern)})
        if not found:
            raise InvalidArgumentError(f"no file fits {', '.join(patterns)}")
        names = Dataset.from_tensor_slices(found)
        if shuffle is False:
            return names
        return names.shuffle(len(found), seed)  # type: ignore[no-any-return]

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
    ) -> Dataset:
        """The elements that `save` wrote to a directory.

        `element_spec` is needed where elements are objects of classes. `reader_func`
        gets a data set of data sets, of which there is one here, and gives the
        elements in its order. Raises NotFoundError if there are none, DataLossError if
        the file is damaged.
        """
        check_uncompressed("load", compression)
        saved = Dataset(SavedElements(elements_file(path), element_spec))
        if reader_func is None:
            return saved
        return reader_func(Dataset.range(1).map(lambda _: saved))  # type: ignore[no-any-return]

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several data sets together: of arguments, or of one structure.

        >>> pairs = Dataset.zip(Dataset.range(3), Dataset.range(10, 20))
        >>> [(int(a), int(b)) for a, b in pairs]
        [(0, 10), (1, 11), (2, 12)]
        """
        if (datasets is None) == (not args):
            raise TypeError("zip() takes data sets, or one structure of them")
        structure = args[0] if len(args) == 1 else args or datasets
        if isinstance(structure, list):
            raise TypeError("zip() takes data sets in tuples or dicts, not in a list")
        return Dataset(methods.zipped(structure))

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several data sets: for each choice one of that data set."""
        stop = bool(stop_on_empty_dataset)
        return Dataset(methods.chosen(choice_dataset, datasets, stop))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Any],
        weights: Sequence[float] | None = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of data sets drawn at random, with the probabilities `weights`.

        A data set of the weight 0 is left out, and the others are drawn to their ends.
        """
        given = (
            np.ones(len(datasets)) if weights is None else np.asarray(weights, float)
        )
        if given.shape != (len(datasets),) or not (given >= 0).all() or not given.any():
            raise ValueError(
                "sample_from_datasets() takes one weight for each data set"
            )
        # One that is never drawn would not end.
        datasets = [dataset for dataset, weight in zip(datasets, given) if weight]
        given = given[given > 0]
        limits = (np.cumsum(given) / given.sum() * 2**32).astype(np.int64)
        limits[-1:] = 2**32
        numbers = Dataset.random(seed, rerandomize_each_iteration)
        # Where the first limit lies above the number.
        choices = numbers.map(lambda x: count_of(x, limits))
        stop = bool(stop_on_empty_dataset)
        return Dataset(methods.chosen(choices, datasets, stop))

    # --- results ----------------------------------------------------------------------

    def reduce(
        self,
        initial_state: Any,
        reduce_func: Callable[..., Any],
        name: str | None = None,
    ) -> Any:
        """The last state of a function ``(state, element) -> state``.

        >>> total = Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x)
        >>> int(total)
        10
        """
        initial = normalized(initial_state)
        state = spec_of(initial)
        while True:
            function = DataFunction(reduce_func, (state, self.element_spec), "reduce")
            wider = checked_spec(state, function.spec, "reduce")
            if wider == state:
                break
            state = wider
        leaves = [*nest.flatten(initial), *function.captured]
        count = len(flat_specs(state))
        if current_graph() is None:
            arrays = [leaf._array for leaf in leaves]
            found = reduce_kernel(
                self._handle(), *arrays, function=function, count=count
            )
            return _eager(state, found)
        outputs = apply(
            "ReduceDataset", self._tensor(), *leaves, function=function, count=count
        )
        return packed(state, outputs)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element. Raises InvalidArgumentError if there are none or more."""
        specs = flat_specs(self.element_spec)
        if current_graph() is None:
            found = single_kernel(self._handle(), specs=specs)
            return _eager(self.element_spec, found)
        outputs = apply("DatasetToSingleElement", self._tensor(), specs=specs)
        return packed(self.element_spec, outputs)

    def cardinality(self, name: str | None = None) -> Any:
        """The number of elements as an int64 tensor: -1 is no end, -2 not known.

        >>> int(Dataset.range(10).batch(3).cardinality())
        4
        """
        if current_graph() is None:
            return EagerTensor(as_array(cardinality_kernel(self._handle())))
        return apply("DatasetCardinality", self._tensor(), finite=False)

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements as NumPy's values. RuntimeError while a function is traced."""
        if current_graph() is not None:
            raise RuntimeError(
                "as_numpy_iterator() gives values, which a graph has not; loop over "
                "the data set itself"
            )
        return NumpyIterator(self._eager_node(), self.element_spec)

    def options(self) -> Any:
        """The options that were given last; None if none were."""
        node: Any = self._node
        while node is not None:
            found = getattr(node, "options", None)
            if found is not None:
                return found
            node = getattr(node, "source", None)
        return None

    # --- iterating --------------------------------------------------------------------

    def __iter__(self) -> Iterator:
        if current_graph() is not None:
            raise python_loop("a data set")
        return Iterator(IteratorState(self._eager_node()), self.element_spec)

    def __staged_iter__(self) -> Iterator:
        """``iter(dataset)`` in a graph."""
        return Iterator(apply("MakeIterator", self._tensor()), self.element_spec)

    def __staged_items__(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """What a staged loop calls: is there another item, and which."""
        return staged_items(apply("MakeIterator", self._tensor()), self.element_spec)

    def __staged_enumerate__(self, start: Any) -> StagedEnumerate:
        """``enumerate(dataset)`` in a graph."""
        return StagedEnumerate(self.enumerate(start))

    @staticmethod
    def __staged_zip__(items: Sequence[Any]) -> Dataset:
        """``zip(dataset, …)`` in a graph. TypeError if not all are data sets."""
        return Dataset.zip(tuple(items))

    def __len__(self) -> int:
        """The number of elements. Raises TypeError if there is no end or none known."""
        return length(self._node.cardinality())

    def __staged_len__(self) -> Any:
        """``len(dataset)`` in a graph: of an argument a tensor."""
        count = self._node.cardinality()
        if count >= 0:
            return count
        return weakened(apply("DatasetCardinality", self._tensor(), finite=True))

    def __bool__(self) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> Dataset:
        return self  # It never changes.

    # --- in graphs --------------------------------------------------------------------

    def _eager_node(self) -> Node:
        parts = symbolic_parts(self._node)
        if parts:
            raise leak_error(parts[0], None)
        return self._node

    def _handle(self) -> Any:
        return handle_array(self._eager_node())

    def _tensor(self) -> Tensor:
        """The data set as a tensor: of the graph being built, if there is one."""
        if current_graph() is None:
            return self._eager_argument()[1]
        if type(self._node) is Argument:
            return self._node.tensor
        parts = symbolic_parts(self._node)
        description = Description(self._node, list(map(id, parts)))
        found: Tensor = apply("MakeDataset", *parts, dataset=description)
        return found

    def _eager_argument(self) -> tuple[DatasetSpec, HandleTensor]:
        """What the data set is as an argument: made once, since calls compare it."""
        if self._argument is None:
            tensor = HandleTensor(self._eager_node(), dtypes.variant)
            self._argument = self._type_spec, tensor
        return self._argument

    def _argument_key(self) -> tuple[Any, Any]:
        spec, tensor = self._eager_argument()
        return spec, tensor._array

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def _argument_parts(self) -> tuple[Any, tuple[Any, ...]]:
        return self._type_spec, (self._tensor(),)

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._argument_parts()

    @classmethod
    def __tf_unflatten__(cls, spec: Any, parts: Sequence[Any]) -> Any:
        (part,) = parts
        if isinstance(part, TensorSpec):
            return spec
        if isinstance(part, SymbolicTensor):
            return Dataset(Argument(part, spec.element_spec))
        return Dataset(handle_of(part._array))

    def __repr__(self) -> str:
        shapes, types = legacy(self.element_spec)
        return f"<{self._node.name} shapes: {shapes}, types: {types}>"


def _matching(pattern: str) -> list[str]:
    files, name = files_of(pattern)
    return glob.glob(name) if files is LOCAL else files.matches(name)


def _wrap(value: Any, element_spec: Any) -> Dataset:
    if isinstance(value, SymbolicTensor):
        return Dataset(Argument(value, element_spec))
    return Dataset(value)


DatasetSpec.wrap = staticmethod(_wrap)
Iterator.__autograph_backend__ = LazyBackend("ITERATED")
StagedEnumerate.__autograph_backend__ = LazyBackend("ITERATED")


def _eager(spec: Any, results: Any) -> Any:
    """The user's element that the results of a kernel are."""
    return element_packer(spec)(results if type(results) is tuple else (results,))


def _signature(types: Any, shapes: Any) -> Any:
    """The structure of specs of a structure of dtypes and perhaps one of shapes."""
    if isinstance(types, list):
        types = tuple(types)
    leaves = nest.flatten(types)
    if shapes is None:
        found: list[Any] = [None] * len(leaves)
    elif not nest.is_nested(types):
        found = [shapes]
    else:
        if isinstance(shapes, list) and isinstance(types, tuple):
            shapes = tuple(shapes)
        found = nest.flatten_up_to(types, shapes)
    specs = [
        TensorSpec(None if shape is None else as_shape(shape), as_dtype(dtype))
        for shape, dtype in zip(found, leaves)
    ]
    return nest.pack_sequence_as(types, specs)


# --- options -------------------------------------------------------------------------


class Options:
    """Options of a data set. They may be set, and change nothing about its elements.

    >>> options = Options()
    >>> options.deterministic = False
    >>> options.threading.private_threadpool_size = 4
    """

    def __init__(self) -> None:
        self.deterministic: bool | None = None
        self.experimental_deterministic: bool | None = None
        self.experimental_slack: bool | None = None
        self.experimental_external_state_policy: Any = None
        self.framework_type: list[str] = []
        self.autotune = OptionGroup()
        self.experimental_distribute = OptionGroup()
        self.experimental_optimization = OptionGroup()
        self.threading = OptionGroup()
        self.experimental_threading = self.threading


class OptionGroup:
    """Options of one kind, none of which is known here."""
