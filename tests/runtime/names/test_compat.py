"""Names of TensorFlow 1 do what those of TensorFlow 2 do."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import runtime as tf

ROOT = Path(tf.__file__).parents[1]
#: Prints how many functions are around a method of Keras.
DEPTH = """
depth = 0
while hasattr(save, '__wrapped__'):
    save, depth = save.__wrapped__, depth + 1
print(depth)
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of its own: what a name imports goes for the process."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PATH": "", "HOME": "/tmp", "PYTHONPATH": f"{folder}:{ROOT}"},
        check=False,
    )


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is here")
def test_import_tensorflow_means_this_library(tmp_path: Path) -> None:
    done = run(
        "import runtime.compat.install\n"
        "import tensorflow as tf, runtime\n"
        "import tensorflow.compat.v2 as v2\n"
        "import tensorflow.compat.v1 as v1\n"
        "from tensorflow.io import gfile\n"
        "from tensorflow.data import Dataset\n"
        "print(tf is runtime is v2, v1.to_float(1).numpy(), gfile is tf.io.gfile)\n"
        "print(Dataset is runtime.data.Dataset)\n"
        "import runtime.compat.install\n"
        "import tensorflow.python.ops\n",
        tmp_path,
    )

    assert done.stdout == "True 1.0 True\nTrue\n"
    assert "ModuleNotFoundError: No module named 'tensorflow.python'" in done.stderr


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is here")
@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_import_keras_means_keras_on_this_library(tmp_path: Path) -> None:
    done = run(
        "import runtime.compat.install\n"
        "import sys\n"
        "assert 'keras' not in sys.modules\n"
        "import keras\n"
        "from keras import layers\n"
        "import tensorflow as tf\n"
        "print(layers.Dense is tf.keras.layers.Dense)\n"
        "print(type(layers.Rescaling(2.0)(tf.ones([1, 1]))).__name__)\n",
        tmp_path,
    )

    assert done.stdout == "True\nEagerTensor\n", done.stderr


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is here")
@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
@pytest.mark.parametrize("first", ["import keras", "tf.keras"])
def test_keras_is_changed_once(tmp_path: Path, first: str) -> None:
    done = run(
        "import runtime.compat.install, runtime as tf, sys\n"
        f"{first}\n"
        "save = sys.modules['keras'].Model.save_weights\n"
        f"{DEPTH}"
        "import keras\n"
        "print(keras.Model is tf.keras.Model)\n",
        tmp_path,
    )
    plain = run(
        f"import runtime as tf\nsave = tf.keras.Model.save_weights\n{DEPTH}",
        tmp_path,
    )

    assert done.stdout == f"{plain.stdout}True\n", done.stderr


def test_import_tensorflow_is_left_to_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").touch()

    done = run("import runtime.compat.install", tmp_path)

    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: TensorFlow is installed here")


def test_programs_with_names_of_tensorflow_1() -> None:
    variable, seen = tf.Variable(0), []

    @tf.function
    def walk(numbers: Any) -> Any:
        for number in numbers:
            tf.compat.v1.assign(variable, number)
            tf.compat.v1.assign_add(variable, 3)
            tf.compat.v1.assign_sub(variable, 1)
            tf.compat.v1.py_func(lambda n: seen.append(int(n)), [number], [])
        return tf.compat.v1.to_float(variable)

    assert walk(tf.constant([5, 6])).numpy() == 8.0
    assert (int(variable), seen) == (8, [5, 6])


def test_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    logging, logger = tf.compat.v1.logging, tf.get_logger()
    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        logging.warning("quiet")
        logger.error("heard")
        assert logging.get_verbosity() == logger.level == 40
    finally:
        logger.setLevel(before)
    assert caplog.messages == ["heard"]


def test_dtypes_of_casts() -> None:
    v1 = tf.compat.v1
    casts = (v1.to_float, v1.to_double, v1.to_int32, v1.to_int64)
    expected = [tf.float32, tf.float64, tf.int32, tf.int64]
    assert [cast(1.5).dtype for cast in casts] == expected


def test_initial_weights() -> None:
    make = tf.compat.v1.glorot_uniform_initializer
    tf.random.set_seed(1)
    for shape, limit in (((10, 20), 0.2**0.5), ([6], 0.5**0.5), ((2, 2, 3, 3), 0.5)):
        weights = make()(shape)
        largest = float(tf.reduce_max(tf.abs(weights)))

        assert (weights.shape, weights.dtype) == (tuple(shape), tf.float32)
        assert limit * 0.5 < largest <= limit + 1e-6
    assert make(seed=3, dtype=tf.float64)(()).dtype is tf.float64
