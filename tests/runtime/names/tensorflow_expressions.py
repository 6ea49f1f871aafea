"""Expressions, and what TensorFlow 2.21 gives for them.

Run with a Python that has TensorFlow, this module writes what each gives into
``tensorflow_results.json``, with which `test_expressions` compares::

    python tests/runtime/names/tensorflow_expressions.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("tensorflow_results.json")

EXPRESSIONS = """
tf.dynamic_partition([7., 8., 9.], [1, 0, 1], 2)
tf.dynamic_partition([[1, 2], [3, 4], [5, 6]], [2, 2, 0], 3)
tf.dynamic_partition([[1, 2], [3, 4]], [[0, 1], [1, 0]], 2)
tf.dynamic_stitch([[2, 0], [1]], [[30, 10], [20]])
tf.dynamic_stitch([[0, 1], [1, 4]], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
tf.dynamic_stitch([3, [[0, 1], [2, 1]]], [[9.], [[[0.], [1.]], [[2.], [3.]]]])
tf.reverse_sequence([[1, 2, 3, 4], [5, 6, 7, 8]], [2, 4], seq_axis=1)
tf.reverse_sequence([[[1], [2]], [[3], [4]], [[5], [6]]], [3, 2], 0, 1)
tf.unravel_index([5, 3, 0], [2, 3])
tf.unravel_index(22, [3, 4, 2])
tf.identity_n([1, [2., 3.]])
tf.as_string([1, 25])
tf.strings.to_hash_bucket_strong(["", "a", "eight by", "TensorFlow 2.21"], 2**60, [1, 2])
tf.strings.to_hash_bucket_strong([["Hello"], ["TF"]], 3, [-1, 5])
tf.space_to_batch(tf.reshape(tf.range(16), [1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]])
tf.space_to_batch(tf.reshape(tf.range(8), [2, 4, 1]), [3], [[1, 1]])
tf.space_to_batch(tf.reshape(tf.range(24), [2, 2, 3, 2]), [2, 3], [[0, 0], [1, 2]])
tf.batch_to_space(tf.reshape(tf.range(16), [4, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]])
tf.batch_to_space(tf.reshape(tf.range(24), [4, 1, 3, 2]), [1, 2], [[0, 0], [2, 1]])
tf.nn.depth_to_space(tf.reshape(tf.range(16), [1, 2, 1, 8]), 2)
tf.nn.space_to_depth(tf.reshape(tf.range(32), [2, 4, 4, 1]), 2)
tf.nn.space_to_depth(tf.reshape(tf.range(18), [1, 3, 3, 2]), 3)
tf.histogram_fixed_width([-1., 0., 1.5, 2., 5., 15.], [0., 5.], nbins=5)
tf.histogram_fixed_width([.7, .3, .6, .1, .9], [0., 1.], 10)
tf.nn.weighted_moments([1., 2.], [0], [[1., 1.], [2., 2.]])
tf.histogram_fixed_width([[1, 2], [2, 9]], [0, 10], nbins=3, dtype=tf.int64)
tf.histogram_fixed_width_bins([-1., 0., 1.5, 2., 5., 15.], [0., 5.], nbins=5)
tf.math.is_non_decreasing([[1, 1], [2, 2]])
tf.math.is_non_decreasing([1., 0.])
tf.math.is_non_decreasing([])
tf.math.is_strictly_increasing([1, 1])
tf.math.is_strictly_increasing([1, 2])
tf.math.invert_permutation([2, 0, 1, 3])
tf.linalg.cholesky_solve([[2., 0.], [1., 3.]], [[1.], [2.]])
tf.linalg.lstsq([[1., 0.], [1., 1.], [1., 2.]], [[6.], [0.], [0.]])
tf.linalg.lstsq([[1., 0.], [1., 1.], [1., 2.]], [[6.], [0.], [0.]], 0.5)
tf.linalg.lstsq([[1., 0., 2.], [1., 1., 3.]], [[6.], [1.]])
tf.linalg.lstsq([[1., 0.], [1., 1.], [1., 2.]], [[6.], [0.], [0.]], fast=False)
tf.linalg.matrix_rank([[1., 2.], [2., 4.]])
tf.linalg.matrix_rank([[[1., 2.], [2., 5.]], [[0., 0.], [0., 0.]]])
tf.linalg.matrix_rank([[1., 0.], [0., 1e-3]], tol=1e-2)
tf.linalg.tensor_diag([1, 2, 3])
tf.linalg.tensor_diag([[1., 2.], [3., 4.]])
tf.linalg.tensor_diag_part(tf.linalg.tensor_diag([[1., 2.], [3., 4.]]))
tf.nn.weighted_moments([1., 4., 7.], [0], [2., 1., 3.])
tf.nn.weighted_moments([[1., 4.], [7., 2.]], [1], [[2.], [1.]], keepdims=True)
tf.nn.sufficient_statistics([[1., 4.], [7., 2.]], [0])[:3]
tf.nn.sufficient_statistics([[1., 4.], [7., 2.]], [0, 1], shift=2., keepdims=True)
tf.nn.normalize_moments(3., [1., 2.], [3., 4.], None)
tf.nn.normalize_moments(3., [1., 2.], [3., 4.], 0.5)
tf.nn.lrn([[[[1., 2., 3., 4.]]]], depth_radius=1, bias=2., alpha=.5, beta=.75)
tf.nn.local_response_normalization([[[[1., -2., 3.]]]])
tf.nn.log_poisson_loss([0., 1., 2., 5.], [.5, 0., 1., -1.])
tf.nn.log_poisson_loss([0., 1., 2., 5.], [.5, 0., 1., -1.], compute_full_loss=True)
tf.math.accumulate_n([[1, 2], [3, 4]])
tf.math.accumulate_n([1., 2., 3.], shape=[], tensor_dtype=tf.float32)
tf.math.unsorted_segment_sqrt_n([1., 2., 3., 4.], [0, 0, 2, -1], 4)
tf.math.unsorted_segment_sqrt_n([[1., 2.], [3., 4.], [5., 6.]], [1, 1, 1], 2)
tf.math.unsorted_segment_sqrt_n([[1., 2.], [3., 4.]], [[1, 1], [1, 0]], 2)
tf.nn.max_pool_with_argmax(tf.reshape([1, 5, 2, 8, 3, 9] * 3, [1, 3, 3, 2]), 2, 2, "VALID")
tf.nn.max_pool_with_argmax(tf.reshape([1., 5., 2., 8., -3., 9.] * 3, [1, 3, 3, 2]), 2, 2, "SAME")
tf.nn.max_pool_with_argmax(-tf.reshape(tf.range(24.), [2, 3, 4, 1]), [2, 3], [1, 2], "SAME", include_batch_in_index=True, output_dtype=tf.int32)
tf.nn.max_pool_with_argmax(tf.math.sin(tf.reshape(tf.range(60.), [1, 5, 6, 2])), [1, 3, 2, 1], [1, 1, 3, 1], "SAME")
tf.nn.max_pool_with_argmax(tf.math.sin(tf.reshape(tf.range(60.), [2, 5, 6, 1])), 1, 3, "SAME")
tf.nn.ctc_loss([[1, 2, 0], [1, 1, 0]], tf.sin(tf.reshape(tf.range(40.), [5, 2, 4])), [2, 2], [5, 4])
tf.nn.ctc_loss([[1, 2, 0], [1, 1, 0]], tf.sin(tf.reshape(tf.range(40.), [2, 5, 4])), [2, 2], [5, 3], logits_time_major=False, blank_index=-1)
tf.nn.ctc_loss([[1, 0, 2]], tf.sin(tf.reshape(tf.range(20.), [5, 1, 4])), [3], [5])
tf.nn.ctc_loss([[1, 2, 3], [2, 0, 0]], tf.sin(tf.reshape(tf.range(40.), [5, 2, 4])), [3, 0], [5, 5])
tf.round(tf.nn.ctc_loss([[1, 1], [1, 2]], tf.sin(tf.reshape(tf.range(16.), [2, 2, 4])), [2, 2], [2, 1]) / 100.)
tf.random.uniform_candidate_sampler([[1, 2], [0, 7]], 2, 4, False, 8)[1:]
tf.random.uniform_candidate_sampler([[1]], 1, 1, True, 4)[1:]
tf.random.log_uniform_candidate_sampler([[1, 2], [0, 7]], 2, 12, False, 8)[1]
tf.random.log_uniform_candidate_sampler([[0]], 1, 3, False, 1)
tf.sort(tf.random.log_uniform_candidate_sampler([[0]], 1, 5, True, 5)[0])
tf.nn.sampled_softmax_loss(tf.reshape(tf.range(24.), [8, 3]) / 24., tf.range(8.) / 8., tf.constant([[1], [2]]), tf.constant([[1., -1., 2.], [0., .5, 1.]]), 4, 8, sampled_values=(tf.constant([2, 5, 1, 7], tf.int64), tf.constant([[.5], [.2]]), tf.constant([.3, .4, .9, .8])))
tf.nn.sampled_softmax_loss(tf.reshape(tf.range(24.), [8, 3]) / 24., tf.range(8.) / 8., tf.constant([[1, 3], [2, 2]]), tf.constant([[1., -1., 2.], [0., .5, 1.]]), 4, 8, 2, (tf.constant([2, 5, 1, 7], tf.int64), tf.constant([[.5, .3], [.2, .9]]), tf.constant([.3, .4, .9, .8])), remove_accidental_hits=True)
tf.nn.sampled_softmax_loss(tf.reshape(tf.range(24.), [8, 3]) / 24., tf.range(8.) / 8., tf.constant([[1], [2]]), tf.constant([[1., -1., 2.], [0., .5, 1.]]), 4, 8, 1, (tf.constant([2, 5, 1, 7], tf.int64), tf.constant([[.5], [.2]]), tf.constant([.3, .4, .9, .8])), False)
tf.nn.nce_loss(tf.reshape(tf.range(24.), [8, 3]) / 24., tf.range(8.) / 8., tf.constant([[1], [2]]), tf.constant([[1., -1., 2.], [0., .5, 1.]]), 4, 8, sampled_values=(tf.constant([2, 5, 1, 7], tf.int64), tf.constant([[.5], [.2]]), tf.constant([.3, .4, .9, .8])))
tf.nn.nce_loss(tf.reshape(tf.range(24.), [8, 3]) / 24., tf.range(8.) / 8., tf.constant([[1, 3], [2, 2]]), tf.constant([[1., -1., 2.], [0., .5, 1.]]), 4, 8, 2, (tf.constant([2, 5, 1, 7], tf.int64), tf.constant([[.5, .3], [.2, .9]]), tf.constant([.3, .4, .9, .8])), remove_accidental_hits=True)
tf.nn.nce_loss(tf.reshape(tf.range(24.), [8, 3]) / 24., tf.range(8.) / 8., tf.constant([[1], [2]]), tf.constant([[1., -1., 2.], [0., .5, 1.]]), 4, 8, 1, (tf.constant([2, 5, 1, 7], tf.int64), tf.constant([[.5], [.2]]), tf.constant([.3, .4, .9, .8])), False)
""".strip().splitlines()

EXPRESSIONS += """
tf.signal.fft([1., 2., 3.])
tf.signal.fft(tf.zeros([2, 0], tf.complex64))
tf.signal.ifft(tf.complex([1., 2., 3.], [4., 5., -6.]))
tf.signal.fft2d(tf.complex([[1., 2., 3.], [4., 0., -6.]], 1.))
tf.signal.ifft2d(tf.complex([[1., 2., 3.], [4., 0., -6.]], 1.))
tf.signal.fft3d(tf.square(tf.complex(tf.reshape(tf.range(12.), [2, 3, 2]), 1.)))
tf.signal.ifft3d(tf.square(tf.complex(tf.reshape(tf.range(12.), [2, 3, 2]), 1.)))
tf.signal.rfft([1, 2, 3])
tf.signal.rfft(tf.constant([[1., 2.], [3., 4.]], tf.float64), [5])
tf.signal.rfft([1., 2., 3.], [2])
tf.signal.rfft(tf.zeros([2, 0]))
tf.signal.rfft2d([[1., 2., 3.], [4., 5., 7.]], [3, 2])
tf.signal.rfft3d(tf.reshape(tf.range(12.) ** 2, [2, 3, 2]))
tf.signal.irfft([1., 2., 3.])
tf.signal.irfft(tf.complex([1., 2., 3.], [1., -3., 2.]), [3])
tf.signal.irfft(tf.complex([1., 2., 3.], [1., -3., 2.]), [9])
tf.signal.irfft(tf.complex([1., 2., 3.], [1., -3., 2.]), [1])
tf.signal.irfft(tf.zeros([2, 0], tf.complex64))
tf.signal.irfft2d(tf.complex([[1., 2., 3.], [4., 0., 6.]], 0.5))
tf.signal.irfft2d(tf.complex([[1., 2., 3.], [4., 0., 6.]], 0.5), [3, 2])
tf.signal.irfft3d(tf.complex(tf.reshape(tf.range(12.) ** 2, [2, 3, 2]), 1.), [2, 4, 3])
tf.signal.fftshift([[1, 2, 3], [4, 5, 6]])
tf.signal.fftshift([[1, 2, 3], [4, 5, 6]], 0)
tf.signal.ifftshift([[1, 2, 3], [4, 5, 6]], [1, -2])
tf.signal.frame([1, 2, 3, 4, 5], 3, 2)
tf.signal.frame([1, 2, 3, 4, 5], 3, 2, pad_end=True, pad_value=9)
tf.signal.frame([1, 2], 3, 2)
tf.signal.frame([1, 2, 3], 1, 3)
tf.signal.frame([], 2, 1, True)
tf.signal.frame(tf.reshape(tf.range(12), [2, 3, 2]), 2, 1, axis=1)
tf.signal.overlap_and_add([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1)
tf.signal.overlap_and_add([[[1., 2., 3.], [4., 5., 6.]]], 2)
tf.signal.overlap_and_add([[1, 2, 3], [4, 5, 6]], 5)
tf.signal.overlap_and_add(tf.zeros([0, 3]), 1)
tf.signal.hann_window(4)
tf.signal.hann_window(5)
tf.signal.hann_window(4, periodic=False)
tf.signal.hann_window(1)
tf.signal.hamming_window(6, dtype=tf.float64)
tf.signal.kaiser_window(5)
tf.signal.kaiser_window(1)
tf.signal.kaiser_window(4, 3., tf.float64)
tf.signal.kaiser_bessel_derived_window(8, 4.)
tf.signal.vorbis_window(6)
tf.signal.stft([1., 2., -3., 4., 5., 7.], 3, 2)
tf.signal.stft([[1., 2., -3., 4., 5., 7.]], 3, 2, 6, None, True)
tf.signal.stft([1., 2., -3., 4., 5., 7.], 4, 1, 2, tf.signal.hamming_window)
tf.signal.inverse_stft(tf.signal.stft([1., 2., -3., 4., 5., 7.], 3, 2), 3, 2)
tf.signal.inverse_stft(tf.constant([[1., 2.], [3., 4.]], tf.complex64), 3, 1, 2, None)
tf.signal.inverse_stft_window_fn(2)(5, dtype=tf.float64)
tf.signal.inverse_stft_window_fn(3, tf.signal.hamming_window)(7, dtype=tf.float32)
tf.signal.dct(tf.constant([1., 2., -3.]), 1)
tf.signal.dct([1., 2., -3.])
tf.signal.dct([1., 2., -3.], norm="ortho")
tf.signal.dct([1., 2., -3.], 3)
tf.signal.dct([1., 2., -3.], 3, norm="ortho")
tf.signal.dct([1., 2., -3.], 4)
tf.signal.dct([1., 2., -3.], 4, norm="ortho")
tf.signal.dct(tf.constant([1., 2., -3.], tf.float64), n=5)
tf.signal.dct([1., 2., -3.], n=2)
tf.signal.idct(tf.constant([1., 2., -3.]), 1)
tf.signal.idct([1., 2., -3.])
tf.signal.idct([1., 2., -3.], 3, n=4, norm="ortho")
tf.signal.mdct([1., 2., 3., 4., 5., 6., 7., 8.], 4)
tf.signal.mdct([1., 2., 3., 4., 5., 6., 7.], 4, pad_end=True, norm="ortho")
tf.signal.mdct([1., 2., 3., 4., 5., 6., 7.], 4, window_fn=None)
tf.signal.inverse_mdct([[1., 2.], [3., 4.]])
tf.signal.inverse_mdct([[1., 2.], [3., 4.]], None, "ortho")
tf.signal.linear_to_mel_weight_matrix(3, 9)
tf.signal.linear_to_mel_weight_matrix(4, 17, 16000, 0., 7000., tf.float64)
tf.signal.linear_to_mel_weight_matrix(3, 1)
tf.signal.mfccs_from_log_mel_spectrograms([[1., 2., 3., 5.]])
""".strip().splitlines()

EXPRESSIONS += """
tf.bitcast([1., -2.], tf.int32)
tf.bitcast([[1., -2.]], "uint16")
tf.bitcast(tf.constant([[1, 2, 3, 250]], tf.uint8), tf.int32)
tf.bitcast(tf.constant([1 + 2j], tf.complex64), tf.float32)
tf.bitcast([1., 2.], tf.complex64)
tf.bitcast(tf.zeros([0, 2], tf.int32), tf.float64)
tf.linalg.lu([[1., 2.], [3., 4.]])
tf.linalg.lu([[[1., 2., 0.], [3., 4., 1.], [-9., 1., 7.]], [[4., 1., 2.], [8., 0., 1.], [2., 2., 2.]]])
tf.linalg.lu(tf.complex([[3., 1.], [2., 2.]], [[0., 0.], [2., 0.]]), output_idx_type=tf.int64)
tf.linalg.lu(tf.zeros([2, 0, 0]))
tf.linalg.lu_solve(*tf.linalg.lu([[1., 2.], [3., 4.]]), [[1., 5.], [2., 6.]])
tf.linalg.lu_solve(*tf.linalg.lu([[[1., 2.], [3., 4.]], [[2., 0.], [1., 4.]]]), [[1.], [2.]])
tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[[1., 2.], [3., 4.]], [[2., 0.], [1., 4.]]]))
tf.linalg.lu_reconstruct(*tf.linalg.lu([[[1., 2.], [3., 4.]], [[2., 0.], [1., 4.]]]))
tf.linalg.expm([[0., 1.], [-1., 0.]])
tf.linalg.expm(tf.constant([[[1., 20.], [3., -40.]], [[.1, .2], [.3, .4]]], tf.float64))
tf.linalg.expm(tf.complex([[0., 1.], [-1., 3.]], [[2., 0.], [1., 0.]]))
tf.linalg.expm(tf.zeros([2, 0, 0]))
tf.linalg.expm([[float("nan"), 1.], [2., 3.]])
tf.math.real(tf.sort(tf.math.real(tf.linalg.eigvals(tf.constant([[1., 2., 3.], [4., 5., 6.], [7., 8., 10.]])))))
tf.linalg.eigvals(tf.zeros([2, 0, 0], tf.float64))
tf.linalg.eig(tf.constant([[3.]]))[0]
tf.abs(tf.linalg.eig(tf.constant([[0., 1.], [-1., 0.]], tf.float64))[1])
tf.linalg.tridiagonal_solve(tf.constant([[1., 2., 9.], [0., 0., 4.], [9., 3., 1.]]), tf.constant([1., 2., 3.]))
tf.linalg.tridiagonal_solve(tf.constant([[[1., 2., 9.], [5., 4., 4.], [9., 3., 1.]]] * 2), tf.constant([[[1., 2., 3.]]] * 2), transpose_rhs=True)
tf.linalg.tridiagonal_solve([tf.constant([1., 2.]), tf.constant([5., 4., 4.]), tf.constant([3., 1.])], tf.constant([[1.], [2.], [3.]]), "sequence")
tf.linalg.tridiagonal_solve([tf.constant([1., 2., 9.]), tf.constant([5., 4., 4.]), tf.constant([3., 1., 2.])], tf.constant([1., 2., 3.]), "sequence")
tf.linalg.tridiagonal_solve(tf.constant([[5., 1., 9.], [2., 4., 1.], [9., 1., 4.]]), tf.constant([1., 2., 3.]), "matrix")
tf.linalg.tridiagonal_solve(tf.constant([[2.], [4.], [2.]]), tf.constant([2.]))
tf.linalg.tridiagonal_solve(tf.complex([[1., 2., 9.], [5., 0., 4.], [9., 3., 1.]], 2.), tf.complex([[1., 2., 3.]], 1.), "compact", True, True)
tf.linalg.tridiagonal_matmul(tf.constant([[1., 2., 9.], [5., 4., 4.], [9., 3., 1.]]), tf.constant([[1., 2.], [3., 4.], [5., 6.]]))
tf.linalg.tridiagonal_matmul([tf.constant([1., 2., 9.]), tf.constant([5., 4., 4.]), tf.constant([9., 3., 1.])], tf.constant([[1.], [3.], [5.]]), "sequence")
tf.linalg.tridiagonal_matmul(tf.constant([[[5., 1., 9.], [2., 4., 1.], [9., 1., 4.]]]), tf.constant([[[1.], [3.], [5.]]]), "matrix")
tf.linalg.banded_triangular_solve([[1., 2., 3.], [9., 5., 6.]], [[1.], [2.], [3.]])
tf.linalg.banded_triangular_solve([[5., 6., 9.], [1., 2., 3.]], [[1.], [2.], [3.]], lower=False)
tf.linalg.banded_triangular_solve([[1., 2., 3.], [9., 5., 6.]], [[1.], [2.], [3.]], adjoint=True)
tf.linalg.banded_triangular_solve([[8., 9., 9.], [5., 6., 9.], [1., 2., 3.]], [[1.], [2.], [3.]], False, True)
tf.linalg.banded_triangular_solve(tf.ones([2, 2, 3]), tf.ones([3, 1]))
""".strip().splitlines()


def as_data(value: Any) -> Any:
    """A result as JSON: lists of results, and of each tensor its dtype and elements."""
    if isinstance(value, (list, tuple)):
        return [as_data(item) for item in value]
    if value is None:
        return None
    array = value.numpy()
    text = array.tolist() if hasattr(array, "tolist") else array
    return [value.dtype.name, _text(text)]


def _text(value: Any) -> Any:
    if isinstance(value, list):
        return [_text(item) for item in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value.decode() if isinstance(value, bytes) else value


def main() -> None:
    """Record what the TensorFlow of this Python gives."""
    import tensorflow as tf

    assert tf.__version__.startswith("2.21"), tf.__version__
    lines = (
        f"{json.dumps(text)}: {json.dumps(as_data(eval(text, {'tf': tf})))}"
        for text in EXPRESSIONS
    )
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
