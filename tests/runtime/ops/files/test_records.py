"""Records: exchange with TensorFlow, in data sets and graphs, and damaged ones."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis
import hypothesis.strategies as st
import pytest

import runtime as tf
from runtime.ops.files import messages
from tests.runtime.ops.files.cases import EXPECTED, names

pytest.importorskip("google.protobuf")
NAMES = names(tf)
FX, V, Q = tf.io.FixedLenFeature, tf.io.VarLenFeature, tf.io.FixedLenSequenceFeature
#: What TensorFlow serialized: two records and a sequence.
A, C = (
    ast.literal_eval(json.loads(EXPECTED.read_text(encoding="utf-8"))[name])
    for name in "AC"
)
FEATURES = {"i": FX([2], tf.int64), "f": V(tf.float32), "b": FX([], tf.string, "")}


def records(path: Path, count: int = 5) -> str:
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(count):
            features = tf.train.Features()
            features.feature["i"].int64_list.value.extend([number, -number])
            features.feature["f"].float_list.value.extend([0.5] * number)
            message = tf.train.Example(features=features)
            writer.write(message.SerializeToString())
    return str(path)


def test_messages_of_tensorflow_are_read_and_written() -> None:
    message = tf.train.Example.FromString(A)
    features = message.features.feature

    assert list(features["i"].int64_list.value) == [1, -2]
    assert list(features["b"].bytes_list.value) == [b"\xff"]
    assert features["e"].WhichOneof("kind") is None
    assert message.SerializeToString(deterministic=True) == A
    sequence = tf.train.SequenceExample.FromString(C)
    steps = sequence.feature_lists.feature_list["v"].feature
    assert [list(step.bytes_list.value) for step in steps] == [[b"a"], [b"b", b"c"], []]
    assert sequence.SerializeToString(deterministic=True) == C
    copy = tf.train.Example()
    copy.CopyFrom(message)
    assert copy == message
    assert isinstance(copy.features, tf.train.Features)


def test_messages_do_not_clash_with_those_of_tensorflow() -> None:
    code = """
