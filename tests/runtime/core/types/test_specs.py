"""TensorSpec: equality, hashing, printing, compatibility."""

from __future__ import annotations

import pickle

import pytest

import runtime as tf
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import constant


def test_prints_as_in_the_guides() -> None:
    spec = TensorSpec(shape=[], dtype="string", name="a")

    assert repr(spec) == "TensorSpec(shape=(), dtype=tf.string, name='a')"
    assert repr(TensorSpec(None)) == (
        "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    )
    assert repr(TensorSpec([1], weak=True)).endswith("name=None, weak=True)")


def test_short_text() -> None:
    assert TensorSpec([2, None], "int32").describe() == "int32[2,?]"
    assert TensorSpec(None, "bool").describe() == "bool[...]"
    assert TensorSpec([], "int32", weak=True).describe() == "int32[]*"


def test_equality_and_hash() -> None:
    spec = TensorSpec([2], "int32", "x")
    others = [
        TensorSpec([3], "int32", "x"),
        TensorSpec([2], "int64", "x"),
        TensorSpec([2], "int32", "y"),
        TensorSpec([2], "int32", "x", weak=True),
    ]

    assert spec == TensorSpec((2,), int, "x")
    assert hash(spec) == hash(TensorSpec((2,), int, "x"))
    assert spec not in others
    assert spec != "spec"
    assert len({spec, *others}) == 5
    assert pickle.loads(pickle.dumps(others)) == others


def test_made_from_others() -> None:
    tensor = constant([1, 2])
    spec = TensorSpec.from_tensor(tensor, "t")

    assert spec == TensorSpec([2], "int32", "t")
    assert TensorSpec.from_spec(spec) == spec
    assert TensorSpec.from_spec(spec, "u").name == "u"
    assert spec.with_weak(False) is spec
    assert spec.with_weak(True).weak
    assert spec.rank == 1


def test_compatibility() -> None:
    spec = TensorSpec([None], "int32")

    assert spec.is_compatible_with(constant([1, 2]))
    assert not spec.is_compatible_with(constant([1.0]))
    assert not spec.is_compatible_with(constant(1))
    assert TensorSpec([2], "int32").is_subtype_of(spec)
    assert not spec.is_subtype_of(TensorSpec([2], "int32"))
    assert not TensorSpec([2], "int32", weak=True).is_subtype_of(spec)
    assert not spec.is_compatible_with(3)


def test_what_several_specs_have_in_common() -> None:
    one, other = TensorSpec([2, 3], "int32", "x"), TensorSpec([4, 3], "int32", "y")
    common = TensorSpec([None, 3], "int32")

    assert one.most_specific_common_supertype([other, one]) == common
    assert one.most_specific_common_supertype([]) is one
    assert one.most_specific_common_supertype([TensorSpec([2, 3])]) is None
    assert one.most_specific_compatible_type(other) == common
    with pytest.raises(ValueError, match="no spec takes the tensors"):
        one.most_specific_compatible_type(TensorSpec([2, 3]))


def test_of_values() -> None:
    assert tf.type_spec_from_value(3) == TensorSpec([], "int32")
    assert tf.type_spec_from_value(tf.Variable([1.0])) == TensorSpec([1])
    assert tf.type_spec_from_value(TensorSpec([2])) == TensorSpec([2])
    with pytest.raises(TypeError, match="has no spec: it cannot become a tensor"):
        tf.type_spec_from_value({"a": 1})


def test_specs_tell_what_they_are_of() -> None:
    assert isinstance(tf.constant(1), tf.TensorSpec([]).value_type)
