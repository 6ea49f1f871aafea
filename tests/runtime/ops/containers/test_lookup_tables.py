"""``tf.lookup``: in eager code, graphs and data sets, from values and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

KeyValue = tf.lookup.KeyValueTensorInitializer
Index = tf.lookup.TextFileIndex
Mutable = tf.lookup.experimental.MutableHashTable


def ages() -> Any:
    return tf.lookup.StaticHashTable(KeyValue(["a", "b"], [1, 2]), -1)


def items(table: Any) -> dict[Any, Any]:
    keys, values = table.export()
    return dict(zip(keys.numpy().tolist(), values.numpy().tolist()))


def test_keys_find_their_values() -> None:
    table = ages()

    assert table.lookup(tf.constant([["a"], ["z"]])).numpy().tolist() == [[1], [-1]]
    assert table["b"].numpy() == 2
    assert table.lookup(tf.constant([], tf.string)).shape == (0,)
    assert (table.size().numpy(), table.size().dtype) == (2, tf.int64)
    assert (table.key_dtype, table.value_dtype) == (tf.string, tf.int32)
    assert table.default_value.numpy() == -1
    assert items(table) == {b"a": 1, b"b": 2}


@pytest.mark.parametrize(
    ("keys", "values", "default"),
    [
        (np.array([5, 2**40]), ["x", "y"], "?"),
        (np.array([5, 6], np.int32), np.array([1.5, 2.5], np.float32), 0.0),
        (["x", "y"], np.array([True, True]), False),
        (["x", "y"], ["z\0", ""], "?"),
    ],
)
def test_dtypes_of_keys_and_values(keys: Any, values: Any, default: Any) -> None:
    table = tf.lookup.StaticHashTable(KeyValue(keys, values), default)
    given, expected = tf.constant(keys), tf.constant(values)

    found = tf.function(table.lookup)(given)

    assert (found.dtype, found.shape) == (expected.dtype, (2,))
    assert found.numpy().tolist() == expected.numpy().tolist()
    assert table.lookup(given[:0]).dtype is expected.dtype


@pytest.mark.parametrize("executor", ["numpy", "native", "xla"])
def test_tables_in_graphs(executor: str) -> None:
    if executor != "numpy":
        pytest.importorskip({"native": "llvmlite", "xla": "jax"}[executor])
    table = tf.lookup.StaticHashTable(
        KeyValue(np.array([3, 4]), np.array([30, 40])), default_value=0
    )

    @tf.function(executor=executor)
    def total(keys: Any) -> Any:
        found = table.lookup(keys)
        for i in tf.range(2):
            found += table.lookup(tf.cast(i + 3, tf.int64))
        return found, table.size()

    found, size = total(tf.constant([3, 9], tf.int64))

    assert (found.numpy().tolist(), size.numpy()) == ([100, 70], 2)


def test_shapes_are_known_in_graphs_and_tables_are_named() -> None:
    graph = tf.function(ages().lookup).get_concrete_function(
        tf.TensorSpec([None, 2], tf.string)
    )

    assert graph.outputs[0].shape.as_tuple() == (None, 2)
    assert "<table of 2 string keys>" in str(graph.graph)


def test_tables_in_data_sets() -> None:
    table = ages()
    words = tf.data.Dataset.from_tensor_slices(["b", "q", "a"])

    assert [int(x) for x in words.map(table.lookup)] == [2, -1, 1]
    assert [x.numpy().tolist() for x in words.batch(3).map(table.lookup)] == [
        [2, -1, 1]
    ]


def test_a_table_that_is_made_in_a_function() -> None:
    @tf.function
    def find(key: Any) -> Any:
        return tf.lookup.StaticHashTable(KeyValue(["a"], [7]), 0).lookup(key)

    assert find(tf.constant("a")).numpy() == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="values that are known"):
        tf.function(lambda key: KeyValue(key, [1]))(tf.constant(["a"]))


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="b'a' has two values"):
        tf.lookup.StaticHashTable(KeyValue(["a", "a"], [1, 2]), 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"have values of \(1,\)"):
        KeyValue(["a", "b"], [1])
    with pytest.raises(TypeError, match="the keys are string, not int32"):
        ages().lookup(tf.constant([1]))
    with pytest.raises(TypeError, match="the keys are string, not int32"):
        tf.function(ages().lookup)(tf.constant([1]))
    with pytest.raises(TypeError, match="not float32"):
        tf.lookup.StaticHashTable(KeyValue([1.5], [1]), 0)
    with pytest.raises(ValueError, match="one value"):
        tf.lookup.StaticHashTable(KeyValue(["a"], [1]), [0, 0])


# --- files ----------------------------------------------------------------------------


def table_of(path: Path, *args: Any, default: Any = -1, **kwargs: Any) -> Any:
    given = tf.lookup.TextFileInitializer(str(path), *args, **kwargs)
    return tf.lookup.StaticHashTable(given, default)


def test_lines_and_columns_of_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x\t10\r\ny\t20\n")
    whole = tf.string, Index.WHOLE_LINE, tf.int64, Index.LINE_NUMBER

    assert items(table_of(path, *whole)) == {b"x\t10": 0, b"y\t20": 1}
    assert items(table_of(path, *whole, vocab_size=1)) == {b"x\t10": 0}
    offset = table_of(path, *whole, value_index_offset=5)
    assert items(offset) == {b"x\t10": 5, b"y\t20": 6}
    assert items(table_of(path, tf.string, 0, tf.int64, 1)) == {b"x": 10, b"y": 20}
    numbers = table_of(path, tf.int64, 1, tf.string, 0, default="?")
    assert items(numbers) == {10: b"x", 20: b"y"}
    lines = table_of(path, tf.int64, -1, tf.string, -2, default="?")
    assert items(lines) == {0: b"x\t10", 1: b"y\t20"}
    floats = table_of(path, tf.string, 0, tf.float32, 1, delimiter="\t", default=0.0)
    assert items(floats) == {b"x": 10.0, b"y": 20.0}
    assert items(table_of(path, tf.string, 0, tf.string, 1, delimiter="0", default=""))


def test_refusals_of_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a\nb\n\na\n")
    whole = tf.string, Index.WHOLE_LINE, tf.int64, Index.LINE_NUMBER
    invalid = tf.errors.InvalidArgumentError

    with pytest.raises(invalid, match="line 3 is empty"):
        table_of(path, *whole)
    with pytest.raises(invalid, match="has 4 lines, and vocab_size is 9"):
        table_of(path, *whole, vocab_size=9)
    path.write_bytes(b"a\nb\na\n")
    with pytest.raises(tf.errors.FailedPreconditionError, match="two values: 0 and 2"):
        table_of(path, *whole)
    with pytest.raises(invalid, match="line 1 has 1 columns, and column 1"):
        table_of(path, tf.string, 0, tf.int64, 1)
    with pytest.raises(invalid, match="line 1: b'a' is no int64"):
        table_of(path, tf.int64, 0, tf.int64, Index.LINE_NUMBER)
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        table_of(tmp_path / "none", *whole)
    for args in (
        (tf.string, -1, tf.int64, -1),
        (tf.string, -2, tf.int32, -1),
        (tf.float32, -2, tf.int64, -1),
        (tf.string, -3, tf.int64, 0),
    ):
        with pytest.raises(ValueError, match=r"_(dtype|index) is"):
            tf.lookup.TextFileInitializer(str(path), *args)
    with pytest.raises(invalid, match="line 1: b'a' is no int32"):
        table_of(path, tf.int32, -2, tf.int64, -1)
    path.write_bytes(b"7\n-3\n")
    numbers = table_of(path, tf.int32, -2, tf.int64, -1)
    assert numbers.lookup(tf.constant([-3, 7, 0])).numpy().tolist() == [1, 0, -1]


# --- vocabularies ---------------------------------------------------------------------


def test_words_that_are_not_in_a_vocabulary_have_tensorflows_numbers() -> None:
    words = KeyValue(["a", "b"], np.array([0, 1]))
    table = tf.lookup.StaticVocabularyTable(words, 3)

    found = tf.function(table.lookup)(tf.constant(["a", "b", "z", "q", "hello", ""]))

    assert found.numpy().tolist() == [0, 1, 3, 4, 3, 4]
    assert table.size().numpy() == 5
    assert table[["b"]].numpy().tolist() == [1]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_vocabularies_of_numbers(dtype: tf.DType) -> None:
    numbers = KeyValue(np.array([7, 8]), np.array([0, 1]))
    table = tf.lookup.StaticVocabularyTable(numbers, 4, lookup_key_dtype=dtype)

    found = table.lookup(tf.constant([7, 8, 9, 10, -1], dtype))

    assert found.numpy().tolist() == [0, 1, 3, 4, 4]


def test_vocabularies_without_words_and_refusals() -> None:
    table = tf.lookup.StaticVocabularyTable(None, 3)
    assert table.lookup(["a", "b"]).numpy().tolist() == [0, 1]
    with pytest.raises(ValueError, match="use StaticHashTable"):
        tf.lookup.StaticVocabularyTable(None, 0)
    with pytest.raises(TypeError, match="values are int64"):
        tf.lookup.StaticVocabularyTable(KeyValue(["a"], [0]), 1)
    with pytest.raises(TypeError, match="are not found as"):
        tf.lookup.StaticVocabularyTable(
            KeyValue(["a"], np.array([0])), 1, lookup_key_dtype=tf.int64
        )


# --- tables that change ---------------------------------------------------------------


def test_tables_that_change() -> None:
    table = Mutable(tf.string, tf.int64, -1)

    table.insert(["a", "b"], [1, 2])
    table.insert(tf.constant(["a", "c", "c"]), [5, 6, 7])
    table.remove(["b", "none"])

    assert items(table) == {b"a": 5, b"c": 7}
    assert table.lookup(["a", "b"]).numpy().tolist() == [5, -1]
    assert table.lookup(["a", "b"], [8, 9]).numpy().tolist() == [5, 9]
    assert table.lookup(["a", "b"], 3).numpy().tolist() == [5, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not belong to keys"):
        table.insert(["a", "b"], [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="stand for none"):
        table.lookup(["a", "b"], [1, 2, 3])


def test_values_that_are_vectors() -> None:
    table = Mutable(tf.int64, tf.float32, [0.0, 0.5])
    table.insert([1], [[1.0, 2.0]])

    assert table.lookup([1, 2]).numpy().tolist() == [[1.0, 2.0], [0.0, 0.5]]
    assert table.export()[1].shape == (1, 2)
    assert table.lookup(tf.constant([], tf.int64)).shape == (0, 2)


def test_a_graph_changes_and_reads_a_table_in_order_each_time() -> None:
    table = Mutable(tf.string, tf.int64, 0)

    @tf.function
    def count(words: Any) -> Any:
        before = table.size()
        for i in tf.range(tf.size(words)):
            word = words[i]
            table.insert(word, table.lookup(word) + 1)
        return before, table.size()

    assert [x.numpy() for x in count(tf.constant(["a", "b", "a"]))] == [0, 2]
    assert items(table) == {b"a": 2, b"b": 1}
    table.remove(["b"])
    assert [x.numpy() for x in count(tf.constant(["a", "c"]))] == [1, 2]
    assert items(table) == {b"a": 3, b"c": 1}
    assert count.experimental_get_tracing_count() == 2


# --- saving ---------------------------------------------------------------------------


def test_checkpoints_hold_tables_that_change(tmp_path: Path) -> None:
    table = Mutable(tf.string, tf.float32, [0.0, 0.0])
    table.insert(["a", ""], [[1.0, 2.0], [3.0, 4.0]])
    other = Mutable(tf.string, tf.int64, 0, checkpoint=False)
    other.insert(["a"], [1])
    checkpoint = tf.train.Checkpoint(table=table, other=other, ages=ages())

    path = checkpoint.save(str(tmp_path / "ckpt"))
    table.insert(["a", "b"], [[9.0, 9.0], [9.0, 9.0]])
    other.insert(["a"], [2])
    checkpoint.restore(path).assert_consumed()

    assert items(table) == {b"a": [1.0, 2.0], b"": [3.0, 4.0]}
    assert items(other) == {b"a": 2}
    # The names are those of TensorFlow.
    assert tf.train.list_variables(path)[1:] == [
        ("table/.ATTRIBUTES/table-keys", [2]),
        ("table/.ATTRIBUTES/table-values", [2, 2]),
    ]


def test_saved_models_have_their_tables(tmp_path: Path) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            self.ages, self.counts = ages(), Mutable(tf.string, tf.int32, 0)
            self.words = tf.lookup.StaticVocabularyTable(
                KeyValue(["a"], np.array([0])), 3
            )

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, keys: Any) -> Any:
            return self.ages[keys], self.counts[keys], self.words[keys]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def count(self, keys: Any) -> Any:
            self.counts.insert(keys, self.counts[keys] + 1)

    model, keys = Model(), tf.constant(["a", "b", "hello"])
    model.count(keys[1:])
    tf.saved_model.save(model, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    loaded.count(keys[:2])
    tf.saved_model.save(loaded, str(tmp_path / "again"))
    again = tf.saved_model.load(str(tmp_path / "again"))

    assert [x.numpy().tolist() for x in model.find(keys)] == [
        [1, 2, -1],
        [0, 1, 1],
        [0, 2, 2],
    ]
    for found in (loaded, again):
        assert [x.numpy().tolist() for x in found.find(keys)] == [
            [1, 2, -1],
            [1, 2, 1],
            [0, 2, 2],
        ]
        assert items(found.counts) == {b"a": 1, b"b": 2, b"hello": 1}
        assert found.ages.lookup(keys).numpy().tolist() == [1, 2, -1]
        with pytest.raises(AttributeError):
            found.ages.insert(["c"], [1])
