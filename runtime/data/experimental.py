"""``tf.data.experimental``: readers, and older names of what data sets have."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from typing import Any

from runtime.core.missing import advise
from runtime.core.types import nest
from runtime.data import sequencing
from runtime.data.csv_files import CsvDataset, make_csv_dataset
from runtime.data.dataset import Dataset, OptionGroup
from runtime.data.files import NpyDataset, check_compression
from runtime.data.files import TFRecordWriter as _RecordWriter
from runtime.data.iterator import Optional
from runtime.data.node import INFINITE as INFINITE_CARDINALITY
from runtime.data.node import UNKNOWN as UNKNOWN_CARDINALITY
from runtime.data.structure import normalized
from runtime.ops.arrays.joining import stack

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "SHARD_HINT", "UNKNOWN_CARDINALITY",
    "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset",
    "DistributeOptions", "ExternalStatePolicy", "NpyDataset", "OptimizationOptions",
    "Optional", "RandomDataset", "TFRecordWriter", "ThreadingOptions",
    "assert_cardinality", "bucket_by_sequence_length", "cardinality",
    "choose_from_datasets", "enumerate_dataset", "from_list", "get_next_as_optional",
    "get_single_element", "get_structure", "group_by_window",
    "ignore_errors", "load", "make_csv_dataset",
    "sample_from_datasets", "save", "scan", "shuffle_and_repeat", "snapshot",
    "take_while", "unbatch", "unique",
]  # fmt: skip

#: Leaves a number of threads, or of elements to prefetch, to the library.
AUTOTUNE = -1
#: What stands for a number of shards, and for that of a shard.
SHARD_HINT = -1

#: Older names of what data sets have.
Counter = Dataset.counter
RandomDataset = Dataset.random
load = Dataset.load
sample_from_datasets = Dataset.sample_from_datasets
save = Dataset.save
#: Options change nothing about elements: see `tf.data.Options`.
AutotuneOptions = DistributeOptions = OptionGroup
OptimizationOptions = ThreadingOptions = OptionGroup


AutoShardPolicy = IntEnum(
    "AutoShardPolicy", {"OFF": -1, "AUTO": 0, "FILE": 1, "DATA": 2, "HINT": 3}
)
AutotuneAlgorithm = Enum(
    "AutotuneAlgorithm",
    "DEFAULT HILL_CLIMB GRADIENT_DESCENT MAX_PARALLELISM STAGE_BASED",
    start=0,
)
ExternalStatePolicy = Enum("ExternalStatePolicy", "WARN IGNORE FAIL", start=0)
AutoShardPolicy.__doc__ = "By what data sets are divided among workers."
AutotuneAlgorithm.__doc__ = "How buffers and parallel calls are chosen."
ExternalStatePolicy.__doc__ = "What saving does with state outside of the data set."

Transformation = Callable[[Any], Any]


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """For `Dataset.apply`: the elements, which are said to be so many.

    `Dataset.cardinality` gives the number. Taking another number of elements raises
    FailedPreconditionError.

    >>> odd = Dataset.range(9).filter(lambda x: x % 2 == 1)
    >>> int(odd.cardinality()), int(odd.apply(assert_cardinality(4)).cardinality())
    (-2, 4)
    """
    count = operator.index(expected_cardinality)
    return lambda dataset: dataset._of(sequencing.Asserted(dataset._node, count))


def bucket_by_sequence_length(*args: Any, **kwargs: Any) -> Transformation:
    """For `Dataset.apply`: `Dataset.bucket_by_sequence_length` with these arguments."""
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: Any = None
) -> Transformation:
    """For `Dataset.apply`: ``dataset.shuffle(buffer_size, seed).repeat(count)``."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def snapshot(*args: Any, **kwargs: Any) -> Transformation:
    """For `Dataset.apply`: `Dataset.snapshot` with these arguments."""
    return lambda dataset: dataset.snapshot(*args, **kwargs)


def choose_from_datasets(
    datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = False
) -> Dataset:
    """`Dataset.choose_from_datasets`, which by default passes over what is empty."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """The items of a list, which are structures of one kind.

    >>> [(int(n), text.numpy()) for n, text in from_list([(1, "x"), (2, "y")])]
    [(1, b'x'), (2, b'y')]
    """
    if not elements:
        raise ValueError("from_list() takes a list of at least one element")
    parts = [normalized(element) for element in elements]
    return Dataset.from_tensor_slices(
        nest.map_structure(lambda *leaves: stack(leaves), *parts)
    )


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements."""
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator: Any) -> Optional:
    """``iterator.get_next_as_optional()``."""
    return iterator.get_next_as_optional()  # type: ignore[no-any-return]


def cardinality(dataset: Dataset) -> Any:
    """``dataset.cardinality()``."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """``dataset.get_single_element()``."""
    return dataset.get_single_element()


def enumerate_dataset(start: Any = 0) -> Transformation:
    """For `Dataset.apply`: ``dataset.enumerate(start)``."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(*args: Any, **kwargs: Any) -> Transformation:
    """For `Dataset.apply`: `Dataset.group_by_window` with these arguments."""
    return lambda dataset: dataset.group_by_window(*args, **kwargs)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """For `Dataset.apply`: ``dataset.ignore_errors(log_warning)``."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """For `Dataset.apply`: ``dataset.scan(initial_state, scan_func)``."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """For `Dataset.apply`: ``dataset.take_while(predicate)``."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """For `Dataset.apply`: ``dataset.unbatch()``."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """For `Dataset.apply`: ``dataset.unique()``."""
    return lambda dataset: dataset.unique()


advise(sys.modules[__name__], "tf.data.experimental")


class TFRecordWriter:
    """Writes a data set of strings as a TFRecord file; see `tf.io.TFRecordWriter`."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = filename
        self._compression = check_compression(compression_type)

    def write(self, dataset: Dataset) -> None:
        """Write all elements, in place of a file of that name."""
        with _RecordWriter(self._filename, self._compression) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record)
