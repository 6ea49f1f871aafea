"""``tf.signal`` in graphs and all executors, its gradients, and what it refuses.

`tests/runtime/names` compares results with those of TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import (
    DTypeMismatchError,
    InvalidArgumentError,
    TracedArgumentError,
    TracingError,
)
from tests.runtime.autodiff.checks import check_grads, sample

S = tf.signal
X = sample(3, 24)

#: Functions of real signals, (number, time).
OF_SIGNALS: dict[str, Callable[..., Any]] = {
    "rfft": S.rfft,
    "rfft, shorter": lambda x: S.rfft(x, [7]),
    "rfft, longer": lambda x: S.rfft(x, [40]),
    "rfft2d": lambda x: S.rfft2d(x, [5, 24]),
    "irfft": lambda x: S.irfft(S.rfft(x) ** 2),
    "irfft, odd": lambda x: S.irfft(S.rfft(x), [9]),
    "irfft2d": lambda x: S.irfft2d(S.rfft2d(x), [4, 15]),
    "fftshift": lambda x: S.fftshift(x * x),
    "ifftshift": lambda x: S.ifftshift(x, [-1]),
    "frame": lambda x: S.frame(x, 5, 2, pad_end=True),
    "overlap_and_add": lambda x: S.overlap_and_add(S.frame(x, 7, 3) ** 2, 2),
    "stft": lambda x: S.stft(x, 6, 2),
    "stft, padded": lambda x: S.stft(x, 6, 4, 16, S.hamming_window, pad_end=True),
    "inverse_stft": lambda x: S.inverse_stft(S.stft(x, 8, 4, window_fn=None), 8, 2),
    "dct 1": lambda x: S.dct(x, 1),
    "dct 2": lambda x: S.dct(x, n=30),
    "dct 3": lambda x: S.dct(x, 3, norm="ortho"),
    "dct 4": lambda x: S.dct(x, 4, n=7),
    "mdct": lambda x: S.mdct(x, 8, norm="ortho"),
    "inverse_mdct": lambda x: S.inverse_mdct(S.mdct(x, 8)),
    "mfccs": S.mfccs_from_log_mel_spectrograms,
}
UNKNOWN = tf.TensorSpec([None, None], tf.float64)


@pytest.mark.parametrize("executor", ["numpy", "native", "xla"])
@pytest.mark.parametrize("name", OF_SIGNALS)
def test_executors_compute_the_same(name: str, executor: str) -> None:
    library = {"native": "llvmlite", "xla": "jax"}.get(executor)
    if library is not None:
        pytest.importorskip(library)
    f, spec = OF_SIGNALS[name], UNKNOWN if executor != "xla" else X.spec
    found = tf.function(f, input_signature=[spec], executor=executor)(X)
    np.testing.assert_allclose(found, f(X), 1e-12, 1e-12)


@pytest.mark.parametrize("name", OF_SIGNALS)
def test_gradients_are_those_of_small_steps(name: str) -> None:
    check_grads(OF_SIGNALS[name], [X])


@pytest.mark.parametrize("name", OF_SIGNALS)
def test_results_have_the_precision_of_the_signal(name: str) -> None:
    exact = OF_SIGNALS[name](X)
    found = OF_SIGNALS[name](tf.cast(X, tf.float32))
    narrow = {"float64": tf.float32, "complex128": tf.complex64}
    assert found.dtype is narrow[exact.dtype.name]
    np.testing.assert_allclose(found, exact, 1e-4, 1e-4)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transforms_of_complex_numbers(axes: int, inverse: bool) -> None:
    x = tf.complex(sample(2, 3, 4, 5), sample(2, 3, 4, 5, seed=1))
    name = f"{'i' * inverse}fft{f'{axes}d' if axes > 1 else ''}"
    for dtype, error in ((tf.complex64, 1e-5), (tf.complex128, 1e-13)):
        given = tf.cast(x, dtype)
        found = getattr(S, name)(given)
        assert found.dtype is dtype
        expected = getattr(np.fft, f"{'i' * inverse}fftn")(x, axes=range(-axes, 0))
        np.testing.assert_allclose(found, expected, error, error)
    graph = tf.function(getattr(S, name)).get_concrete_function(x).graph
    assert name.upper() in [node.op for node in graph.as_graph_def().node]


# --- what becomes the signal again ----------------------------------------------------


@pytest.mark.parametrize("window", [S.hann_window, S.hamming_window])
def test_a_signal_is_made_of_its_spectra(window: Any) -> None:
    back = S.inverse_stft_window_fn(2, window)
    found = S.inverse_stft(S.stft(X, 6, 2, window_fn=window), 6, 2, window_fn=back)
    np.testing.assert_allclose(found[:, 6:-6], X[:, 6:-6], 1e-12)


@pytest.mark.parametrize(
    "window", [S.vorbis_window, S.kaiser_bessel_derived_window, None]
)
@pytest.mark.parametrize("norm", [None, "ortho"])
def test_a_signal_is_made_of_its_frames(window: Any, norm: str | None) -> None:
    found = S.inverse_mdct(S.mdct(X, 8, window, norm=norm), window, norm)
    np.testing.assert_allclose(found[:, 4:-4], X[:, 4:-4], 1e-12)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_orthonormal_cosine_transforms_have_an_inverse(kind: int) -> None:
    found = S.idct(S.dct(X, kind, norm="ortho"), kind, norm="ortho")
    np.testing.assert_allclose(found, X, 1e-12)


# --- lengths and shapes ---------------------------------------------------------------


def test_known_lengths_give_known_shapes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 20])])
    def function(x: Any) -> Any:
        spectra = S.stft(x, 6, 4)
        assert spectra.shape.as_list() == [None, 4, 5]
        assert S.inverse_stft(spectra, 6, 4).shape.as_list() == [None, 18]
        assert S.irfft(spectra).shape.as_list() == [None, 4, 8]
        assert S.rfft(x, [9]).shape.as_list() == [None, 5]
        assert S.mdct(x, 8).shape.as_list() == [None, 4, 4]
        assert S.dct(x, n=3).shape.as_list() == [None, 3]
        return x

    function(tf.zeros([2, 20]))


def test_lengths_may_be_tensors() -> None:
    numbers = [tf.TensorSpec([], tf.int32)] * 2

    @tf.function(input_signature=[UNKNOWN, *numbers])
    def function(x: Any, size: Any, step: Any) -> Any:
        spectra = S.stft(x, size, step, pad_end=True)
        window = S.inverse_stft_window_fn(step)
        signal = S.inverse_stft(spectra, size, step, window_fn=window)
        weights = S.vorbis_window(size), S.hann_window(size, periodic=False)
        return spectra, signal, S.rfft(x, [size + step]), *weights

    for size, step in ((8, 2), (5, 3), (1, 1), (9, 2)):
        window = S.inverse_stft_window_fn(step)
        spectra = S.stft(X, size, step, pad_end=True)
        expected = (
            spectra,
            S.inverse_stft(spectra, size, step, window_fn=window),
            S.rfft(X, [size + step]),
            S.vorbis_window(size),
            S.hann_window(size, periodic=False),
        )
        found = function(X, size, step)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-6, 1e-12)


def test_a_sample_rate_may_be_a_tensor() -> None:
    mels = tf.function(lambda rate: S.linear_to_mel_weight_matrix(5, 9, rate))
    expected = S.linear_to_mel_weight_matrix(5, 9, 16000)
    np.testing.assert_allclose(mels(tf.constant(16000)), expected)


# --- refusals -------------------------------------------------------------------------

REFUSED: list[tuple[type[Exception], str, Callable[..., Any]]] = [
    (DTypeMismatchError, "complex", lambda: S.fft(tf.constant([1.0]))),
    (DTypeMismatchError, "complex", lambda: S.irfft(tf.constant([1.0, 2.0]))),
    (DTypeMismatchError, "not int32", lambda: S.rfft(tf.constant([1]))),
    (DTypeMismatchError, "not float16", lambda: S.dct(tf.cast(X, tf.float16))),
    (InvalidArgumentError, "rank of 2", lambda: S.fft2d([1j])),
    (TracedArgumentError, "rank of 2", lambda: S.rfft2d([1.0])),
    (TracedArgumentError, "rank of 2", lambda: S.overlap_and_add([1.0], 1)),
    (TracedArgumentError, "hold 1 ints", lambda: S.rfft(X, [2, 3])),
    (TracedArgumentError, "positive", lambda: S.irfft([1j], [0])),
    (TracedArgumentError, "1 or more, not 0", lambda: S.frame(X, 3, 0)),
    (TracedArgumentError, "0 or more, not -1", lambda: S.frame(X, -1, 2)),
    (TracedArgumentError, "n must be", lambda: S.dct(X, n=0)),
    (TracedArgumentError, "axis -1, not", lambda: S.dct(X, axis=0)),
    (TracedArgumentError, "axis -1, not", lambda: S.idct(X, 5)),
    (TracedArgumentError, "type 1", lambda: S.dct(X, 1, norm="ortho")),
    (TracedArgumentError, "type 1", lambda: S.dct([1.0], 1)),
    (TracedArgumentError, "multiple of 4", lambda: S.mdct(X, 6)),
    (TracedArgumentError, "of floats", lambda: S.hann_window(4, dtype=tf.int32)),
    (TracedArgumentError, "sample_rate / 2", lambda: _mels(upper_edge_hertz=5000.0)),
    (TracedArgumentError, "sample_rate / 2", lambda: _mels(lower_edge_hertz=-1.0)),
    (TracedArgumentError, "must be bands", lambda: _mels(0)),
]


def _mels(*args: Any, **kwargs: Any) -> Any:
    return S.linear_to_mel_weight_matrix(*args, **kwargs)


@pytest.mark.parametrize(("kind", "text", "function"), REFUSED)
def test_what_does_not_fit_is_refused(kind: Any, text: str, function: Any) -> None:
    with pytest.raises(kind, match=text):
        function()


def test_a_rank_that_is_not_known_is_refused() -> None:
    spec = tf.TensorSpec(None)
    with pytest.raises(TracedArgumentError, match="of a known rank of 1 or more"):
        tf.function(S.rfft).get_concrete_function(spec)
    S_fft = tf.function(S.fft).get_concrete_function(tf.TensorSpec(None, tf.complex64))
    with pytest.raises(InvalidArgumentError, match="needs a rank of 1"):
        S_fft(tf.constant(1j, tf.complex64))


def test_the_length_of_a_window_of_kaiser_must_be_known() -> None:
    for window in (S.kaiser_window, S.kaiser_bessel_derived_window):
        with pytest.raises(TracingError, match="AG3"):
            tf.function(window).get_concrete_function(tf.TensorSpec([], tf.int32))
