# The gradient of a loop | slope(0.2, 3.0)
import runtime as tf


def settle(rate, x):
    """Newton-like steps towards the square root of two."""
    total, steps = 0.0, 0
    while True:
        step = rate * (x * x - 2.0)
        if abs(step) < 1e-6:
            break
        x -= step
        total += x
        steps += 1
    return total / steps


def slope(rate, start):
    with tf.GradientTape() as tape:
        tape.watch(rate)
        mean = settle(rate, start)
    return mean, tape.gradient(mean, rate)
