"""The public names: nothing that an op family offers gets lost on the way to ``tf``."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import runtime as tf
from runtime.core.types.dtypes import DType

#: What families share among themselves takes names of nodes, too.
INTERNAL = {"as_tensor", "assert_relation", "cast_number", "make_constant", "promote"}
INTERNAL |= {"affine", "draw_uniform", "promote_all", "reduce", "tensor_range"}
INTERNAL |= {"true_divide"}
NAMES = Path(tf.math.__file__).parent
#: The modules of ops that namespaces take names from.
FAMILIES = sorted(
    set(
        re.findall(
            r"from runtime\.ops\.([\w.]+)",
            "".join(map(Path.read_text, [Path(tf.__file__), *NAMES.rglob("*.py")])),
        )
    )
)
SPACES = [tf, *(s for n in tf.__all__ if inspect.ismodule(s := getattr(tf, n)))]


def takes_name(function: Any) -> bool:
    parameter = inspect.signature(function).parameters.get("name")
    return parameter is not None and parameter.default is not parameter.empty


@pytest.mark.parametrize("family", FAMILIES)
def test_every_function_of_a_family_is_public(family: str) -> None:
    """Public functions may take the `name` of their node."""
    module = importlib.import_module(f"runtime.ops.{family}")
    functions = {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_" and inspect.isfunction(value)
        if value.__module__ == module.__name__
        if family == "checks.debugging" or takes_name(value)
    }

    lost = [
        name
        for name, function in functions.items()
        if not any(getattr(space, name, None) is function for space in SPACES)
    ]

    assert set(lost) <= INTERNAL


@pytest.mark.parametrize("space", [tf, tf.math, tf.bitwise, tf.config, tf.nest])
def test_all_is_true(space: Any) -> None:
    assert len(space.__all__) == len(set(space.__all__))
    assert all(hasattr(space, name) for name in space.__all__)


@pytest.mark.parametrize("path", sorted(NAMES.glob("*.py")), ids=lambda path: path.stem)
def test_type_checkers_find_the_names_of_a_namespace(path: Path) -> None:
    """In the libraries of others they only see ``import a as a`` and definitions."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {name.asname for name in node.names if name.asname == name.name}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if hasattr(target, "id")}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
    if path.stem == "__init__" or "__all__" in found:
        return

    module = getattr(tf, path.stem)

    assert {name for name in found if name[0] != "_"} == set(module.__all__)


@pytest.mark.parametrize("space", [tf, tf.math, tf.bitwise])
def test_everything_is_documented(space: Any) -> None:
    undocumented = [
        name
        for name in space.__all__
        if not isinstance(getattr(space, name), DType)
        and getattr(space, name) is not None
        and not inspect.getdoc(getattr(space, name))
    ]

    assert undocumented == []


@pytest.mark.parametrize("space", [tf, tf.math, tf.bitwise])
def test_functions_have_the_names_they_are_found_under(space: Any) -> None:
    odd = {
        name
        for name in space.__all__
        if inspect.isfunction(getattr(space, name))
        and getattr(space, name).__name__ != name
    }

    # Two names for one function each.
    assert odd <= {"mod", "parallel_stack"}


def test_one_function_under_both_names() -> None:
    both = set(tf.__all__) & set(tf.math.__all__)

    assert {"abs", "add", "reduce_sum", "tanh"} <= both
    assert [n for n in sorted(both) if getattr(tf, n) is not getattr(tf.math, n)] == []


def test_import_is_quick_and_light() -> None:
    """Neither the compiler nor anything heavy is loaded with the runtime."""
    code = "import runtime, sys; print(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())

    assert (
        loaded & {"gast", "astor", "scipy", "hypothesis", "pytest", "unittest"} == set()
    )


@pytest.mark.parametrize(
    "space",
    [
        *tf._SPACES,
        *("data", "distribute", "experimental", "image", "io", "lookup", "signal"),
        "test",
    ],
)
def test_a_namespace_can_be_imported_by_its_name(space: str) -> None:
    module = importlib.import_module(f"runtime.{space}")

    found = tf
    for name in space.split("."):
        found = getattr(found, name)
    assert module is found


@pytest.mark.parametrize(
    "name", ["types.dtypes", "train.checkpoint", "distribute.mesh", "saved_model.save"]
)
def test_no_module_is_imported_twice_under_the_name_of_a_namespace(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"runtime.{name}")


def test_constants_of_saved_models() -> None:
    """As TensorFlow 2.21 has them."""
    model = tf.saved_model
    assert (model.SERVING, model.TRAINING, model.GPU) == ("serve", "train", "gpu")
    assert model.SAVED_MODEL_FILENAME_PB == "saved_model.pb"
    assert model.DEFAULT_SERVING_SIGNATURE_DEF_KEY == "serving_default"
    assert model.PREDICT_METHOD_NAME == "tensorflow/serving/predict"
    assert model.VARIABLES_FILENAME == model.VARIABLES_DIRECTORY == "variables"


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda: tf.math.accumulate_n([]), ValueError),
        (lambda: tf.math.accumulate_n([1, 2.0]), ValueError),
        (lambda: tf.math.accumulate_n([[1], [2]], shape=[2]), ValueError),
        (lambda: tf.math.accumulate_n([1], tensor_dtype=tf.float32), TypeError),
        (
            lambda: tf.nn.max_pool_with_argmax(
                tf.zeros([1, 2, 2, 1]), 2, 2, "VALID", data_format="NCHW"
            ),
            ValueError,
        ),
    ],
)
def test_what_tensorflow_refuses(use: Any, error: type[Exception]) -> None:
    for run in (use, tf.function(use)):
        with pytest.raises(error):
            run()
