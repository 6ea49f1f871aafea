"""Tables from keys to values: ``tf.lookup``.

A graph refers to a table by an attribute of its nodes. Whatever reads or changes a
table has effects, so that a graph does it each time it runs, in the program's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from runtime.core.errors import FailedPreconditionError, InvalidArgumentError
from runtime.core.graph.context import init_scope
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.gather import where
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.files.decoding import Column
from runtime.ops.files.systems import files_of, refusals
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, spec
from runtime.ops.text.patterns import to_hash_bucket_fast
from runtime.ops.text.strings import as_string

Array = np.ndarray[Any, Any]
_KEYS = (dtypes.string, dtypes.int32, dtypes.int64)


class Contents:
    """What is in a table: values, which all have one shape, as Python has them."""

    def __init__(self, key_dtype: DType, default: Array) -> None:
        self.key_dtype = key_dtype
        self.default = default
        self.items: dict[Any, Any] = {}

    def arrays(self, keys: list[Any], values: list[Any]) -> tuple[Array, Array]:
        """Keys and their values as arrays."""
        found = np.empty(len(keys), self.key_dtype.np_dtype)
        found[:] = keys
        rows = np.empty((len(values), *self.default.shape), self.default.dtype)
        if values:
            rows[:] = values
        return found, rows

    def all(self) -> tuple[Array, Array]:
        """All keys and their values, as arrays."""
        return self.arrays(list(self.items), list(self.items.values()))

    def insert(self, keys: Array, values: Array) -> None:
        """Give keys their values."""
        rows = values.reshape(-1, *self.default.shape).tolist()
        self.items.update(zip(keys.reshape(-1).tolist(), rows))

    @property
    def spec(self) -> TensorSpec:
        """That of one value."""
        return TensorSpec(self.default.shape, self.default.dtype)

    @property
    def graph_text(self) -> str:
        """How graphs print it."""
        return f"<table of {len(self.items)} {self.key_dtype.name} keys>"


# --- ops ------------------------------------------------------------------------------


def _find(keys: Array, *defaults: Array, table: Contents) -> Array:
    flat, get = keys.reshape(-1).tolist(), table.items.get
    shape = (*keys.shape, *table.default.shape)
    others = defaults[0] if defaults else table.default
    if others.shape == table.default.shape:
        other = others.tolist()
        found = [get(key, other) for key in flat]
    elif others.shape == shape:
        each = others.reshape(-1, *table.default.shape).tolist()
        found = [get(key, other) for key, other in zip(flat, each)]
    else:
        raise InvalidArgumentError(
            f"default values of shape {others.shape} stand for none of shape {shape}"
        )
    return table.arrays([], found)[1].reshape(shape)


def _infer_find(keys: TensorSpec, *defaults: TensorSpec, table: Contents) -> TensorSpec:
    dims = dims_of(keys)
    shape = None if dims is None else (*dims, *table.default.shape)
    return spec(shape, table.spec.dtype)


def _size(*, table: Contents) -> Array:
    return np.array(len(table.items), np.int64)


def _export(*, table: Contents) -> tuple[Array, Array]:
    return table.all()


def _infer_export(*, table: Contents) -> tuple[TensorSpec, TensorSpec]:
    values = spec((None, *table.default.shape), table.spec.dtype)
    return spec((None,), table.key_dtype), values


def _insert(keys: Array, values: Array, *, table: Contents) -> tuple[()]:
    if values.shape != (*keys.shape, *table.default.shape):
        raise InvalidArgumentError(
            f"values of shape {values.shape} do not belong to keys of shape "
            f"{keys.shape}; a value has the shape {table.default.shape}"
        )
    table.insert(keys, values)
    return ()


def _remove(keys: Array, *, table: Contents) -> tuple[()]:
    for key in keys.reshape(-1).tolist():
        table.items.pop(key, None)
    return ()


def _infer_nothing(*inputs: TensorSpec, table: Contents) -> tuple[()]:
    return ()


for _name, _kernel, _infer in (
    ("LookupTableFindV2", _find, _infer_find),
    ("LookupTableSizeV2", _size, lambda *, table: spec((), dtypes.int64)),
    ("LookupTableExportV2", _export, _infer_export),
    ("LookupTableInsertV2", _insert, _infer_nothing),
    ("LookupTableRemoveV2", _remove, _infer_nothing),
):
    define(_name, _kernel, _infer, family="text", stateful=True)

# --- what a table is made of ----------------------------------------------------------


def _array(value: Any, dtype: Any) -> Array:
    """Contents of a table, which outlives the function that is traced."""
    with init_scope():
        tensor = convert_to_tensor(value, dtype)
    if not isinstance(tensor, EagerTensor):
        raise InvalidArgumentError(
            f"a table is made of values that are known, and {tensor} is one of a graph"
        )
    return tensor._array


class KeyValueTensorInitializer:
    """The contents of a table as two vectors."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self._keys, self._values = _array(keys, key_dtype), _array(values, value_dtype)
        if self._keys.shape != self._values.shape:
            raise InvalidArgumentError(
                f"keys of shape {self._keys.shape} have values of {self._values.shape}"
            )
        self.key_dtype = dtypes.of_array(self._keys)
        self.value_dtype = dtypes.of_array(self._values)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """The pairs of keys and values."""
        return zip(self._keys.reshape(-1).tolist(), self._values.reshape(-1).tolist())


