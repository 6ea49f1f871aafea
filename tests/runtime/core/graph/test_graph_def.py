"""GraphDef as data: what it holds, and how it prints."""

from __future__ import annotations

import numpy as np
import pytest

from runtime.core.graph.graph_def import (
    ArgDef,
    AttrValue,
    FunctionDef,
    GraphDef,
    NodeDef,
    OpDefSignature,
    TensorValue,
)
from runtime.core.types import dtypes
from runtime.core.types.shapes import TensorShape


def test_a_node_as_text() -> None:
    node = NodeDef(
        "f/sum", "AddV2", ["x", "y:1", "^z"], {"b": AttrValue("b", True),
                                               "a": AttrValue("i", 3)}, "/cpu:0"
    )  # fmt: skip

    assert str(GraphDef([node])) == (
        'node {\n  name: "f/sum"\n  op: "AddV2"\n  input: "x"\n  input: "y:1"\n'
        '  input: "^z"\n  device: "/cpu:0"\n'
        '  attr {\n    key: "a"\n    value {\n      i: 3\n    }\n  }\n'
        '  attr {\n    key: "b"\n    value {\n      b: true\n    }\n  }\n}'
    )


def test_an_empty_graph() -> None:
    assert str(GraphDef()) == ""


@pytest.mark.parametrize(
    ("attr", "text"),
    [
        (AttrValue("s", 'a "b"\n\\ é'), r's: "a \"b\"\n\\ \303\251"'),
        (AttrValue("s", b"\x00'"), r's: "\000\'"'),
        (AttrValue("f", 0.5), "f: 0.5"),
        (AttrValue("type", dtypes.string), "type: DT_STRING"),
        (AttrValue("type", dtypes.float16), "type: DT_HALF"),
        (AttrValue("shape", TensorShape(None)), "shape {\n  unknown_rank: true\n}"),
        (AttrValue("shape", TensorShape([])), "shape {\n}"),
        (
            AttrValue("shape", TensorShape([None])),
            "shape {\n  dim {\n    size: -1\n  }\n}",
        ),
        (AttrValue("func", "body"), 'func {\n  name: "body"\n}'),
        (AttrValue("list", []), "list {\n}"),
        (
            AttrValue("list", [AttrValue("i", 1), AttrValue("i", 2)]),
            "list {\n  i: 1\n  i: 2\n}",
        ),
    ],
)
def test_attributes(attr: AttrValue, text: str) -> None:
    assert str(attr) == text


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (np.array([1, 2], "int32"), ["int_val: 1", "int_val: 2"]),
        (np.array([7, 7, 7], "uint8"), ["int_val: 7"]),
        (np.array([0.0, -0.0]), ["double_val: 0.0", "double_val: -0.0"]),
        (np.array([np.nan, np.nan], "float32"), ["float_val: nan"]),
        (np.array(1 - 2j), ["dcomplex_val: 1.0", "dcomplex_val: -2.0"]),
        (np.array(1.5, "float16"), ["half_val: 15872  # 1.5"]),
        (np.array([b"a", b"a"], object), ['string_val: "a"']),
        (np.array([True, False]), ["bool_val: true", "bool_val: false"]),
        (np.array([], "int64"), []),
        (np.arange(10), [*(f"int64_val: {i}" for i in range(8)), "# and 2 more"]),
    ],
)
def test_elements(array: np.ndarray, values: list[str]) -> None:
    lines = str(TensorValue(array)).splitlines()
    end = (
        lines.index("}") if array.ndim == 0 else len(lines) - lines[::-1].index("}") - 1
    )

    assert lines[end + 1 :] == values


def test_a_function_as_text() -> None:
    signature = OpDefSignature(
        "f", [ArgDef("x", dtypes.int32)], [ArgDef("y", dtypes.bool)], is_stateful=True
    )
    function = FunctionDef(signature, [NodeDef("p", "Print")], {"y": "x"}, {"p": "p"})
    graph = GraphDef()
    graph.library.function.append(function)

    assert str(function) == (
        'signature {\n  name: "f"\n  input_arg {\n    name: "x"\n    type: DT_INT32\n'
        '  }\n  output_arg {\n    name: "y"\n    type: DT_BOOL\n  }\n'
        "  is_stateful: true\n}\n"
        'node_def {\n  name: "p"\n  op: "Print"\n}\n'
        'ret {\n  key: "y"\n  value: "x"\n}\n'
        'control_ret {\n  key: "p"\n  value: "p"\n}'
    )
    assert str(graph).startswith("library {\n  function {\n    signature {\n")


def test_equality() -> None:
    one, other = TensorValue(np.array([1])), TensorValue(np.array([1]))

    assert one == other
    assert one != TensorValue(np.array([2]))
    assert one != TensorValue(np.array([1], "int32"))
    assert AttrValue("tensor", one) == AttrValue("tensor", other)
    assert AttrValue("i", 1) != AttrValue("f", 1)
    assert repr(AttrValue("i", 1)) == "AttrValue('i', 1)"
