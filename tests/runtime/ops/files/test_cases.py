"""What TensorFlow gives for the same calls, in eager code and in graphs."""

from __future__ import annotations

import json

import pytest

import runtime as tf
from tests.runtime.ops.files.cases import EXPECTED, calls, outcome

expected = json.loads(EXPECTED.read_text(encoding="utf-8"))


def test_every_call_is_recorded() -> None:
    assert list(expected) == calls()


@pytest.mark.parametrize("call", calls())
def test_gives_what_tensorflow_gives(call: str) -> None:
    assert outcome(tf, call) == expected[call]
    if call.startswith("tf.io."):
        staged = outcome(tf, call, staged=True)
        # What is known while a function is traced is a subclass of the error.
        assert str(staged).replace("Traced", "Invalid") == str(expected[call])


def test_texts_of_a_graph_are_decoded_when_it_runs() -> None:
    @tf.function
    def decode(line: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        number, text = tf.io.decode_csv(line, [[0], [""]])
        raw = tf.io.decode_raw(tf.io.decode_base64(text), tf.int16)
        return number, text, raw + tf.cast(number, tf.int16)

    found = decode(tf.constant("7,AQACAA"))

    assert [found[0].numpy(), found[1].numpy()] == [7, b"AQACAA"]
    assert found[2].numpy().tolist() == [8, 9]
    assert decode.get_concrete_function(tf.constant("")).outputs[2].shape == (None,)


def test_bad_fields_are_located_in_graphs() -> None:
    decode = tf.function(lambda line: tf.io.decode_csv(line, [[0]]))

    assert decode(tf.constant(["1", "2"]))[0].numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x' of column 0"):
        decode(tf.constant(["1", "x"]))


def test_a_map_decodes_rows() -> None:
    rows = tf.data.Dataset.from_tensor_slices(["1,2.5", "3,"])
    pairs = rows.map(lambda row: tuple(tf.io.decode_csv(row, [[0], [0.5]])))

    assert [(int(a), float(b)) for a, b in pairs] == [(1, 2.5), (3, 0.5)]
    batches = rows.batch(2).map(lambda row: tf.io.decode_csv(row, [[0], [0.5]])[1])
    assert next(iter(batches)).numpy().tolist() == [2.5, 0.5]


def test_a_megabyte_of_one_field_is_one_field() -> None:
    field = '"' + 'x""' * 300_000 + '"'

    (found,) = tf.io.decode_csv(field, [[""]])

    assert len(found.numpy()) == 600_000