class TextFileIndex:
    """What of a line is a key or a value, besides the number of a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer:
    """The contents of a table as lines of a file, which is read when a table is made.

    `key_index` and `value_index` are numbers of columns between `delimiter`, or
    members of `TextFileIndex`.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, dtype, index in (
            ("key", self.key_dtype, key_index),
            ("value", self.value_dtype, value_index),
        ):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"{what}_index is a column or -1 or -2, not {index}")
            whole = index == TextFileIndex.WHOLE_LINE
            fits = dtype is dtypes.int64 or (whole and dtype in _KEYS)
            if index < 0 and not fits:
                needed = "string, int32 or int64" if whole else "int64"
                raise ValueError(
                    f"{what}_dtype is {needed} for {what}_index={index}, not "
                    f"{dtype.name}"
                )
        self._indices = key_index, value_index
        self._name, self._size = filename, vocab_size
        self._delimiter, self._offset = delimiter.encode(), value_index_offset

    def items(self) -> Iterator[tuple[Any, Any]]:
        """The pairs of keys and values."""
        files, name = files_of(
            self._name.numpy() if isinstance(self._name, Tensor) else self._name
        )
        with refusals(), files.open(name, "rb") as file:
            lines = file.read().split(b"\n")
        if not lines[-1]:
            lines.pop()
        if self._size is not None and len(lines) < self._size:
            raise InvalidArgumentError(
                f"{name!r} has {len(lines)} lines, and vocab_size is {self._size}"
            )
        columns = [
            Column(np.empty(0, d.np_dtype)) for d in (self.key_dtype, self.value_dtype)
        ]
        for number, line in enumerate(lines[: self._size]):
            place = f"{name!r}, line {number + 1}"
            line = line.removesuffix(b"\r")
            if not line:
                raise InvalidArgumentError(f"{place} is empty")
            key, value = (
                self._part(line, number, index, column, place)
                for index, column in zip(self._indices, columns)
            )
            yield key, value + self._offset if self._indices[1] == -1 else value

    def _part(
        self, line: bytes, number: int, index: int, column: Column, place: str
    ) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return number
        whole = index == TextFileIndex.WHOLE_LINE
        fields = [line] if whole else line.split(self._delimiter)
        index = 0 if whole else index
        if index >= len(fields):
            raise InvalidArgumentError(
                f"{place} has {len(fields)} columns, and column {index} is asked for"
            )
        if column.dtype is dtypes.string:
            return fields[index]
        try:
            return column.value(fields[index].decode(errors="replace"), "").item()
        except ValueError as error:
            raise InvalidArgumentError(f"{place}: {fields[index]!r} {error}") from None


# --- tables ---------------------------------------------------------------------------


class Table:
    """What all tables have."""

    def __init__(self, key_dtype: Any, default: Array, name: str | None) -> None:
        self.key_dtype: DType = as_dtype(key_dtype)
        if self.key_dtype not in _KEYS:
            raise TypeError(
                f"keys are string, int32 or int64, not {self.key_dtype.name}"
            )
        self.value_dtype: DType = dtypes.of_array(default)
        self.name = name
        self._contents = Contents(self.key_dtype, default)

    def _trackable_children(self) -> dict[str, Any]:
        return {}  # A checkpoint may be given a table that has no state.

    def size(self, name: str | None = None) -> Any:
        """The number of keys, int64."""
        return run("LookupTableSizeV2", table=self._contents, name=name)

    def export(self, name: str | None = None) -> Any:
        """All keys and their values, in the order in which they came."""
        return run("LookupTableExportV2", table=self._contents, name=name)

    lookup: Any

    def _found(self, keys: Any, *defaults: Any, name: str | None = None) -> Any:
        given = [convert_to_tensor(value, self.value_dtype) for value in defaults]
        inputs = self._keys(keys), *given
        return run("LookupTableFindV2", *inputs, table=self._contents, name=name)

    def _keys(self, keys: Any) -> Tensor:
        return _of_dtype(keys, self.key_dtype)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def __repr__(self) -> str:
        return f"<tf.lookup.{type(self).__name__} {self._contents.graph_text}>"


