"""Names of TensorFlow that are not here: the error says what to use."""

from __future__ import annotations

import importlib.util
import re
from functools import reduce
from typing import Any

import pytest

import runtime as tf
from runtime.core.missing.advice import TABLE

PAIRS = [(space, names) for space, table in TABLE.items() for names in table]
#: What the guides use, but for what TensorFlow itself has no more, and Keras.
OF_THE_GUIDES = """
GradientTape Graph Module Operation Tensor TensorArray TensorSpec Variable
Variable.assign VariableAggregation.ONLY_FIRST_REPLICA abs add autograph
autograph.to_code cast clip_by_norm compat.v1.assign compat.v1.py_func
compat.v1.to_float compat.v1.glorot_uniform_initializer cond
config.experimental.list_physical_devices config.run_functions_eagerly constant
convert_to_tensor custom_gradient data.Dataset data.Dataset.from_generator
data.Dataset.from_tensor_slices data.Dataset.from_tensors data.Iterator
debugging.assert_equal debugging.enable_check_numerics device dtypes.int32
errors.InvalidArgumentError executing_eagerly exp eye float32 function gather greater
greater_equal identity init_scope int32 int64 math.log matmul maximum multiply nest
newaxis nn.dropout nn.elu ones pow print py_function random.normal random.uniform range
reduce_mean reduce_sum square string summary summary.create_file_writer summary.scalar
tanh train.Checkpoint train.Checkpoint.restore train.latest_checkpoint transpose where
while_loop zeros
""".split()


def namespace(space: str) -> Any:
    return reduce(getattr, space.split(".")[1:], tf)


@pytest.mark.parametrize("name", OF_THE_GUIDES)
def test_what_the_guides_use_is_there(name: str) -> None:
    assert namespace(f"tf.{name}") is not None or name == "newaxis"


@pytest.mark.parametrize(
    ("space", "name", "text"),
    [
        (tf, "Session", r"^tf\.Session does not exist here: there are no sessions"),
        (tf.signal, "fftnd", r"^tf\.signal\.fftnd .*: tf\.signal has the transforms"),
        (tf.image, "ssim_multiscale", r"^tf\.image\.ssim_multiscale .*: tf\.image\.s"),
        (tf, "upper", r"^tf\.upper does .*: tf\.strings\.upper does$"),
        (tf.nn, "matmul", r"^tf\.nn\.matmul does not exist here: tf\.matmul does$"),
        (tf.compat.v1, "cos", r": tf\.cos does$"),
        (tf.compat.v1, "random_gamma", r": tf\.random\.gamma does$"),
        (tf.compat.v1, "sparse_add", ": there are no sparse tensors"),
        (tf.compat.v1, "wrap_function", r": tf\.function traces a function once"),
        (tf.compat.v1, "decode_raw", ": tf.io has it$"),
        (tf, "reduce_sums", "^module 'runtime' has no .*; did you mean 'reduce_sum'"),
        (tf.math, "reduce_sums", "has no attribute .*; did you mean 'reduce_sum'"),
        (tf.io, "_private", "has no attribute '_private'$"),
    ],
)
def test_a_name_that_is_not_here(space: Any, name: str, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        getattr(space, name)
    assert not hasattr(space, name)


@pytest.mark.parametrize(("space", "names"), PAIRS)
def test_the_names_are_missing_and_what_is_advised_is_there(
    space: str, names: str
) -> None:
    text = TABLE[space][names]
    for name in names.split():
        with pytest.raises(AttributeError) as raised:
            getattr(namespace(space), name)
        assert str(raised.value) == f"{space}.{name} does not exist here: {text}"
    for path in re.findall(r"\btf((?:\.\w+)+)", text):
        if path.startswith(".keras") and not importlib.util.find_spec("keras"):
            pytest.skip("Keras is not installed")
        if path != ".experimental.numpy":
            namespace(f"tf{path}")
    for name in re.findall(r"\bDataset\.(\w+)", text):
        assert hasattr(tf.data.Dataset, name)
