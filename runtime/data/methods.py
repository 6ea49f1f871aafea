"""The methods of data sets that give other data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from runtime.core.errors import UnimplementedError
from runtime.core.types import dtypes, nest
from runtime.core.types.specs import TensorSpec
from runtime.data import grouping, nested, per_element, sequencing, sources
from runtime.data.arguments import (
    check_uncompressed,
    checked_spec,
    count_argument,
    count_of,
    elements_file,
    padded_shapes_of,
    padding_values_of,
    predicate_of,
    seeds_of,
)
from runtime.data.cache import CachedInFile, CachedInMemory, save_elements
from runtime.data.functions import DataFunction, arguments_of
from runtime.data.node import Node
from runtime.data.structure import DatasetSpec, merged_specs, normalized, spec_of
from runtime.data.threads import thread_count
from runtime.ops.arrays.gather import gather
from runtime.ops.arrays.scatter import tensor_scatter_nd_add
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.elementwise.arithmetic import divide_no_nan
from runtime.ops.reduce.reductions import reduce_max, reduce_sum

_Self = TypeVar("_Self", bound="Transformations")


class Transformations:
    """What a data set can become; `Dataset` knows how to make one of a node."""

    _node: Node

    def _of(self: _Self, node: Node) -> Any:
        """The data set of a node."""
        raise NotImplementedError

    def _eager_node(self) -> Node:
        """The node, outside of graphs."""
        raise NotImplementedError

    @property
    def element_spec(self) -> Any:
        """The structure of the specs of an element."""
        return self._node.spec

    # --- functions of elements --------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Any:
        """The results of a function, which is traced once, as by `tf.function`.

        An element that is a tuple is several arguments. `num_parallel_calls` threads
        call the function (`tf.data.AUTOTUNE`: one), and results keep their order unless
        `deterministic` is False. The other arguments are TensorFlow's and change
        nothing.

        >>> from runtime.data.dataset import Dataset
        >>> list(Dataset.range(3).map(lambda x: x * x).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(4)]
        """
        function = DataFunction(map_func, arguments_of(self.element_spec), "map")
        threads = num_parallel_calls
        if threads is not None:
            threads = thread_count(threads, "num_parallel_calls")
        in_order = deterministic is not False
        return self._of(per_element.Mapped(self._node, function, threads, in_order))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements for which a function gives True.

        >>> from runtime.data.dataset import Dataset
        >>> list(Dataset.range(5).filter(lambda x: x % 2 == 1).as_numpy_iterator())
        [np.int64(1), np.int64(3)]
        """
        function = predicate_of(predicate, self.element_spec, "filter")
        return self._of(per_element.Filtered(self._node, function))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements before the first one for which a function gives False."""
        function = predicate_of(predicate, self.element_spec, "take_while")
        return self._of(per_element.TakenWhile(self._node, function))

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The second results of a function ``(state, element) -> (state, result)``.

        >>> from runtime.data.dataset import Dataset
        >>> sums = Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
        >>> [int(total) for total in sums]
        [0, 1, 3, 6]
        """
        initial = normalized(initial_state)
        state = spec_of(initial)
        while True:
            function = DataFunction(scan_func, (state, self.element_spec), "scan")
            if type(function.spec) is not tuple or len(function.spec) != 2:
                raise TypeError(
                    "scan() takes a function that gives a pair of the new state and a "
                    f"result, and {function.name!r} gives {function.spec!r}"
                )
            wider = checked_spec(state, function.spec[0], "scan")
            if wider == state:
                break
            state = wider
        leaves = tuple(nest.flatten(initial))
        return self._of(per_element.Scanned(self._node, function, leaves))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Any:
        """The elements of the data sets that a function gives, one after the other."""
        function = DataFunction(map_func, arguments_of(self.element_spec), "flat_map")
        return self._of(nested.FlatMapped(self._node, function))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """As `flat_map`, with `cycle_length` data sets in turn, `block_length` each.

        With `num_parallel_calls` each of these is fetched ahead by a thread; the order
        is the same.

        >>> from runtime.data.dataset import Dataset
        >>> pairs = Dataset.range(2).interleave(
        ...     lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2
        ... )
        >>> [int(x) for x in pairs]
        [0, 1, 0, 1]
        """
        function = DataFunction(map_func, arguments_of(self.element_spec), "interleave")
        threads = num_parallel_calls
        if threads is not None:
            threads = thread_count(threads, "num_parallel_calls")
        cycle = count_argument(2 if cycle_length is None else cycle_length)
        cycle = 2 if isinstance(cycle, int) and cycle == -1 else cycle
        block = count_argument(1 if block_length is None else block_length)
        for value, what in ((cycle, "cycle_length"), (block, "block_length")):
            if isinstance(value, int) and value < 1:
                raise ValueError(f"interleave(): {what} must be positive, not {value}")
        return self._of(nested.Interleaved(self._node, function, cycle, block, threads))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Elements grouped by an integer key; `reduce_func` gets each full group.

        It is called with the key and the data set of the group, and gives a data set.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "group_by_window() takes either window_size or window_size_func"
            )
        if window_size_func is None:
            size = np.int64(window_size)
            window_size_func = lambda key: size  # noqa: E731
        scalar = TensorSpec((), dtypes.int64)
        spec = self.element_spec
        key = DataFunction(key_func, arguments_of(spec), "group_by_window")
        reduce = DataFunction(
            reduce_func, (scalar, DatasetSpec(spec)), "group_by_window"
        )
        sized = DataFunction(window_size_func, (scalar,), "group_by_window")
        return self._of(nested.Grouped(self._node, key, reduce, sized))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Padded batches of elements of similar lengths.

        The boundaries part the lengths into one bucket more than there are boundaries;
        each has its own size of batches.

        >>> from runtime.data.dataset import Dataset
        >>> from runtime.ops.arrays.rearrange import repeat
        >>> from runtime.ops.arrays.shape import shape
        >>> rows = Dataset.range(1, 5).map(lambda n: repeat(n, n))
        >>> batches = rows.bucket_by_sequence_length(lambda x: shape(x)[0], [3], [2, 2])
        >>> [batch.numpy().tolist() for batch in batches]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        if pad_to_bucket_boundary:
            raise UnimplementedError(
                "bucket_by_sequence_length(): rows are filled up to the longest of a "
                "batch; map() them to the length of the boundary"
            )
        ends = np.array(bucket_boundaries, np.int64)
        sizes = np.array(bucket_batch_sizes, np.int64)
        if len(sizes) != len(ends) + 1 or (np.diff(ends) <= 0).any():
            raise ValueError(
                "bucket_by_sequence_length() takes rising bucket_boundaries and one "
                "of bucket_batch_sizes more"
            )

        def bucket(*element: Any) -> Any:
            length = cast(element_length_func(*element), dtypes.int64)
            return count_of(length, ends)

        def batches(key: Any, group: Any) -> Any:
            if no_padding:
                return group.batch(gather(sizes, key), drop_remainder)
            return group.padded_batch(
                gather(sizes, key), padded_shapes, padding_values, drop_remainder
            )

        return self.group_by_window(
            bucket, batches, window_size_func=lambda key: gather(sizes, key)
        )

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """``transformation_func(dataset)``, which must give a data set."""
        found = transformation_func(self)
        if not isinstance(found, Transformations):
            raise TypeError(
                f"apply() takes a function that gives a data set, not {found!r}"
            )
        return found

    # --- several elements as one ------------------------------------------------------

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Elements stacked along a new first axis, `batch_size` at a time.

        Raises InvalidArgumentError, when it runs, for elements of different shapes.

        >>> from runtime.data.dataset import Dataset
        >>> [batch.numpy().tolist() for batch in Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        size = count_argument(batch_size)
        if isinstance(size, int):
            grouping.checked_size(size, "batch")
        return self._of(grouping.Batched(self._node, size, bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """As `batch`, with elements filled up to the longest, or to `padded_shapes`.

        >>> from runtime.data.dataset import Dataset
        >>> from runtime.ops.arrays.rearrange import repeat
        >>> rows = Dataset.range(1, 4).map(lambda n: repeat(n, n))
        >>> [batch.numpy().tolist() for batch in rows.padded_batch(3)]
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
        """
        size = count_argument(batch_size)
        shapes = padded_shapes_of(padded_shapes, self.element_spec)
        values = padding_values_of(padding_values, self.element_spec)
        drop = bool(drop_remainder)
        return self._of(grouping.Padded(self._node, size, shapes, values, drop))

    def unbatch(self, name: str | None = None) -> Any:
        """The items of elements along their first axis."""
        return self._of(grouping.Unbatched(self._node))

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Any:
        """Batches of another size: ``unbatch().batch(batch_size)``."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Runs of `size` elements as data sets, each beginning `shift` after the last.

        >>> from runtime.data.dataset import Dataset
        >>> windows = Dataset.range(4).window(2)
        >>> [[int(x) for x in window] for window in windows]
        [[0, 1], [2, 3]]
        """
        shift = None if shift is None else count_argument(shift)
        numbers = count_argument(size), shift, count_argument(stride)
        return self._of(grouping.Windows(self._node, *numbers, bool(drop_remainder)))

    # --- which elements ---------------------------------------------------------------

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first elements; all of them for -1."""
        return self._of(sequencing.Taken(self._node, count_argument(count)))

    def skip(self, count: Any, name: str | None = None) -> Any:
        """All but the first elements; none for -1."""
        return self._of(sequencing.Skipped(self._node, count_argument(count)))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Each `num_shards`-th element, from element `index` on."""
        count, place = count_argument(num_shards), count_argument(index)
        if isinstance(count, int) and isinstance(place, int):
            sequencing.check_shard(count, place)
        return self._of(sequencing.Sharded(self._node, count, place))

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """The elements `count` times, or without end."""
        number = count_argument(-1 if count is None else count)
        return self._of(sequencing.Repeated(self._node, number))

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Any:
        """The elements in random order, each drawn from a buffer of the next ones.

        With a seed, here or by `tf.random.set_seed`, a program gives the same orders
        whenever it runs. Each iteration has another one, unless
        `reshuffle_each_iteration` is False.

        >>> from runtime.data.dataset import Dataset
        >>> shuffled = Dataset.range(10).shuffle(10, seed=3)
        >>> sorted(int(x) for x in shuffled) == list(range(10))
        True
        """
        size = count_argument(buffer_size)
        if isinstance(size, int) and size < 1:
            raise ValueError(f"shuffle(): buffer_size must be positive, not {size}")
        anew = reshuffle_each_iteration is not False
        return self._of(sequencing.Shuffled(self._node, size, seeds_of(seed), anew))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Any:
        """Pairs of classes and elements, where classes have the shares `target_dist`.

        Elements of frequent classes are left out at random; no element comes twice.
        `class_func` gives the class of an element, an integer from 0 on, and
        `initial_dist` are the shares of the classes. Without it they are estimated
        from the elements up to each one, and ten more of each class.

        Raises InvalidArgumentError, when it runs, for classes without a share.

        >>> from runtime.data.dataset import Dataset
        >>> odd = Dataset.range(6).rejection_resample(lambda x: x % 2, [0.0, 1.0])
        >>> [(int(label), int(x)) for label, x in odd]
        [(1, 1), (1, 3), (1, 5)]
        """
        given = target_dist if initial_dist is None else initial_dist
        target, shares = (cast(x, dtypes.float32) for x in (target_dist, given))
        if target.shape.rank != 1 or not shares.shape.is_compatible_with(target.shape):
            raise ValueError(
                "rejection_resample() takes distributions that are vectors of one "
                "length: the share of each class"
            )

        def judged(counts: Any, element: Any, number: Any) -> Any:
            label = convert_to_tensor(class_func(*arguments_of(element)))
            if not label.dtype.is_integer or label.shape.rank not in (0, None):
                raise TypeError(
                    "rejection_resample() takes a function that gives a class, which "
                    f"is a scalar of integers, not {label!r}"
                )
            counts = tensor_scatter_nd_add(counts, [[label]], [1.0])
            now = counts / reduce_sum(counts) if initial_dist is None else shares
            rates = divide_no_nan(target, now)
            share = cast(number, dtypes.float32) / 2.0**32
            is_taken = share * reduce_max(rates) < gather(rates, label)
            return counts, (is_taken, label, element)

        random = sources.Random(seeds_of(seed), True)
        spec = (self.element_spec, random.spec)
        pairs = self._of(sequencing.Zipped([self._node, random], spec))
        found = pairs.scan(target * 0 + 10, lambda counts, pair: judged(counts, *pair))
        taken = found.filter(lambda is_taken, label, element: is_taken)
        return taken.map(lambda is_taken, label, element: (label, element))

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """Pairs of a number of int64 and an element."""
        return self._of(sequencing.Enumerated(self._node, count_argument(start)))

    def unique(self, name: str | None = None) -> Any:
        """Each element once. They are scalars of integers or strings."""
        spec = self.element_spec
        scalar = isinstance(spec, TensorSpec) and spec.shape.rank == 0
        if not scalar or not (spec.dtype.is_integer or spec.dtype is dtypes.string):
            raise TypeError(
                f"unique() compares scalars of integers or strings, not {spec!r}"
            )
        return self._of(per_element.Unique(self._node))

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """These elements, and those of another data set of the same structure."""
        spec = merged_specs(self.element_spec, dataset.element_spec)
        if spec is None:
            raise TypeError(
                "concatenate() takes data sets whose elements are alike, not "
                f"{self.element_spec!r} and {dataset.element_spec!r}"
            )
        return self._of(sequencing.Concatenated(self._node, dataset._node, spec))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """The elements that can be computed; those that raise are left out."""
        return self._of(per_element.IgnoreErrors(self._node, bool(log_warning)))

    # --- when elements are computed ---------------------------------------------------

    def prefetch(self, buffer_size: Any = -1, name: str | None = None) -> Any:
        """The same elements; a thread computes `buffer_size` of them ahead."""
        return self._of(sequencing.Prefetched(self._node, count_argument(buffer_size)))

    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """The same elements, computed once: kept in memory, or in a file.

        A first iteration that goes to the end fills the cache. A file is found again by
        later runs of the program.
        """
        if not filename:
            return self._of(CachedInMemory(self._node))
        return self._of(CachedInFile(self._node, filename))

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Compute all elements and write them to a directory, for `Dataset.load`.

        What was there before is replaced once all is written. There is one file: a
        `shard_func`, which would share the elements out, is not called. Raises
        UnimplementedError for a `compression`.
        """
        check_uncompressed("save", compression)
        save_elements(self._eager_node(), elements_file(path, make=True))

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """The same elements, computed once and kept in a directory: as `cache`.

        Functions that would share the elements out, and gather them, are not called.
        Raises UnimplementedError for a `compression`.
        """
        check_uncompressed("snapshot", compression)
        return self.cache(elements_file(path, make=True))

    def with_options(self, options: Any, name: str | None = None) -> Any:
        """The same elements. Options change nothing about them here."""
        return self._of(sequencing.Options(self._node, options))

    def fingerprint(self, *args: Any, **kwargs: Any) -> NoReturn:
        """There is none: UnimplementedError."""
        raise UnimplementedError("data sets are functions of Python: without a text")

    def sparse_batch(self, *args: Any, **kwargs: Any) -> NoReturn:
        """There are no sparse tensors here: NotImplementedError."""
        raise NotImplementedError(
            "there are no sparse tensors here; use padded_batch()"
        )

    def ragged_batch(self, *args: Any, **kwargs: Any) -> NoReturn:
        """There are no ragged tensors here: NotImplementedError."""
        raise NotImplementedError(
            "there are no ragged tensors here; use padded_batch()"
        )


def zipped(structure: Any) -> sequencing.Zipped:
    """The node of ``zip`` of a structure of data sets. Raises TypeError for others."""
    leaves = nest.flatten(structure)
    for leaf in leaves:
        if not isinstance(leaf, Transformations):
            raise TypeError(f"zip() takes data sets in tuples or dicts, not {leaf!r}")
    spec = nest.map_structure(lambda leaf: leaf.element_spec, structure)
    return sequencing.Zipped([leaf._node for leaf in leaves], spec)


def chosen(
    choices: Transformations, datasets: Sequence[Transformations], stop: bool
) -> sequencing.Chosen:
    """The node of elements of data sets by choice. TypeError if these are not alike."""
    spec = datasets[0].element_spec
    for dataset in datasets[1:]:
        merged = merged_specs(spec, dataset.element_spec)
        if merged is None:
            raise TypeError(
                "the data sets to choose from must have elements that are alike, not "
                f"{spec!r} and {dataset.element_spec!r}"
            )
        spec = merged
    return sequencing.Chosen(choices._node, [d._node for d in datasets], spec, stop)