def _of_dtype(keys: Any, dtype: DType) -> Tensor:
    if isinstance(keys, Tensor) and keys.dtype is not dtype:
        raise TypeError(f"the keys are {dtype.name}, not {keys.dtype.name}")
    return convert_to_tensor(keys, dtype)


class StaticHashTable(Table):
    """A table that never changes.

    >>> ages = KeyValueTensorInitializer(["Ada", "Alan"], [36, 41])
    >>> StaticHashTable(ages, default_value=-1).lookup(["Alan", "Bob"]).numpy()
    array([41, -1], dtype=int32)
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        default = _array(default_value, initializer.value_dtype)
        if default.ndim:
            raise ValueError(f"the default is one value, not {default_value!r}")
        super().__init__(initializer.key_dtype, default, name)
        items = self._contents.items
        for key, value in initializer.items():
            if items.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"the key {key!r} has two values: {items[key]!r} and {value!r}"
                )

    @property
    def default_value(self) -> Tensor:
        """What stands for the values of other keys."""
        return EagerTensor(self._contents.default)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        return self._found(keys, name=name)


class StaticVocabularyTable:
    """Numbers of words: those of a table, or one of `num_oov_buckets` behind them.

    A word that is not in the table has a number by its hash, as in TensorFlow.
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets < 1:
            raise ValueError("num_oov_buckets must be > 0; use StaticHashTable")
        given = initializer or KeyValueTensorInitializer(
            [], [], lookup_key_dtype or dtypes.string, dtypes.int64
        )
        if given.value_dtype is not dtypes.int64:
            raise TypeError(f"values are int64, not {given.value_dtype.name}")
        self.key_dtype = as_dtype(lookup_key_dtype or given.key_dtype)
        if self.key_dtype.is_integer != given.key_dtype.is_integer:
            raise TypeError(
                f"keys of {given.key_dtype.name} are not found as {self.key_dtype.name}"
            )
        self.value_dtype, self.name = dtypes.int64, name
        self._buckets = int(num_oov_buckets)
        self._table = StaticHashTable(given, -1)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of keys."""
        words = _of_dtype(keys, self.key_dtype)
        ids = self._table.lookup(cast(words, self._table.key_dtype))
        texts = as_string(words) if words.dtype.is_integer else words
        others = to_hash_bucket_fast(texts, self._buckets) + self._table.size()
        return where(ids == -1, others, ids, name=name)

    def size(self, name: str | None = None) -> Any:
        """The number of keys and of buckets, int64."""
        return self._table.size(name) + self._buckets

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)


class MutableHashTable(Table):
    """A table that a program changes; a value has the shape of `default_value`.

    A `tf.train.Checkpoint` holds what is in it, unless `checkpoint` is False.

    >>> table = MutableHashTable("string", "int64", default_value=0)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.remove(["b"])
    >>> table.lookup(["a", "b"]).numpy()
    array([1, 0])
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, _array(default_value, as_dtype(value_dtype)), name)
        self._is_in_checkpoints = checkpoint

    def _serialize_to_tensors(self) -> dict[str, Any]:
        if not self._is_in_checkpoints:
            return {}
        return dict(zip(("table-keys", "table-values"), self._contents.all()))

    def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
        """Have what was saved, and nothing else."""
        self._contents.items.clear()
        self.insert(tensors["table-keys"], tensors["table-values"])

    def lookup(
        self, keys: Any, dynamic_default_values: Any = None, name: str | None = None
    ) -> Any:
        """The values of keys. Others have the default, or those of a tensor."""
        given = () if dynamic_default_values is None else (dynamic_default_values,)
        return self._found(keys, *given, name=name)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Give keys their values."""
        pairs = self._keys(keys), convert_to_tensor(values, self.value_dtype)
        run("LookupTableInsertV2", *pairs, table=self._contents, name=name)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Take keys out, as far as they are there."""
        run("LookupTableRemoveV2", self._keys(keys), table=self._contents, name=name)