from google.protobuf import descriptor_pb2, descriptor_pool
file = descriptor_pb2.FileDescriptorProto(name="x.proto", package="tensorflow")
file.message_type.add(name="Example"), file.message_type.add(name="TensorProto")
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
import runtime as tf
print(tf.train.Example.DESCRIPTOR.full_name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("tensorflow.Example\n", "")


def test_the_package_is_imported_when_it_is_asked_for() -> None:
    code = """
import sys, runtime as tf
tf.io.parse_example, tf.io.FixedLenFeature([], tf.int64), tf.train.Checkpoint
print([name for name in sys.modules if name.startswith("google.")])
tf.train.Feature
print("google.protobuf" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("[]\nTrue\n", "")


def test_without_the_package_the_error_names_the_extra() -> None:
    messages.classes.cache_clear()
    try:
        with (
            mock.patch.dict(sys.modules, {"google.protobuf.descriptor_pb2": None}),
            pytest.raises(tf.errors.UnimplementedError, match=r"compiler\[records\]"),
        ):
            tf.io.parse_single_example(A, FEATURES)
    finally:
        messages.classes.cache_clear()


# --- data sets and graphs -------------------------------------------------------------


def test_records_of_a_data_set(tmp_path: Path) -> None:
    texts = tf.data.TFRecordDataset(records(tmp_path / "file"))

    examples = texts.map(lambda text: tf.io.parse_single_example(text, FEATURES))

    assert examples.element_spec == {
        "i": tf.TensorSpec([2], tf.int64),
        "f": tf.TensorSpec([None], tf.float32),
        "b": tf.TensorSpec([], tf.string),
    }
    assert [e["f"].shape[0] for e in examples] == [0, 1, 2, 3, 4]
    assert [e["i"].numpy().tolist() for e in examples][4] == [4, -4]
    padded = next(iter(examples.padded_batch(5)))
    assert padded["f"].shape == (5, 4)


def test_batches_of_a_data_set(tmp_path: Path) -> None:
    texts = tf.data.TFRecordDataset(records(tmp_path / "file")).batch(3)

    batches = list(texts.map(lambda text: tf.io.parse_example(text, FEATURES)))

    assert [batch["i"].shape for batch in batches] == [(3, 2), (2, 2)]
    last = batches[1]["f"]
    assert isinstance(last, tf.io.PaddedValues)
    assert last.lengths.numpy().tolist() == [3, 4]
    assert last.values.numpy().tolist() == [[0.5, 0.5, 0.5, 0], [0.5] * 4]


def test_shapes_are_known_in_graphs() -> None:
    features = {**FEATURES, "q": Q([3], tf.int64, True)}

    @tf.function
    def parse(texts: Any) -> Any:
        return tf.io.parse_example(texts, features)

    single = parse.get_concrete_function(tf.TensorSpec([], tf.string))
    assert {k: s.shape.as_tuple() for k, s in single.structured_outputs.items()} == {
        "b": (),
        "f": (None,),
        "i": (2,),
        "q": (None, 3),
    }
    batch = parse.get_concrete_function(tf.TensorSpec([None], tf.string))
    found = batch.structured_outputs
    assert found["f"].values.shape.as_tuple() == (None, None)
    assert found["f"].lengths.shape.as_tuple() == (None,)
    assert found["q"].shape.as_tuple() == (None, None, 3)
    assert parse(tf.constant([A]))["f"].values.numpy().tolist() == [[1.5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="their rank is known"):
        parse.get_concrete_function(tf.TensorSpec(None, tf.string))


def test_ops_take_the_features_of_one_record() -> None:
    @tf.function
    def parse(text: Any) -> Any:
        found = tf.io.parse_single_example(text, FEATURES)
        return tf.strings.length(found["b"]), tf.reduce_sum(found["i"])

    assert [x.numpy() for x in parse(tf.constant(A))] == [1, -1]


def test_a_default_may_be_a_tensor_of_the_graph() -> None:
    @tf.function
    def parse(text: Any, default: Any) -> Any:
        feature = FX([2], tf.int64, default + 1)
        return tf.io.parse_single_example(text, {"none": feature})["none"]

    given = tf.constant([1, 2], tf.int64)

    assert parse(tf.constant(A), given).numpy().tolist() == [2, 3]


def test_sequences_in_a_graph() -> None:
    @tf.function
    def parse(text: Any) -> Any:
        return tf.io.parse_single_sequence_example(
            text, {"c": V(tf.int64)}, {"s": Q([2], tf.int64), "v": V(tf.string)}
        )

    context, sequences = parse(tf.constant(C))

    assert context["c"].numpy().tolist() == [5]
    assert sequences["s"].numpy().tolist() == [[1, 2], [3, 4]]
    assert sequences["v"].lengths.numpy().tolist() == [1, 2, 0]


def test_saved_models_read_records(tmp_path: Path) -> None:
    module = tf.Module()
    module.parse = tf.function(
        lambda texts: (
            tf.io.parse_example(texts, {**FEATURES, "d": FX([], tf.int64, 7)}),
            tf.io.decode_csv(tf.strings.as_string(tf.size(texts)), [[0]]),
            tf.io.parse_tensor(tf.io.serialize_tensor(tf.size(texts)), tf.int32),
        ),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path))

    found = tf.saved_model.load(str(tmp_path)).parse(tf.constant([A, A]))

    features, (count,), size = found
    assert features["f"].lengths.numpy().tolist() == [1, 1]
    assert features["i"].numpy().tolist() == [[1, -2]] * 2
    assert features["d"].numpy().tolist() == [7, 7]
    assert (count.numpy(), size.numpy()) == (2, 2)


def test_tensors_of_a_graph() -> None:
    @tf.function
    def there_and_back(x: Any) -> Any:
        text = tf.io.serialize_tensor(x)
        return tf.io.parse_tensor(text, tf.float32) + 1

    assert there_and_back(tf.constant([1.5])).numpy().tolist() == [2.5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype number 3"):
        there_and_back(tf.constant([1]))


def test_strings_are_filled_up_with_all_of_the_default() -> None:
    features = {"b": Q([], tf.string, True, b"x\0")}

    found = tf.io.parse_example([A, b""], features)["b"]

    assert found.numpy().tolist() == [[b"\xff"], [b"x\0"]]


def test_wrong_features_are_named() -> None:
    with pytest.raises(ValueError, match="'i' is one of FixedLenFeature, VarLen"):
        tf.io.parse_example(A, {"i": tf.int64})
    with pytest.raises(tf.errors.InvalidArgumentError, match="'i' has the kind int64"):
        tf.io.parse_example(A, {"i": V(tf.string)})
    with pytest.raises(ValueError, match="'q' needs values"):
        tf.io.parse_example(A, {"q": Q([0], tf.int64, True)})


# --- damaged records ------------------------------------------------------------------

TENSOR = tf.io.serialize_tensor([[1.5, 2.5]] * 20).numpy()


def read_all(text: bytes) -> None:
    """Read bytes as whatever they may be: that, or an error of `tf.errors`."""
    loss = (tf.errors.InvalidArgumentError, tf.errors.DataLossError)
    calls = [
        lambda: tf.io.parse_single_example(text, FEATURES),
        lambda: tf.io.parse_example([text, A], {"i": V(tf.int64), "b": V(tf.string)}),
        lambda: tf.io.parse_single_sequence_example(
            text, {"c": V(tf.int64)}, {"s": V(tf.int64), "v": Q([], tf.string)}
        ),
        lambda: tf.io.parse_tensor(text, tf.float32),
        lambda: tf.io.parse_tensor(text, tf.int32),
        lambda: tf.io.decode_json_example(text),
    ]
    for call in calls:
        try:
            call()
        except loss:
            pass


@hypothesis.settings(max_examples=max(300, hypothesis.settings().max_examples))
@hypothesis.given(st.sampled_from([A, C, TENSOR]), st.data())
def test_random_damage_of_messages(whole: bytes, data: st.DataObject) -> None:
    text = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(len(text) - 1, 0)))
        match data.draw(st.integers(0, 3)):
            case 0 if text:
                text[place] ^= 1 << data.draw(st.integers(0, 7))
            case 1:
                del text[place:]
            case 2:  # a length of up to 2**63
                text[place:place] = b"\xff" * data.draw(st.integers(1, 9)) + b"\x7f"
            case _:
                text[place : place + 1] = data.draw(st.binary(max_size=6))

    tracemalloc.start()
    try:
        read_all(bytes(text))
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()


def test_a_shape_of_a_few_bytes_takes_no_memory() -> None:
    for size in (2**31, 2**60):
        shape = messages.classes()["TensorShapeProto"]()
        shape.dim.add(size=size)
        message = messages.classes()["TensorProto"](dtype=3, tensor_shape=shape)
        message.int_val.append(7)
        text = message.SerializeToString()
        assert len(text) < 30
        with pytest.raises(tf.errors.InvalidArgumentError, match="1 values for"):
            tf.io.parse_tensor(text, tf.int32)


@hypothesis.given(st.integers(0, 10**6), st.integers(0, 7), st.booleans())
def test_random_damage_of_files(
    tmp_path_factory: Any, place: int, bit: int, cut: bool
) -> None:
    path = tmp_path_factory.mktemp("records") / "file"
    data = bytearray(Path(records(path)).read_bytes())
    place %= len(data)
    data[place] ^= 1 << bit
    path.write_bytes(data[:place] if cut else data)
    examples = tf.data.TFRecordDataset(str(path)).map(
        lambda text: tf.io.parse_single_example(text, FEATURES)
    )

    count = 0
    try:
        for _ in examples:
            count += 1
    except tf.errors.DataLossError:
        assert count < 5
    else:
        assert cut
