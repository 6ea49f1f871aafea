"""Data sets and their iterators: TensorFlow's ``tf.data``.

`dataset` is what users call, and `methods` has what gives other data sets. Each kind of
data set is a `Node` (`node`), which describes it and starts iterations: `sources`,
`per_element`, `sequencing`, `grouping`, `nested`, `cache` and the readers have them.
Nodes hand on tuples of arrays; `structure` makes the user's elements of them. `ops` has
what graphs need.
"""

from __future__ import annotations

import sys

from runtime.core.missing import advise
from runtime.data import experimental
from runtime.data.dataset import Dataset, Options
from runtime.data.files import (
    FixedLengthRecordDataset,
    TextLineDataset,
    TFRecordDataset,
)
from runtime.data.iterator import Iterator, NumpyIterator, Optional
from runtime.data.node import INFINITE as INFINITE_CARDINALITY
from runtime.data.node import UNKNOWN as UNKNOWN_CARDINALITY
from runtime.data.structure import DatasetSpec, IteratorSpec

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
    "FixedLengthRecordDataset", "Iterator", "IteratorSpec", "NumpyIterator", "Optional",
    "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions", "experimental",
]  # fmt: skip

#: Leaves a number of threads, or of elements to prefetch, to the library.
AUTOTUNE = -1
ThreadingOptions = experimental.ThreadingOptions

advise(sys.modules[__name__], "tf.data")
