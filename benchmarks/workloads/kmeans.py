"""One step of k-means: the nearest centre of each point, and the centres of those."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (5000, 16, 10), "tiny": (20, 3, 2)}


def inputs(random, points, width, centres):
    x = random.standard_normal((points, width), np.float32)
    return x, x[:centres].copy()


def numpy(np):
    def step(x, centres):
        distances = np.sum(centres * centres, 1) - 2 * (x @ centres.T)
        nearest = np.argmin(distances, 1)
        chosen = np.eye(len(centres), dtype=np.float32)[nearest]
        return chosen.T @ x / chosen.sum(0)[:, None]

    return step


def tensorflow(tf):
    def step(x, centres):
        products = tf.matmul(x, centres, transpose_b=True)
        distances = tf.reduce_sum(centres * centres, 1) - 2 * products
        nearest = tf.argmin(distances, 1)
        chosen = tf.one_hot(nearest, centres.shape[0])
        sums = tf.matmul(chosen, x, transpose_a=True)
        return sums / tf.reduce_sum(chosen, 0)[:, tf.newaxis]

    return step


def jax(jax):
    def step(x, centres):
        distances = (centres * centres).sum(1) - 2 * (x @ centres.T)
        chosen = jax.nn.one_hot(distances.argmin(1), len(centres))
        return chosen.T @ x / chosen.sum(0)[:, None]

    return step


def torch(torch):
    def step(x, centres):
        distances = (centres * centres).sum(1) - 2 * (x @ centres.T)
        nearest = distances.argmin(1)
        chosen = torch.nn.functional.one_hot(nearest, len(centres)).float()
        return chosen.T @ x / chosen.sum(0)[:, None]

    return step


def numba(numba):
    def step(x, centres):
        sums, counts = np.zeros_like(centres), np.zeros(len(centres), np.float32)
        for i in range(len(x)):
            nearest, least = 0, np.float32(np.inf)
            for j in range(len(centres)):
                distance = np.float32(0)
                for k in range(x.shape[1]):
                    distance += (x[i, k] - centres[j, k]) ** 2
                if distance < least:
                    nearest, least = j, distance
            sums[nearest] += x[i]
            counts[nearest] += 1
        return sums / counts.reshape(-1, 1)

    return step


def work(points, width, centres):
    """The arithmetic of distances, and the bytes that are read."""
    return 2 * points * width * centres, 4 * points * width


def c(c):
    run = c.function("kmeans", "step")

    def step(x, centres):
        sums, counts = np.zeros_like(centres), np.zeros(len(centres), np.float32)
        run(x, centres, sums, counts, *x.shape, len(centres))
        return sums

    return step
