"""Names of TensorFlow that this library has not, and what to use in their place."""

from __future__ import annotations

from runtime.graph_export.names import near

__all__ = ["ADVICE", "advice"]

_INITIALIZERS = "tf.keras.initializers has it, and tf.random and tf.zeros do it"
_SESSIONS = "there are no sessions; call functions, or tf.function for a graph"
_OTHER_FORMATS = (
    "graphs run here; tf.saved_model.save and Graph.as_graph_def() give them as data"
)

#: By name: what to do. A name that stands for nothing here says so.
ADVICE = {
    "Session": _SESSIONS,
    "InteractiveSession": _SESSIONS,
    "placeholder": "arguments of a tf.function are what placeholders were",
    "global_variables_initializer": "variables have their values when they are made",
    "RegisterGradient": "tf.custom_gradient gives a function its gradient",
    "no_gradient": "tf.stop_gradient ends gradients",
    "raw_ops": "the public functions are what there is",
    "image": "tf.keras.ops.image resizes, crops and pads pictures",
    "signal": "tf.keras.ops has fft, rfft and stft",
    "audio": "there is nothing for sound; read it with a library for that",
    "experimental": (
        "there are no extension types: a tuple, dict or dataclass of tensors is taken "
        "apart and packed again wherever a tensor may stand; for tf.experimental.numpy "
        "use NumPy, whose functions take eager tensors"
    ),
    "profiler": "concrete.profile(…) gives the time of each line of a traced function",
    "distribute": "one process computes on one machine",
    "tpu": "there are CPUs alone",
    "dtensor": "one process computes on one machine",
    "xla": "tf.function compiles graphs to NumPy source",
    "mlir": "print(graph) and concrete.to_source() show each stage",
    "lite": _OTHER_FORMATS,
    "losses": "see tf.keras.losses",
    "metrics": "see tf.keras.metrics",
    "optimizers": "see tf.keras.optimizers",
    "initializers": "see tf.keras.initializers",
    "layers": "see tf.keras.layers",
    "estimator": "tf.keras models have fit, evaluate and predict",
    "feature_column": "see the preprocessing layers of tf.keras.layers",
    "lookup": "a Python dict maps values eagerly, and in a graph keyed by tensors",
    "queue": "tf.data has pipelines with threads",
    "sets": "Python's sets work in graphs",
    "TypeSpec": "tf.TensorSpec, tf.data.DatasetSpec and structures of them are specs",
    "zeros_initializer": _INITIALIZERS,
    "ones_initializer": _INITIALIZERS,
    "constant_initializer": _INITIALIZERS,
    "random_normal_initializer": _INITIALIZERS,
    "random_uniform_initializer": _INITIALIZERS,
    "variable_creator_scope": "make variables by a function of yours",
    "guarantee_const": "what a function captures is constant already",
    "get_logger": "Python's warnings and logging are used",
    "load_library": "ops are written in Python; tf.py_function calls any code",
    "load_op_library": "ops are written in Python; tf.py_function calls any code",
    "realdiv": "see tf.math.truediv",
    "dynamic_partition": "tf.boolean_mask(x, partitions == i) gives each part",
    "dynamic_stitch": "tf.scatter_nd and tf.tensor_scatter_nd_update do it",
    "reverse_sequence": "tf.gather with indices of your own does it",
    "unravel_index": "np.unravel_index does it eagerly, // and % in a graph",
    "bitcast": "x.numpy().view(dtype) does it eagerly",
    "eig": "there is tf.linalg.eigh; np.linalg.eig takes eager tensors",
    "eigvals": "there is tf.linalg.eigvalsh; np.linalg.eigvals takes eager tensors",
}


def advice(name: str, names: list[str]) -> str:
    """The message for a name that is asked for and not there; `names` are."""
    if name in ADVICE:
        return f"tf.{name} does not exist here: {ADVICE[name]}"
    return f"module 'runtime' has no attribute {name!r}{near(name, names)}"
