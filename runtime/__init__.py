"""Tensors over NumPy with the names of TensorFlow 2: ``import runtime as tf``.

>>> import runtime as tf
>>> x = tf.constant([[1.0, 2.0]])
>>> tf.matmul(x, x, transpose_b=True) + 1
<tf.Tensor: shape=(1, 1), dtype=float32, numpy=array([[6.]], dtype=float32)>
"""

from __future__ import annotations

import importlib as _importlib
import logging as _logging
import sys as _sys
from functools import partial as _partial
from operator import attrgetter as _attrgetter
from typing import TYPE_CHECKING, Any

import runtime.ops.elementwise.operators as _operators  # noqa: F401  (binds them)
from runtime import autodiff
from runtime.autodiff.custom import custom_gradient, grad_pass_through, recompute_grad
from runtime.autodiff.functions import gradients, hessians
from runtime.autodiff.tape import GradientTape, UnconnectedGradients
from runtime.core import config, errors, version
from runtime.core.finder import Finder as _Finder
from runtime.core.graph import Graph
from runtime.core.graph import Node as Operation
from runtime.core.graph.context import (
    control_dependencies,
    executing_eagerly,
    get_current_name_scope,
    init_scope,
    inside_function,
    name_scope,
)
from runtime.core.hooks import hooks as _hooks
from runtime.core.missing import advise as _advise
from runtime.core.missing import missing as _missing
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.devices import DeviceSpec, device
from runtime.core.types.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from runtime.core.types.shapes import TensorShape, broadcast_static_shape
from runtime.core.types.specs import TensorSpec
from runtime.function.function import function
from runtime.names import (
    autograph,
    bitwise,
    compat,
    debugging,
    linalg,
    math,
    nn,
    random,
    saved_model,
    strings,
    summary,
    train,
    types,
)
from runtime.names.absent import (
    RaggedTensor,
    RaggedTensorSpec,
    SparseTensor,
    SparseTensorSpec,
)
from runtime.ops.arrays.creation import eye, fill, ones, ones_like, zeros, zeros_like
from runtime.ops.arrays.gather import boolean_mask, gather, gather_nd, where
from runtime.ops.arrays.indexing import newaxis, slice, strided_slice
from runtime.ops.arrays.joining import (
    concat,
    meshgrid,
    parallel_stack,
    split,
    stack,
    unstack,
)
from runtime.ops.arrays.rearrange import broadcast_to, pad, repeat, reverse, roll, tile
from runtime.ops.arrays.regrouping import (
    batch_to_space,
    dynamic_partition,
    dynamic_stitch,
    identity_n,
    required_space_to_batch_paddings,
    reverse_sequence,
    space_to_batch,
    unravel_index,
)
from runtime.ops.arrays.scatter import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from runtime.ops.arrays.sequences import linspace, one_hot, range, sequence_mask
from runtime.ops.arrays.shape import (
    ensure_shape,
    expand_dims,
    identity,
    rank,
    reshape,
    shape,
    shape_n,
    size,
    squeeze,
    stop_gradient,
    transpose,
)
from runtime.ops.arrays.sorting import (
    argsort,
    searchsorted,
    sort,
    unique,
    unique_with_counts,
)
from runtime.ops.checks.assertions import Assert
from runtime.ops.checks.debugging import (
    assert_equal,
    assert_greater,
    assert_less,
    assert_rank,
)
from runtime.ops.containers.tensor_array import TensorArray
from runtime.ops.convert import (
    cast,
    constant,
    convert_to_tensor,
    get_static_value,
    is_symbolic_tensor,
    is_tensor,
    register_tensor_conversion_function,
    type_spec_from_value,
)
from runtime.ops.elementwise.arithmetic import (
    add,
    clip_by_value,
    divide,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    minimum,
    multiply,
    not_equal,
    pow,
    saturate_cast,
    scalar_mul,
    subtract,
    truediv,
    truncatediv,
    truncatemod,
)
from runtime.ops.elementwise.complex_numbers import complex
from runtime.ops.elementwise.functions import (
    abs,
    acos,
    acosh,
    add_n,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    exp,
    floor,
    negative,
    round,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)
