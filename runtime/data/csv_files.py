"""Rows of CSV files as elements: one scalar for each column."""

from __future__ import annotations

import csv
import io
import itertools
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import init_scope
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.data.dataset import Dataset
from runtime.data.files import check_compression, open_file, paths_argument
from runtime.data.node import Node, Run, sticky
from runtime.data.structure import Array, Element
from runtime.ops.files.decoding import NUMBERS, Column, column_default


class _Csv(Node):
    name = "CsvDataset"

    def __init__(
        self,
        paths: Tensor,
        columns: Sequence[Column],
        places: Sequence[int] | None,
        *,
        compression: str,
        header: bool,
        dialect: dict[str, Any],
        missing: str,
    ) -> None:
        self._paths = paths
        self._columns = list(columns)
        self._places = places
        self._compression = compression
        self._header = header
        self._dialect = dialect
        self._missing = missing
        self.spec = tuple(TensorSpec((), column.dtype) for column in columns)

    def start(self, run: Run) -> Iterator[Element]:
        """The rows; an error in one does not end the file."""
        return itertools.starmap(self._element, self._fields())

    @sticky
    def _fields(self) -> Iterator[tuple[list[str], str]]:
        for path in self._paths._array.tolist():  # type: ignore[attr-defined]
            name = os.fsdecode(path)
            with open_file(path, self._compression) as file:
                text = io.TextIOWrapper(file, "utf-8", newline="")
                reader = csv.reader(text, strict=True, **self._dialect)
                start = itertools.islice(reader, int(self._header), None)
                for fields in start:
                    if fields:
                        yield fields, f"{name!r}, line {reader.line_num}"

    def _element(self, fields: list[str], place: str) -> Element:
        count = len(fields)
        places = self._places
        if places is None:
            if count != len(self._columns):
                raise InvalidArgumentError(
                    f"{place}: the row has {count} fields, and there are "
                    f"{len(self._columns)} columns"
                )
            places = range(count)
        elif max(places) >= count:
            raise InvalidArgumentError(
                f"{place}: the row has {count} fields, and column {max(places)} is "
                "asked for"
            )
        found = []
        for number, column in zip(places, self._columns):
            try:
                found.append(column.value(fields[number], self._missing))
            except ValueError as error:
                raise InvalidArgumentError(
                    f"{place}: the field {fields[number]!r} of column {number} {error}"
                ) from None
        return tuple(found)


def _default(value: Any) -> Array:
    with init_scope():  # A function of `interleave` may make the data set.
        tensor = column_default(value)
    assert isinstance(tensor, EagerTensor)
    return tensor._array


class CsvDataset(Dataset):
    """The rows of CSV files as tuples of scalars.

    Args:
        filenames: a name, or a list, a tensor or a data set of names.
        record_defaults: for each column that is read the default of empty fields, or
            the dtype if a field must not be empty.
        compression_type: ``"GZIP"`` or ``"ZLIB"`` if the files are compressed.
        header: whether the first line of each file is left out.
        field_delim: what stands between fields.
        use_quote_delim: whether fields may stand in quotes.
        na_value: what counts as an empty field, besides an empty one.
        select_cols: the numbers of the columns that are read; all, if left out.
        exclude_cols: the numbers of those that are not read.

    A field that is no number of its column is an InvalidArgumentError that names the
    file, the line and the column.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        columns = [Column(_default(default)) for default in record_defaults]
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("CsvDataset takes select_cols or exclude_cols, not both")
        places = (
            None if select_cols is None else [int(number) for number in select_cols]
        )
        if exclude_cols is not None:
            left_out = set(exclude_cols)
            every = range(len(columns) + len(left_out))
            places = [number for number in every if number not in left_out]
        if places is not None and len(places) != len(columns):
            raise ValueError(
                f"{len(places)} columns are read, and there are {len(columns)} defaults"
            )
        quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
        node = _Csv(
            paths_argument(filenames),
            columns,
            places,
            compression=check_compression(compression_type),
            header=bool(header),
            dialect={"delimiter": field_delim, "quoting": quoting},
            missing=na_value,
        )
        super().__init__(node)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the rows of CSV files: dicts of columns by name.

    With `label_name` that column is the second part of each element. The names are
    those of the first line of the first file, if `column_names` are not given; the
    dtypes are found from the first `num_rows_for_inference` rows, if `column_defaults`
    are not given. Rows come again and again, unless `num_epochs` says how often.

    `prefetch_buffer_size`, `num_parallel_reads` and `sloppy` change nothing.
    """
    given = _CsvFiles(file_pattern, compression_type, field_delim, use_quote_delim)
    found: Any = given.rows(
        column_names,
        column_defaults,
        select_columns,
        na_value,
        header,
        num_rows_for_inference,
    )
    chosen = given.chosen
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"there is no column {label_name!r} among {chosen}")
    if ignore_errors:
        found = found.ignore_errors()
    if shuffle:
        found = found.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        found = found.repeat(num_epochs)

    def named(*columns: Any) -> Any:
        features = OrderedDict(zip(chosen, columns))
        return features if label_name is None else (features, features.pop(label_name))

    batches: Dataset = found.batch(batch_size, drop_remainder=num_epochs is None)
    return batches.map(named)  # type: ignore[no-any-return]


