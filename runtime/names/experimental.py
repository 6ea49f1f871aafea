"""``tf.experimental``: tensors that are divided over many devices."""

from runtime.core.missing import advise as _advise
from runtime.training.distribute import dtensor as dtensor

_advise(dtensor, "tf.experimental.dtensor")
