"""tf.keras is the real Keras, imported when it is first touched."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[3]


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own: a process has one Keras."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": "", "HOME": "/tmp", **environment},
        check=False,
    )


def test_keras_is_imported_when_it_is_touched() -> None:
    done = run(
        "import os, sys, runtime as tf\n"
        "assert 'keras' not in sys.modules\n"
        "layer = tf.keras.layers.Dense(2)\n"
        "print('keras' in sys.modules, os.environ.get('KERAS_BACKEND'))\n"
        "import keras\n"
        "print(isinstance(layer, keras.layers.Dense))\n"
        "print(type(layer(tf.ones([1, 3]))).__name__)"
    )

    assert done.stdout == "True None\nTrue\nEagerTensor\n", done.stderr


def test_imports_as_programs_write_them() -> None:
    done = run(
        "from runtime.keras import layers\n"
        "import runtime.keras.layers as named\n"
        "from runtime.keras.models import Sequential\n"
        "import keras, runtime as tf\n"
        "print(layers is named is tf.keras.layers, Sequential is keras.Sequential)\n"
        "print(layers.Dense is keras.layers.Dense)\n"
        "from runtime.losses import MSE\n"
        "print(MSE is tf.keras.losses.mse is tf.keras.losses.MSE)\n"
        "print(tf.optimizers.Adam is keras.optimizers.Adam)\n"
        "print(tf.keras.losses.Reduction)\n"
        "print(tf.zeros_initializer()([2]).numpy(), tf.ones_initializer)\n"
        "print(tf.keras.backend.mean(tf.constant([1.0, 3.0])).numpy())\n"
        "print(tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3]]).tolist())"
    )

    assert done.stdout == (
        "True True\nTrue\nTrue\n"
        "True\n<class 'keras.src.legacy.losses.Reduction'>\n"
        "[0. 0.] <class 'keras.src.initializers.constant_initializers.Ones'>\n"
        "2.0\n[[0, 1], [2, 3]]\n"
    ), done.stderr


@pytest.mark.parametrize("name", ["keras.no_such", "keras.layers.Dense", "no_such"])
def test_what_is_no_module_is_not_imported(name: str) -> None:
    done = run(f"import runtime.{name}")

    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ModuleNotFoundError: No module named 'runtime.{name}'")


def test_the_variable_of_the_environment_is_as_before() -> None:
    code = "import os, runtime as tf; tf.keras; print(os.environ.get('KERAS_BACKEND'))"

    assert run(code, KERAS_BACKEND="jax").stdout == "jax\n"


def test_messages_of_keras_name_this_backend() -> None:
    done = run(
        "import runtime as tf\n"
        "name = tf.keras.backend.backend()\n"
        "print(name == 'numpy', name, repr(name), f'{name:>8}')\n"
        "try:\n"
        "    tf.keras.Input([2], sparse=True)\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )

    first, message = done.stdout.splitlines()
    assert first == "True runtime 'runtime'  runtime", done.stderr
    assert "not supported with the runtime backend" in message


def test_another_backend_that_was_imported_before_is_named() -> None:
    done = run("import keras, runtime as tf\ntf.keras.layers", KERAS_BACKEND="numpy")

    assert "ImportError: keras was imported before tf.keras" in done.stderr


def test_a_missing_keras_is_named() -> None:
    done = run(
        "import importlib.util as u, runtime as tf\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name: None if name == 'keras' else find(name)\n"
        "tf.keras"
    )

    assert "pip install 'autograph-compiler[keras]'" in done.stderr


def test_other_names_are_absent() -> None:
    import runtime as tf

    with pytest.raises(AttributeError, match="no attribute 'kerras'"):
        tf.kerras