from runtime.ops.elementwise.logical import (
    bitcast,
    logical_and,
    logical_not,
    logical_or,
)
from runtime.ops.linalg.einsum import einsum, tensordot
from runtime.ops.linalg.matrices import norm
from runtime.ops.linalg.matrix_functions import eig, eigvals
from runtime.ops.linalg.products import matmul
from runtime.ops.reduce.histograms import (
    histogram_fixed_width,
    histogram_fixed_width_bins,
)
from runtime.ops.reduce.places import argmax, argmin
from runtime.ops.reduce.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from runtime.ops.reduce.scans import cumsum
from runtime.ops.reduce.statistics import (
    clip_by_global_norm,
    clip_by_norm,
    reduce_logsumexp,
)
from runtime.ops.staged.groups import group, no_op, tuple
from runtime.ops.staged.printing import print
from runtime.ops.staged.python_calls import numpy_function, py_function
from runtime.ops.text.strings import as_string
from runtime.ops.variables import (
    IndexedSlices,
    Module,
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from runtime.staging import compiler
from runtime.staging.control_flow.conditionals import case, cond, switch_case
from runtime.staging.control_flow.mapping import (
    foldl,
    foldr,
    map_fn,
    scan,
    vectorized_map,
)
from runtime.staging.control_flow.while_loops import while_loop

__version__ = version.VERSION
#: The logger ``tensorflow`` of Python, for programs that make it quiet.
get_logger = _partial(_logging.getLogger, "tensorflow")

if TYPE_CHECKING:
    from runtime import data
    from runtime.names import (
        audio,
        distribute,
        experimental,
        image,
        io,
        lookup,
        profiler,
        signal,
        test,
    )
else:
    #: What is imported when it is first asked for, beside `tf.keras`...
    _LATER = {
        "audio": "runtime.names.audio",
        "data": "runtime.data",
        "distribute": "runtime.names.distribute",
        "experimental": "runtime.names.experimental",
        "image": "runtime.names.image",
        "io": "runtime.names.io",
        "lookup": "runtime.names.lookup",
        "profiler": "runtime.names.profiler",
        "signal": "runtime.names.signal",
        "test": "runtime.names.test",
    }
    #: ... and the names of Keras that are names of `tf`, too.
    _KERAS = {
        "initializers": "initializers",
        "losses": "losses",
        "metrics": "metrics",
        "optimizers": "optimizers",
        "constant_initializer": "initializers.Constant",
        "ones_initializer": "initializers.Ones",
        "random_normal_initializer": "initializers.RandomNormal",
        "random_uniform_initializer": "initializers.RandomUniform",
        "zeros_initializer": "initializers.Zeros",
    }

    def __getattr__(name: str) -> Any:
        """Namespaces that are imported when they are first asked for."""
        # Not `from runtime import data`, which asks here.
        if name == "keras":
            from runtime.training import keras_door

            found = keras_door.load()
        elif name in _KERAS:
            found = _attrgetter(f"keras.{_KERAS[name]}")(_sys.modules[__name__])
        elif name in _LATER:
            found = _importlib.import_module(_LATER[name])
            _advise(found, f"tf.{name}")
        else:
            raise _missing(_sys.modules[__name__], "tf", name)
        globals()[name] = found
        return found

    # In front of what looks among files, where Keras has some of the same names.
    _found = {"keras", *_KERAS, *_LATER} - {"data"}  # that is a package here
    _sys.meta_path.insert(0, _Finder(__name__, _found.__contains__))

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


# fmt: off
__all__ = [
    "Assert", "DType", "DeviceSpec", "GradientTape", "Graph", "IndexedSlices", "Module",
    "Operation", "RaggedTensor", "RaggedTensorSpec", "SparseTensor", "SparseTensorSpec",
    "Tensor", "TensorArray", "TensorShape", "TensorSpec", "UnconnectedGradients",
    "Variable", "VariableAggregation", "VariableSynchronization", "__version__", "abs",
    "acos", "acosh", "add", "add_n", "argmax", "argmin", "argsort", "as_dtype",
    "as_string", "asin", "asinh", "assert_equal", "assert_greater", "assert_less",
    "assert_rank", "atan", "atan2", "atanh", "audio", "autodiff", "autograph",
    "batch_to_space", "bfloat16", "bitcast", "bitwise", "bool", "boolean_mask",
    "broadcast_static_shape",
    "broadcast_to", "case", "cast", "clip_by_global_norm", "clip_by_norm",
    "clip_by_value", "compat", "complex", "complex64", "complex128", "concat", "cond",
    "config", "constant", "control_dependencies", "convert_to_tensor", "cos", "cosh",
    "cumsum", "custom_gradient", "data", "debugging", "device", "distribute", "divide",
    "double", "dtypes", "dynamic_partition", "dynamic_stitch", "eig", "eigvals",
    "einsum", "ensure_shape", "equal", "errors", "executing_eagerly", "exp",
    "expand_dims", "experimental", "eye", "fill", "float16", "float32", "float64",
    "floor", "foldl", "foldr", "function", "gather", "gather_nd",
    "get_current_name_scope", "get_logger", "get_static_value", "grad_pass_through",
    "gradients", "greater", "greater_equal", "group", "half", "hessians",
    "histogram_fixed_width", "histogram_fixed_width_bins", "identity", "identity_n",
    "image", "init_scope", "inside_function", "int8", "int16", "int32", "int64", "io",
    "is_symbolic_tensor", "is_tensor", "less", "less_equal", "linalg", "linspace",
    "logical_and", "logical_not", "logical_or", "lookup", "map_fn", "math", "matmul",
    "maximum", "meshgrid", "minimum", "multiply", "name_scope", "negative", "nest",
    "newaxis", "nn", "no_op", "norm", "not_equal", "numpy_function", "one_hot", "ones",
    "ones_like", "pad", "parallel_stack", "pow", "print", "profiler", "py_function",
    "random", "range", "rank", "recompute_grad", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "register_tensor_conversion_function", "repeat",
    "required_space_to_batch_paddings", "reshape", "reverse", "reverse_sequence",
    "roll", "round", "saturate_cast", "saved_model", "scalar_mul", "scan", "scatter_nd",
    "searchsorted", "sequence_mask", "shape", "shape_n", "sigmoid", "sign", "signal",
    "sin", "sinh", "size", "slice", "sort", "space_to_batch", "split", "sqrt", "square",
    "squeeze", "stack", "stop_gradient", "strided_slice", "string", "strings",
    "subtract", "summary", "switch_case", "tan", "tanh", "tensor_scatter_nd_add",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "tensordot", "test", "tile", "train", "transpose",
    "truediv", "truncatediv", "truncatemod", "tuple", "type_spec_from_value", "types",
    "uint8", "uint16", "uint32", "uint64", "unique", "unique_with_counts",
    "unravel_index", "unstack", "vectorized_map", "version", "where", "while_loop",
    "zeros", "zeros_like",
]
# fmt: on


def __autograph_library__() -> None:  # noqa: N807  (a name of the compiler's)
    """The compiler is imported: it calls this."""
    compiler.connect_unless_connecting()


#: The namespaces that are there at once; each can be imported by its public name. They
#: are no packages, whose modules Python would import a second time under such a name;
#: all that `compat` has in it is here.
_SPACES = {
    "bitwise": bitwise, "compat": compat, "compat.v1": compat.v1, "config": config,
    "debugging": debugging, "dtypes": dtypes, "errors": errors, "linalg": linalg,
    "math": math, "nest": nest, "nn": nn, "random": random, "saved_model": saved_model,
    "strings": strings, "summary": summary, "train": train, "types": types,
    "version": version,
}  # fmt: skip
for _name, _space in _SPACES.items():
    _advise(_space, f"tf.{_name}")
    _sys.modules[f"{__name__}.{_name}"] = _space
_hooks.begin = compiler.begin_first_graph
if "autograph" in _sys.modules:
    compiler.connect()
