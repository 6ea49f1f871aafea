"""Fourier transforms: one op on complex numbers, of which the others are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import (
    DTypeMismatchError,
    InvalidArgumentError,
    TracedArgumentError,
)
from runtime.core.graph.record import Export
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import axes_argument, ints_argument
from runtime.ops.arrays.dimensions import both_known, length, most, numbers
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.derivatives import Applied, linear
from runtime.ops.elementwise.complex_numbers import complex, conj, real
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, normal_axes, show, spec

Array = np.ndarray[Any, Any]


def _fft(x: Array, *, axes: int, inverse: bool) -> Array:
    if not x.size:
        return np.zeros_like(x)
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return transform(x, axes=tuple(range(-axes, 0)))


def _infer_fft(x: TensorSpec, *, axes: int, inverse: bool) -> TensorSpec:
    dims = dims_of(x)
    if dims is not None and len(dims) < axes:
        raise InvalidArgumentError(
            f"a transform along {axes} axes needs a rank of {axes} or more, not the "
            f"shape {show(dims)}"
        )
    return spec(dims, x.dtype)


def _name_in_tensorflow(attrs: dict[str, Any]) -> str:
    axes = attrs["axes"]
    return f"{'I' * attrs['inverse']}FFT{f'{axes}D' if axes > 1 else ''}"


#: The transform along the last `axes` axes.
define(
    "FFT",
    _fft,
    _infer_fft,
    takes="c",
    family="linalg",
    export=Export(
        _name_in_tensorflow, types=(("Tcomplex", 0),), unwritten=("axes", "inverse")
    ),
)


@linear("FFT")
def _fft_gradient(node: Applied, g: Any) -> Any:
    # The matrix of the transform is symmetric, so that its adjoint is its conjugate.
    return [conj(run("FFT", conj(g), **node.attrs))]


# --- of complex numbers ---------------------------------------------------------------


def _transform(x: Any, axes: int, inverse: bool, name: str | None) -> Any:
    x = convert_to_tensor(x, dtype_hint=dtypes.complex64)
    return run("FFT", x, axes=axes, inverse=inverse, name=name)


def fft(input: Any, name: str | None = None) -> Any:
    """The Fourier transform along the last axis, of complex numbers.

    >>> print(fft([1.0, 0.0, 1.0, 0.0]))
    tf.Tensor([2.+0.j 0.+0.j 2.+0.j 0.+0.j], shape=(4,), dtype=complex64)
    """
    return _transform(input, 1, False, name)


def fft2d(input: Any, name: str | None = None) -> Any:
    """The Fourier transform along the last two axes."""
    return _transform(input, 2, False, name)


def fft3d(input: Any, name: str | None = None) -> Any:
    """The Fourier transform along the last three axes."""
    return _transform(input, 3, False, name)


def ifft(input: Any, name: str | None = None) -> Any:
    """What `fft` transforms into the argument."""
    return _transform(input, 1, True, name)


def ifft2d(input: Any, name: str | None = None) -> Any:
    """What `fft2d` transforms into the argument."""
    return _transform(input, 2, True, name)


def ifft3d(input: Any, name: str | None = None) -> Any:
    """What `fft3d` transforms into the argument."""
    return _transform(input, 3, True, name)


# --- of real numbers ------------------------------------------------------------------


def ranked(x: Any, least: int, hint: DType | None = None) -> Any:
    """A tensor whose rank is known, and is `least` or more."""
    tensor = convert_to_tensor(x, dtype_hint=hint)
    if tensor.shape.rank is None or tensor.shape.rank < least:
        raise TracedArgumentError(
            f"a tensor of a known rank of {least} or more is needed, not the shape "
            f"{show(dims_of(tensor.spec))}"
        )
    return tensor


def real_numbers(x: Any, least: int) -> Any:
    """A tensor of float32 or float64; numbers without a dtype become float32."""
    tensor = ranked(x, least, dtypes.float32)
    if tensor.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeMismatchError(
            f"signals are of float32 or float64, not {tensor.dtype.name}; tf.cast "
            "converts"
        )
    return tensor


def as_complex(x: Any) -> Any:
    """Real numbers as complex ones of their precision."""
    return complex(x, tf.zeros_like(x))


def resized(x: Any, sizes: Sequence[Any]) -> Any:
    """The last axes cut to these lengths, or filled up with zeros."""
    first = x.shape.rank - len(sizes)
    old = [length(x, axis) for axis in range(first, x.shape.rank)]
    if both_known(*old, *sizes) and old == list(sizes):
        return x
    x = x[(..., *[slice(size) for size in sizes])]
    missing = [most(new - now, 0) for new, now in zip(sizes, old)]
    return tf.pad(x, [[0, 0]] * first + [[0, size] for size in missing])


def _sizes(fft_length: Any, axes: int, default: list[Any]) -> list[Any]:
    if fft_length is None:
        return default
    given = ints_argument(fft_length, "fft_length")
    if isinstance(given, tuple) and len(given) != axes:
        raise TracedArgumentError(f"fft_length must hold {axes} ints, not {given}")
    sizes = numbers(given, axes)
    if any(isinstance(size, int) and size < 1 for size in sizes):
        raise TracedArgumentError(f"fft_length must be positive, not {given}")
    return sizes


def _real_transform(x: Any, fft_length: Any, axes: int, name: str | None) -> Any:
    x = real_numbers(x, axes)
    sizes = _sizes(fft_length, axes, [length(x, axis) for axis in range(-axes, 0)])
    x = resized(x, sizes)
    found = run("FFT", as_complex(x), axes=axes, inverse=False)
    return tf.identity(found[..., : sizes[-1] // 2 + 1], name=name)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The Fourier transform of real numbers along the last axis: its first half.

    ``fft_length = [n]`` cuts the axis, or fills it with zeros.

    >>> print(rfft([1.0, 0.0, 1.0, 0.0]))
    tf.Tensor([2.+0.j 0.+0.j 2.+0.j], shape=(3,), dtype=complex64)
    """
    return _real_transform(input_tensor, fft_length, 1, name)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """As `rfft`, along the last two axes."""
    return _real_transform(input_tensor, fft_length, 2, name)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """As `rfft`, along the last three axes."""
    return _real_transform(input_tensor, fft_length, 3, name)


