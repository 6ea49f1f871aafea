"""How values are taken apart, compared and packed again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

import runtime as tf
from runtime.staging.tracing.form import Form, flatten_results

Pair = namedtuple("Pair", "one other")


@dataclass
class Box:
    held: Any


@pytest.mark.parametrize(
    "value",
    [
        1,
        None,
        (),
        [],
        [1, (2, [3])],
        {"b": 1, "a": [2]},
        OrderedDict(b=1, a=2),
        Pair(1, [2]),
        Box({"x": (1,)}),
    ],
)
def test_packed_as_it_was(value):
    form, leaves = Form.of(value)

    assert form.size == len(leaves) == len(form.paths)
    assert form.pack(leaves) == value
    assert form.is_like(Form.of(value)[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, [1]),
        ([1], (1,)),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, OrderedDict(a=1)),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (defaultdict(int, a=1), defaultdict(list, a=1)),
        (Pair(1, 2), (1, 2)),
        (Box(1), Box([1])),
    ],
)
def test_what_is_not_alike(one, other):
    assert not Form.of(one)[0].is_like(Form.of(other)[0])
    assert not Form.of(other)[0].is_like(Form.of(one)[0])


def test_places():
    form, _ = Form.of({"b": Pair(1, [2]), "a": Box(3)})

    assert form.paths == ("['a'].held", "['b'].one", "['b'].other[0]")


def test_results_keep_none():
    tensors, results = flatten_results({"x": 1, "y": (None, [2.0])}, "f")

    assert [t.numpy() for t in tensors] == [1, 2.0]
    assert results.paths == ["['x']", "['y'][1][0]"]
    assert results.pack(["one", "two"]) == {"x": "one", "y": (None, ["two"])}
    assert not results.is_tensor
    assert flatten_results(tf.constant(1), "f")[1].is_tensor


def test_a_result_that_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"'f' returned .* at result\['a'\]\[1\]"):
        flatten_results({"a": [1, object()]}, "f")