class _CsvFiles:
    """Files whose columns are found out from their first rows."""

    def __init__(
        self, pattern: Any, compression: Any, delimiter: str, quotes: bool
    ) -> None:
        files = Dataset.list_files(pattern, shuffle=False)
        self._paths = [path.decode() for path in files.as_numpy_iterator()]
        self._compression = check_compression(compression)
        quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._dialect: dict[str, Any] = {"delimiter": delimiter, "quoting": quoting}
        self._quotes = quotes
        #: The names of the columns that are read.
        self.chosen: list[str] = []

    def rows(
        self,
        names: Sequence[str] | None,
        defaults: Sequence[Any] | None,
        select: Sequence[Any] | None,
        missing: str,
        header: bool,
        count: int | None,
    ) -> CsvDataset:
        """The rows; `count` of them tell the dtypes, where `defaults` do not."""
        head = _head(self._paths, self._compression, self._dialect, header, count)
        names = list(head[0] if names is None else names)
        if len(set(names)) != len(names):
            raise ValueError(f"the columns must have different names: {names}")
        places = _places(select, names)
        self.chosen = [names[place] for place in places]
        if defaults is None:
            defaults = [_inferred(head[1], place, missing) for place in places]
        return CsvDataset(
            self._paths,
            defaults,
            self._compression,
            header=header,
            field_delim=self._dialect["delimiter"],
            use_quote_delim=self._quotes,
            na_value=missing,
            select_cols=places,
        )


def _head(
    paths: Sequence[str],
    compression: str,
    dialect: dict[str, Any],
    header: bool,
    count: int | None,
) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, if there are any, and the first rows of the files."""
    rows: list[list[str]] = []
    names: list[str] = []
    for path in paths:
        with open_file(os.fsencode(path), compression) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            reader = csv.reader(text, strict=True, **dialect)
            if header:
                first = next(reader, [])
                if names and first != names:
                    raise ValueError(f"{path!r} has other columns than {paths[0]!r}")
                names = first
            left = None if count is None else count - len(rows)
            rows += itertools.islice((row for row in reader if row), left)
    if not names and rows:
        names = [str(number) for number in range(len(rows[0]))]
    return names, rows


def _places(chosen: Sequence[Any] | None, names: Sequence[str]) -> list[int]:
    if chosen is None:
        return list(range(len(names)))
    places = []
    for column in chosen:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"there is no column {column!r} among {names}")
            places.append(names.index(column))
        else:
            places.append(int(column))
    return sorted(places)


def _inferred(rows: Sequence[Sequence[str]], place: int, missing: str) -> Any:
    """A default of the narrowest dtype that takes all fields of a column."""
    fields = [row[place] for row in rows if len(row) > place]
    fields = [field for field in fields if field not in ("", missing)]
    for dtype in NUMBERS:
        if fields and all(_fits(field, dtype) for field in fields):
            return np.zeros((), dtype.np_dtype)
    return ""


def _fits(field: str, dtype: DType) -> bool:
    try:
        if dtype.is_integer:
            low, high = dtype.limits
            return bool(low <= int(field) <= high)
        number = float(field)
    except ValueError:
        return False
    if dtype is dtypes.float64:
        return True
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.float32(number)) or not np.isfinite(number))
