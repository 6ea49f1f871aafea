"""Signals and linear algebra, in the manner of notebooks."""

# %% A tone
import numpy as np
import tensorflow as tf

rate = 64
time = tf.range(rate, dtype=tf.float32) / rate
tone = tf.sin(2 * np.pi * 5 * time) + 0.5 * tf.cos(2 * np.pi * 12 * time)
tf.signal.frame(tone, frame_length=16, frame_step=8).shape

# %%
spectrum = tf.abs(tf.signal.rfft(tone))
print(tf.math.top_k(spectrum, k=2).indices.numpy())
tf.round(spectrum[4:14])

# %%
stft = tf.signal.stft(tone, frame_length=16, frame_step=4, fft_length=16)
back = tf.signal.inverse_stft(
    stft, 16, 4, window_fn=tf.signal.inverse_stft_window_fn(4)
)
print(stft.shape, stft.dtype)
tf.reduce_max(tf.abs(back[16:48] - tone[16:48])) < 1e-4

# %%
mel = tf.signal.linear_to_mel_weight_matrix(
    num_mel_bins=4,
    num_spectrogram_bins=stft.shape[-1],
    sample_rate=rate,
    lower_edge_hertz=1.0,
    upper_edge_hertz=30.0,
)
energies = tf.math.log(tf.tensordot(tf.abs(stft), mel, 1) + 1e-6)
tf.signal.mfccs_from_log_mel_spectrograms(energies)[3, :3]

# %% Convolution as a product of spectra
kernel = tf.constant([0.25, 0.5, 0.25])
padded = tf.pad(kernel, [[0, rate - 3]])
product = tf.signal.irfft(tf.signal.rfft(tone) * tf.signal.rfft(padded))
direct = tf.nn.conv1d(
    tf.concat([tone[-2:], tone], 0)[None, :, None], kernel[:, None, None], 1, "VALID"
)
print(tf.reduce_max(tf.abs(product - tf.squeeze(direct))).numpy() < 1e-5)
tf.signal.fftshift(tf.range(6))

# %% Matrices
matrix = tf.constant([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
tf.linalg.inv(matrix) @ matrix

# %%
right = tf.constant([[1.0], [2.0], [3.0]])
print(tf.linalg.solve(matrix, right).numpy().ravel())
factor = tf.linalg.cholesky(matrix)
print(tf.linalg.cholesky_solve(factor, right).numpy().ravel())
print(tf.linalg.triangular_solve(factor, right, lower=True).numpy().ravel())
(
    tf.linalg.det(matrix),
    tf.linalg.slogdet(matrix).log_abs_determinant,
    tf.linalg.trace(matrix),
)

# %%
values, vectors = tf.linalg.eigh(matrix)
print(values.numpy())
tf.abs(tf.einsum("ij,j,kj->ik", vectors, values, vectors) - matrix) < 1e-5

# %% Approximation of low rank
image = tf.sqrt(tf.cast(tf.reshape(tf.range(24), [4, 6]), tf.float32))
s, u, v = tf.linalg.svd(image)
print(s.numpy(), u.shape, v.shape)
rank = 2
approximation = tf.einsum("...s,...us,...vs->...uv", s[:rank], u[:, :rank], v[:, :rank])
energy = tf.cumsum(tf.square(s)) / tf.reduce_sum(tf.square(s))
print(energy.numpy())
tf.norm(image - approximation), tf.norm(image, ord="euclidean"), tf.norm(image, 1)

# %%
q, r = tf.linalg.qr(image, full_matrices=False)
print(q.shape, r.shape, tf.reduce_max(tf.abs(q @ r - image)).numpy() < 1e-5)
tf.linalg.lstsq(tf.transpose(image), tf.ones([6, 1]), l2_regularizer=0.1)

# %%
print(tf.linalg.band_part(matrix, 0, -1).numpy())
print(tf.linalg.diag([1.0, 2.0]).numpy(), tf.linalg.diag_part(matrix).numpy())
print(tf.linalg.set_diag(matrix, [0.0, 0.0, 0.0]).numpy())
(
    tf.linalg.matvec(matrix, [1.0, 2.0, 3.0]),
    tf.linalg.adjoint(matrix)[0],
    tf.linalg.eye(2),
)

# %%
tf.linalg.normalize([3.0, 4.0]), tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])

# %% Second derivatives, and Newton's step
x = tf.Variable([1.0, -2.0, 0.5])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = tf.tensordot(x, tf.linalg.matvec(matrix, x), 1) + tf.reduce_sum(x**4)
    gradient = inner.gradient(loss, x)
hessian = outer.jacobian(gradient, x)
print(hessian.numpy())
x.assign_sub(tf.linalg.matvec(tf.linalg.inv(hessian), gradient))
x.numpy()

# %%
points = tf.constant([[0.1, 0.2], [0.3, -0.4], [1.0, 0.0]])
layer = tf.constant([[1.0, 2.0], [-1.0, 0.5]])
with tf.GradientTape() as tape:
    tape.watch(points)
    out = tf.nn.elu(points @ layer)
tape.batch_jacobian(out, points)

# %%
with tf.GradientTape() as tape:
    tape.watch(tone)
    power = tf.reduce_sum(tf.square(tf.abs(tf.signal.rfft(tone))))
tape.gradient(power, tone)[:3]
