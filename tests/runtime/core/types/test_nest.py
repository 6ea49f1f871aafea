"""Structures: every kind taken apart and put together again."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import runtime as tf
from runtime.core.types import nest

Point = namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Pair:
    left: Any
    right: Any


class Attrs:
    """What the attrs package makes: fields described in __attrs_attrs__."""

    __attrs_attrs__ = (namedtuple("Attribute", "name")("a"),) + (
        namedtuple("Attribute", "name")("_b"),
    )

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self._b = a, b

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attrs) and vars(self) == vars(other)


class MyList(list):  # type: ignore[type-arg]
    pass


STRUCTURES = [
    (5, [5]),
    (None, [None]),
    ("text", ["text"]),
    ([], []),
    ([1, [2, (3,)]], [1, 2, 3]),
    ({"b": 1, "a": 2}, [2, 1]),
    (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (defaultdict(list, {"k": 1}), [1]),
    (Point(1, [2]), [1, 2]),
    (Pair(1, {"z": 2}), [1, 2]),
    (Attrs(1, 2), [1, 2]),
    (MyList([1, 2]), [1, 2]),
]


@pytest.mark.parametrize(
    ("structure", "leaves"),
    STRUCTURES,
    ids=lambda value: repr(value).partition(" at 0x")[0],
)
def test_flatten_and_pack(structure: Any, leaves: list[Any]) -> None:
    assert nest.flatten(structure) == leaves

    packed = nest.pack_sequence_as(structure, leaves)

    assert packed == structure
    assert type(packed) is type(structure)
    if isinstance(structure, dict):
        assert list(packed) == list(structure)


def test_paths_are_python() -> None:
    structure = {"w": [1, Point(2, Pair(3, 4))]}
    found = nest.flatten_with_paths(structure)

    assert [path for path, _ in found] == [
        "['w'][0]",
        "['w'][1].x",
        "['w'][1].y.left",
        "['w'][1].y.right",
    ]
    for path, leaf in found:
        assert eval(f"s{path}", {"s": structure}) == leaf


def test_is_nested() -> None:
    assert all(map(nest.is_nested, ([], (), {}, Point(1, 2), Pair(1, 2))))
    assert not any(map(nest.is_nested, (1, "a", None, {1}, range(3), Pair)))


def test_map_structure() -> None:
    mapped = nest.map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]})

    assert mapped == {"x": [11, 22]}
    assert nest.map_structure(str, Pair(1, 2)) == Pair("1", "2")
    with pytest.raises(ValueError, match="at least one"):
        nest.map_structure(str)


def test_differences_are_named() -> None:
    nest.assert_same_structure({"a": [1]}, {"a": ["x"]})
    nest.assert_same_structure([1, 2], (1, 2), check_types=False)
    with pytest.raises(ValueError, match=r"differ at \['a'\]: .* only one is nested"):
        nest.assert_same_structure({"a": [1]}, {"a": 1})
    with pytest.raises(ValueError, match="differ: "):
        nest.assert_same_structure([1], [1, 2])
    with pytest.raises(TypeError, match=r"types at \[0\]: list against tuple"):
        nest.assert_same_structure([[1]], [(1,)])
    with pytest.raises(ValueError, match="has 2 leaves, but 1 values"):
        nest.pack_sequence_as([1, 2], [1])
    with pytest.raises(TypeError, match="must be sortable"):
        nest.flatten({1j: 1, 2j: 2})


def test_keys_of_several_classes_are_sorted_class_by_class() -> None:
    assert nest.flatten({"b": 4, 2: 2, "a": 3, 1: 1}) == [1, 2, 3, 4]


def test_arguments_that_are_wrong() -> None:
    with pytest.raises(TypeError, match="func must be callable, not 3"):
        nest.map_structure(3, [1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="flat_sequence must be a sequence, not 5"):
        nest.pack_sequence_as([1], 5)  # type: ignore[arg-type]


def test_types_that_stand_for_each_other() -> None:
    nest.assert_same_structure(Point(1, [2]), (1, (2,)), check_types=False)
    nest.assert_same_structure({"a": 1}, OrderedDict(a=2))
    assert nest.map_structure(max, [1, 2], (3, 1), check_types=False) == [3, 2]
    with pytest.raises(ValueError, match="differ"):
        nest.assert_same_structure([1], {"a": 1}, check_types=False)


def test_tensors_are_shown_by_dtype_and_shape() -> None:
    x = tf.constant([1, 2])

    assert repr(nest.outline({"x": [x, 3]})) == "{'x': [int32[2], 3]}"
    with pytest.raises(ValueError, match=r"differ at \[0\]: int32\[2\] against \[3\]"):
        nest.assert_same_structure([x], [[3]])


# --- objects that take themselves apart -----------------------------------------------


@dataclasses.dataclass
class Masked:
    masked: bool
    value: Any

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return (self.masked,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Masked:
        return cls(*metadata, *components)


def test_components_and_metadata() -> None:
    masked = Masked(True, [1, 2])

    assert nest.flatten_with_paths([masked]) == [
        ("[0].value[0]", 1),
        ("[0].value[1]", 2),
    ]
    assert nest.map_structure(str, masked) == Masked(True, ["1", "2"])
    nest.assert_same_structure(Masked(True, 1), Masked(True, 2))
    with pytest.raises(ValueError, match="differ"):
        nest.assert_same_structure(Masked(True, 1), Masked(False, 1))


def test_metadata_are_part_of_the_type_in_traces() -> None:
    @tf.function
    def doubled(x: Masked) -> Masked:
        return Masked(x.masked, x.value * 2)

    for masked in (True, False):
        found = doubled(Masked(masked, tf.constant(4)))
        assert (found.masked, int(found.value)) == (masked, 8)
    assert doubled.experimental_get_tracing_count() == 2

    with pytest.raises(TypeError, match=r"\(\[1\],\), must be hashable"):
        doubled(Masked([1], tf.constant(4)))  # type: ignore[arg-type]

    @tf.function
    def chosen(c: bool, x: int) -> Masked:
        return tf.cond(c, lambda: Masked(True, x), lambda: Masked(False, x))

    with pytest.raises(ValueError, match="return different structures"):
        chosen(tf.constant(True), tf.constant(1))


structures = st.recursive(
    st.integers() | st.none() | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Point, inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(structures)
def test_round_trip(structure: Any) -> None:
    leaves = nest.flatten(structure)

    assert nest.pack_sequence_as(structure, leaves) == structure
    assert [leaf for _, leaf in nest.flatten_with_paths(structure)] == leaves
    nest.assert_same_structure(structure, structure)


@dataclasses.dataclass
class Scaled:
    """A class whose constructor computes its fields."""

    x: Any
    factor: dataclasses.InitVar[int] = 1
    count: int = dataclasses.field(init=False, default=2)

    def __post_init__(self, factor: int) -> None:
        self.x = self.x * factor


def test_an_object_is_made_anew_by_no_constructor() -> None:
    scaled = Scaled(tf.constant(3), 5)
    scaled.count = 7

    @tf.function
    def f(scaled: Scaled) -> Any:
        return scaled.x * scaled.count

    assert int(f(scaled)) == 105
    assert nest.rebuild(scaled, [4]).count == 7


def test_a_counter_keeps_its_counts() -> None:
    counts = nest.map_structure(lambda count: count + 1, Counter("aab"))

    assert counts == Counter({"a": 3, "b": 2})
