"""CSV files as data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

CsvDataset = tf.data.experimental.CsvDataset
make_csv_dataset = tf.data.experimental.make_csv_dataset

TEXT = 'id,price,name\n1,2.5,"a, ""b"""\n2,,c\n\n3,NA,d\n'


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "rows.csv"
    file.write_text(TEXT)
    return str(file)


def plain(element: Any) -> Any:
    if isinstance(element, dict):
        return {key: plain(value) for key, value in element.items()}
    if isinstance(element, tuple):
        return tuple(map(plain, element))
    return element.tolist() if hasattr(element, "tolist") else element


def values(dataset: Any) -> list[Any]:
    return [plain(element) for element in dataset.as_numpy_iterator()]


def test_rows(path: str) -> None:
    rows = CsvDataset(path, [tf.int32, -1.0, tf.string], header=True, na_value="NA")
    assert values(rows) == [(1, 2.5, b'a, "b"'), (2, -1.0, b"c"), (3, -1.0, b"d")]
    assert [spec.dtype.name for spec in rows.element_spec] == [
        "int32",
        "float32",
        "string",
    ]


def test_columns(path: str) -> None:
    chosen = CsvDataset(path, [tf.string, tf.int64], header=True, select_cols=[2, 0])
    assert values(chosen)[1] == (b"c", 2)
    rest = CsvDataset(path, [tf.int64, tf.string], header=True, exclude_cols=[1])
    assert values(rest)[1] == (2, b"c")
    with pytest.raises(ValueError, match="not both"):
        CsvDataset(path, [0], select_cols=[0], exclude_cols=[1])


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        ([tf.int32, tf.float32, tf.string], "line 3.*column 1 is empty"),
        ([tf.int32, 0.0, tf.int32], "line 2.*column 2 is no int32"),
        ([tf.int32, 0.0], "line 2: the row has 3 fields"),
    ],
)
def test_errors_name_the_place(path: str, defaults: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        values(CsvDataset(path, defaults, header=True))


def test_rows_with_errors_are_left_out(path: str) -> None:
    rows = CsvDataset(path, [tf.int32, tf.float32, tf.string], header=True)
    assert values(rows.ignore_errors()) == [(1, 2.5, b'a, "b"')]


def test_batches_by_name(path: str) -> None:
    batches = make_csv_dataset(
        path, 2, label_name="id", na_value="NA", num_epochs=1, shuffle=False
    )
    assert values(batches) == [
        ({"price": [2.5, 0.0], "name": [b'a, "b"', b"c"]}, [1, 2]),
        ({"price": [0.0], "name": [b"d"]}, [3]),
    ]
    features, label = batches.element_spec
    assert list(features) == ["price", "name"]
    assert (features["price"].dtype, label.dtype) == (tf.float32, tf.int32)


def test_rows_come_again_and_again(path: str) -> None:
    batches = make_csv_dataset(path, 2, select_columns=["id"], shuffle_seed=1)
    found = [int(x) for batch in batches.take(6) for x in batch["id"]]
    assert sorted(found) == [1] * 4 + [2] * 4 + [3] * 4
    again = make_csv_dataset(path, 2, select_columns=["id"], shuffle_seed=1)
    assert [int(x) for batch in again.take(6) for x in batch["id"]] == found


def test_dtypes_are_those_that_take_all_fields(tmp_path: Path) -> None:
    file = tmp_path / "kinds.csv"
    file.write_text("a,b,c,d,e\n1,3000000000,1.5,1e300,x\n2,1,2,2,3\n")
    batches = make_csv_dataset(str(file), 1, num_epochs=1, shuffle=False)
    kinds = [spec.dtype.name for spec in batches.element_spec.values()]
    assert kinds == ["int32", "int64", "float32", "float64", "string"]
    assert np.isclose(values(batches)[0]["d"][0], 1e300)


def test_what_is_not_there(path: str) -> None:
    with pytest.raises(ValueError, match="'other'"):
        make_csv_dataset(path, 2, label_name="other")
    with pytest.raises(ValueError, match="'other'"):
        make_csv_dataset(path, 2, select_columns=["other"])
