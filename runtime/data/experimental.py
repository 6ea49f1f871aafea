"""``tf.data.experimental``: readers, and older names of what data sets have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from runtime.core.missing import advise
from runtime.data.csv_files import CsvDataset, make_csv_dataset
from runtime.data.dataset import Dataset
from runtime.data.files import NpyDataset
from runtime.data.iterator import Optional
from runtime.data.node import INFINITE as INFINITE_CARDINALITY
from runtime.data.node import UNKNOWN as UNKNOWN_CARDINALITY

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "CsvDataset",
    "NpyDataset", "Optional", "cardinality", "enumerate_dataset", "get_single_element",
    "group_by_window", "ignore_errors", "make_csv_dataset", "scan", "take_while",
    "unbatch", "unique",
]  # fmt: skip

#: Leaves a number of threads, or of elements to prefetch, to the library.
AUTOTUNE = -1

Transformation = Callable[[Any], Any]


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