def _real_inverse(x: Any, fft_length: Any, axes: int, name: str | None) -> Any:
    x = ranked(x, axes, dtypes.complex64)
    known = [length(x, axis) for axis in range(-axes, 0)]
    default = [*known[:-1], most(2 * (known[-1] - 1), 0)]
    *others, size = _sizes(fft_length, axes, default)
    # The other half is the mirror image of this one: the real part counts it twice,
    # but for what is its own image.
    half = size // 2 + 1
    k = tf.range(half, dtype=dtypes.int64)
    counts = cast(tf.where((k == 0) | (2 * k == size), 1, 2), x.dtype)
    x = resized(resized(x, [*others, half]) * counts, [size])
    return real(run("FFT", x, axes=axes, inverse=True), name=name)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The real numbers that `rfft` transforms into the argument.

    Their number is even unless ``fft_length = [n]`` says it.
    """
    return _real_inverse(input_tensor, fft_length, 1, name)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """As `irfft`, along the last two axes."""
    return _real_inverse(input_tensor, fft_length, 2, name)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """As `irfft`, along the last three axes."""
    return _real_inverse(input_tensor, fft_length, 3, name)


# --- the order of frequencies ---------------------------------------------------------


def _shifted(x: Any, axes: Any, back: bool, name: str | None) -> Any:
    x = ranked(x, 0)
    axes = normal_axes(axes_argument(axes), x.shape.rank)
    sizes = [length(x, axis) for axis in axes]
    return tf.roll(x, [-(n // 2) if back else n // 2 for n in sizes], axes, name=name)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Frequencies in their order: that of 0 is moved into the middle of each axis.

    >>> fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(x, axes, False, name)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """What `fftshift` moves into the argument."""
    return _shifted(x, axes, True, name)
