"""``tf.test``: what tests of programs ask."""

from runtime.autodiff.check import compute_gradient as compute_gradient
