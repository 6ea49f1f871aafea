"""Calls whose results TensorFlow gave: `expected.json` has them.

``python tests/runtime/ops/files/cases.py`` writes that file anew where TensorFlow is
installed. Sparse tensors are written down as this library gives their values.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).with_name("expected.json")

RAW = """
tf.io.decode_raw([b"abcd", b"efgh"], tf.int16)
tf.io.decode_raw([b"abcd", b"ef"], tf.int16)
tf.io.decode_raw(b"abc", tf.int16)
tf.io.decode_raw(b"", tf.int16)
tf.io.decode_raw([[b"abcd"], [b"efgh"]], tf.uint8)
tf.io.decode_raw(tf.constant([], tf.string), tf.int16)
tf.io.decode_raw(b"\\x00\\x01\\x02", tf.bool)
tf.io.decode_raw(b"abcd", tf.int16, little_endian=False)
tf.io.decode_raw(b"abcdefgh", tf.float64)
tf.io.decode_raw(b"abcdefgh", tf.complex64)
tf.io.decode_raw([b"abcdef", b"ef"], tf.int16, fixed_length=4)
tf.io.decode_raw([b"abcdef", b"efg"], tf.int16, fixed_length=4)
tf.io.decode_raw([b"abcdef", b"ef"], tf.int16, fixed_length=3)
tf.io.decode_raw(b"abcdefgh", tf.string)
"""
BASE64 = """
tf.io.encode_base64([b"a", b"\\xfb\\xff", b""])
tf.io.encode_base64([b"a", b"abc"], pad=True)
tf.io.decode_base64([b"YQ", b"YQ==", b"-_8", b"YR==", b""])
tf.io.decode_base64(b"YQ=")
tf.io.decode_base64(b"Y")
tf.io.decode_base64(b"+/8=")
tf.io.decode_base64(b"YWJj\\n")
tf.io.decode_base64(b"YQ==YQ==")
tf.io.decode_base64(b"Y Q")
tf.io.decode_base64(b"YWJj=")
tf.io.decode_base64(b"Y===")
tf.io.decode_base64(b"====")
tf.io.decode_base64(b"\\xc3\\xa9YQ")
"""
CSV = """
tf.io.decode_csv("1,2,a", [[0], [1.5], ["z"]])
tf.io.decode_csv(["1,2,a", "3,,"], [[0], [1.5], ["z"]])
tf.io.decode_csv([["1,2,a"]], [[0], [1.5], ["z"]])
tf.io.decode_csv("1,2", [[0], [1.5], ["z"]])
tf.io.decode_csv("1,2,3,4", [[0], [1.5], ["z"]])
tf.io.decode_csv("x,2,a", [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2,"a""b"', [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2,a"b', [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2,"a"b', [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2,"a', [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2, "a"', [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2,"a,\\nb"', [[0], [1.5], ["z"]])
tf.io.decode_csv('1,2,a\\n', [[0], [1.5], ["z"]])
tf.io.decode_csv('"1","2",3', [[0], [1.5], ["z"]])
tf.io.decode_csv(" 1 , 2 , a ", [[0], [1.5], ["z"]])
tf.io.decode_csv("NA,NA,NA", [[0], [1.5], ["z"]], na_value="NA")
tf.io.decode_csv("1|2|3", [[0], [1.5], ["z"]], field_delim="|")
tf.io.decode_csv("1^2^3", [[0], [1.5], ["z"]], field_delim="^")
tf.io.decode_csv("1||2", [[0], [1.5]], field_delim="||")
tf.io.decode_csv('1,2,"3"', [[0], [1.5], ["z"]], use_quote_delim=False)
tf.io.decode_csv('1,2,"3,"', [[0], [1.5], ["z"]], use_quote_delim=False)
tf.io.decode_csv("1,2,3,4", [[0], [1.5], ["z"]], select_cols=[0, 1, 3])
tf.io.decode_csv("1,2,3,4", [[0], [1.5], ["z"]], select_cols=[1, 0, 3])
tf.io.decode_csv("1,2,3,4", [[0], [1.5], ["z"]], select_cols=[0, 1])
tf.io.decode_csv("1,2,3", [[0], [1.5], ["z"]], select_cols=[0, 1, 5])
tf.io.decode_csv("", [[1]])
tf.io.decode_csv("", [["q"]])
tf.io.decode_csv(",", [["q"], [5]])
tf.io.decode_csv("1_0", [[1]])
tf.io.decode_csv("1_0.5", [[1.0]])
tf.io.decode_csv("1e400,1e39,nan,-inf", [[1.0]] * 4)
tf.io.decode_csv("99999999999", [[1]])
tf.io.decode_csv("99999999999", [tf.constant([1], tf.int64)])
tf.io.decode_csv("0x10", [[1]])
tf.io.decode_csv("1.0", [[1]])
tf.io.decode_csv("+5,-5", [[1], [1]])
tf.io.decode_csv(",1", [tf.constant([], tf.int32), [1]])
tf.io.decode_csv("7,1", [tf.constant([], tf.int32), [1]])
tf.io.decode_csv("1,2", [5, 6.0])
tf.io.decode_csv(b"1,\\xff", [[0], ["z"]])
tf.io.decode_csv(tf.constant([], tf.string), [[1]])
"""
EXAMPLES = """
A
B
tf.train.Example.FromString(A).features.feature["i"].int64_list.value[1]
tf.train.Example()
tf.io.parse_single_example(A, {"i": FX([2], I), "f": FX([], F), "b": FX([], S)})
tf.io.parse_single_example(A, {"i": FX([2, 1], I)})
tf.io.parse_single_example(A, {"i": FX(2, I)})
tf.io.parse_single_example(A, {"i": FX([3], I)})
tf.io.parse_single_example(A, {"i": FX([1], I)})
tf.io.parse_single_example(A, {"i": FX([2], F)})
tf.io.parse_single_example(A, {"i": V(F)})
tf.io.parse_single_example(A, {"q": FX([2], F)})
tf.io.parse_single_example(A, {"q": FX([2], F, [1, 2])})
tf.io.parse_single_example(A, {"q": FX([2], F, 1)})
tf.io.parse_single_example(A, {"q": FX([], S, "d")})
tf.io.parse_single_example(A, {"e": FX([], F)})
tf.io.parse_single_example(A, {"e": FX([], F, 7.0)})
tf.io.parse_single_example(B, {"b": FX([], S, "d")})
tf.io.parse_single_example(A, {"i": V(I), "f": V(F), "b": V(S), "n": V(I)})
tf.io.parse_single_example(A, {"i": Q([], I, True)})
tf.io.parse_single_example(A, {"i": Q([2], I, True)})
tf.io.parse_single_example(A, {"i": Q([3], I, True)})
tf.io.parse_single_example(A, {"q": Q([3], I, True)})
tf.io.parse_single_example(A, {"i": Q([], I)})
tf.io.parse_single_example(b"", {"i": FX([2], I, [0, 0])})
tf.io.parse_single_example(A, {"i": FX([2], tf.int32)})
tf.io.parse_single_example(A, {"i": FX([None], I)})
tf.io.parse_single_example(A, {})
tf.io.parse_single_example(A, None)
tf.io.parse_single_example([A], {"i": FX([2], I)})
tf.io.parse_example([A, B], {"i": FX([2], I), "f": V(F), "b": V(S), "n": V(I)})
tf.io.parse_example([A, B], {"f": Q([], F, True)})
tf.io.parse_example([A, B], {"f": Q([], F, True, -1)})
tf.io.parse_example([A, B], {"q": Q([2], F, True)})
tf.io.parse_example([B], {"b": FX([], S, "d")})
tf.io.parse_example(A, {"i": FX([2], I), "b": V(S)})
tf.io.parse_example([[A]], {"i": FX([2], I)})
tf.io.parse_example(tf.constant([], S), {"i": FX([2], I), "b": V(S)})
FX([2], "int64"), V("string"), Q([], "int64")
tf.io.parse_single_example(tf.io.decode_json_example(JSON), {"i": V(I), "b": V(S)})
tf.io.decode_json_example(["{}"])
tf.io.decode_json_example("{")
tf.io.decode_json_example('{"x": 1}')
"""
SEQUENCES = """
C
tf.io.parse_single_sequence_example(C, {"c": FX([], I)}, {"s": Q([2], I), "v": V(S)})
tf.io.parse_single_sequence_example(C, {"c": V(I)}, {"s": V(I)})
tf.io.parse_single_sequence_example(C, None, {"s": Q([], I)})
tf.io.parse_single_sequence_example(C, None, {"v": Q([], S)})
tf.io.parse_single_sequence_example(C, None, {"s": Q([2], F)})
tf.io.parse_single_sequence_example(C, None, {"q": Q([], I)})
tf.io.parse_single_sequence_example(C, None, {"q": Q([], I, True), "w": V(I)})
tf.io.parse_single_sequence_example(C, None, {"m": Q([2], I)})
tf.io.parse_single_sequence_example(C, {"x": FX([], I)}, None)
tf.io.parse_single_sequence_example(C, {"x": FX([], I, 3)}, None)
tf.io.parse_single_sequence_example(C, {"x": Q([], I, True)}, None)
tf.io.parse_single_sequence_example(C, None, {"s": FX([2], I)})
tf.io.parse_single_sequence_example(b"\\xff", {"x": FX([], I, 3)}, None)
tf.io.parse_single_sequence_example([C], {"x": FX([], I, 3)}, None)
"""
TENSORS = """
tf.io.serialize_tensor(1.5)
tf.io.serialize_tensor([1, 2])
tf.io.serialize_tensor(tf.constant([[1, 2], [3, 4]], tf.int8))
tf.io.serialize_tensor("abc")
tf.io.serialize_tensor([b"a", b"\\xff\\x00"])
tf.io.serialize_tensor(tf.constant([], tf.int32))
tf.io.serialize_tensor(tf.constant([], S))
tf.io.serialize_tensor(tf.zeros([0, 3]))
tf.io.serialize_tensor(True)
tf.io.serialize_tensor(tf.constant([1 + 2j]))
tf.io.serialize_tensor(tf.constant([1 + 2j], tf.complex64))
tf.io.serialize_tensor(tf.constant(3, tf.uint64))
tf.io.serialize_tensor(tf.constant(0.5, tf.half))
tf.io.parse_tensor(tf.io.serialize_tensor([[1.5], [2.5]]), F)
tf.io.parse_tensor(tf.io.serialize_tensor(["a", "b"]), S)
tf.io.parse_tensor(tf.io.serialize_tensor(tf.zeros([0, 3])), F)
tf.io.parse_tensor(tf.io.serialize_tensor(True), tf.bool)
tf.io.parse_tensor(tf.io.serialize_tensor(1.5), tf.int32)
tf.io.parse_tensor(b"\\xff", tf.int32)
tf.io.parse_tensor(b"", F)
tf.io.parse_tensor([tf.io.serialize_tensor(1.5)], F)
tf.io.parse_tensor(X("0803120812020802120208023a0105"), tf.int32)
tf.io.parse_tensor(X("080112002a040000c03f"), F)
tf.io.parse_tensor(X("0807120412020803420171"), S)
tf.io.parse_tensor(X("0807120412020803"), S)
tf.io.parse_tensor(X("0801120412020803"), F)
tf.io.parse_tensor(X("081212006210000000000000f03f0000000000000040"), tf.complex128)
tf.io.parse_tensor(X("080a12005a0101"), tf.bool)
tf.io.parse_tensor(X("081312006a028070"), tf.half)
tf.io.parse_tensor(X("081712008a010105"), tf.uint64)
tf.io.parse_tensor(X("0816120082010105"), tf.uint32)
tf.io.parse_tensor(X("080612003a0105"), tf.int8)
tf.io.parse_tensor(X("08091200520105"), I)
"""
GROUPS = [RAW, BASE64, CSV, EXAMPLES, SEQUENCES, TENSORS]
JSON = """{"features": {"feature": {"i": {"int64List": {"value": ["1", 2]}},
"b": {"bytesList": {"value": ["YWI="]}}}}}"""


def names(tf: Any) -> dict[str, Any]:
    """The names that calls are written in: records, and features of them."""
    train = tf.train

    def feature(value: Any) -> Any:
        lists = {
            int: ("int64_list", train.Int64List),
            float: ("float_list", train.FloatList),
            bytes: ("bytes_list", train.BytesList),
        }
        if not value:
            return train.Feature()
        name, kind = lists[type(value[0])]
        return train.Feature(**{name: kind(value=value)})

    def example(**values: Any) -> bytes:
        features = train.Features(feature={k: feature(v) for k, v in values.items()})
        message = train.Example(features=features)
        return bytes(message.SerializeToString(deterministic=True))

    lists = {"s": [[1, 2], [3, 4]], "v": [[b"a"], [b"b", b"c"], []], "m": []}
    sequence = train.SequenceExample(
        context=train.Features(feature={"c": feature([5])}),
        feature_lists=train.FeatureLists(
            feature_list={
                key: train.FeatureList(feature=map(feature, items))
                for key, items in lists.items()
            }
        ),
    )
    b = example(i=[3, 4], f=[2.5, 3.5])
    # A list of no values is not the same as no list.
    empty = train.Feature(bytes_list=train.BytesList())
    b += train.Example(
        features=train.Features(feature={"b": empty})
    ).SerializeToString()
    return {
        "tf": tf,
        "A": example(i=[1, -2], f=[1.5], b=[b"\xff"], e=[]),
        "B": b,
        "C": bytes(sequence.SerializeToString(deterministic=True)),
        "JSON": JSON,
        "X": bytes.fromhex,
        "FX": tf.io.FixedLenFeature,
        "V": tf.io.VarLenFeature,
        "Q": tf.io.FixedLenSequenceFeature,
        "I": tf.int64,
        "F": tf.float32,
        "S": tf.string,
    }


def calls() -> list[str]:
    """The calls, each one line of Python."""
    return [line for group in GROUPS for line in group.splitlines() if line]


def plain(value: Any) -> Any:
    """A result as plain data with its dtypes and shapes."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if type(value).__name__ == "SparseTensor":
        return plain(_dense(value))
    if hasattr(value, "numpy"):
        array = value.numpy()
        items = getattr(array, "tolist", lambda: array)()
        return [value.dtype.name, list(value.shape), repr(items)]
    return repr(value)


def outcome(tf: Any, call: str, staged: bool = False) -> Any:
    """What a call gives, in a graph if it is `staged`, or the name of its error."""

    def result() -> Any:
        return eval(call, names(tf))

    try:
        return plain(tf.function(result, autograph=False)() if staged else result())
    except Exception as error:
        return type(error).__name__


def _dense(value: Any) -> Any:
    import tensorflow as tf  # where this is a program

    if len(value.shape) == 1:
        return value.values
    rows = tf.math.bincount(
        tf.cast(value.indices[:, 0], tf.int32),
        minlength=tf.cast(value.dense_shape[0], tf.int32),
        dtype=tf.int64,
    )
    return tf.sparse.to_dense(value), rows


if __name__ == "__main__":
    import tensorflow

    found = {call: outcome(tensorflow, call) for call in calls()}
    EXPECTED.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    sys.exit()
