"""``tf.random``: random tensors, from running streams or as functions of a seed."""

from runtime.ops.random.generator import Algorithm as Algorithm
from runtime.ops.random.generator import Generator as Generator
from runtime.ops.random.generator import create_rng_state as create_rng_state
from runtime.ops.random.generator import get_global_generator as get_global_generator
from runtime.ops.random.generator import set_global_generator as set_global_generator
from runtime.ops.random.state import set_seed as set_seed
from runtime.ops.random.stateless import fold_in as fold_in
from runtime.ops.random.stateless import split as split
from runtime.ops.random.stateless import stateless_binomial as stateless_binomial
from runtime.ops.random.stateless import stateless_categorical as stateless_categorical
from runtime.ops.random.stateless import stateless_gamma as stateless_gamma
from runtime.ops.random.stateless import stateless_normal as stateless_normal
from runtime.ops.random.stateless import stateless_poisson as stateless_poisson
from runtime.ops.random.stateless import stateless_shuffle as stateless_shuffle
from runtime.ops.random.stateless import (
    stateless_truncated_normal as stateless_truncated_normal,
)
from runtime.ops.random.stateless import stateless_uniform as stateless_uniform
from runtime.ops.random.streams import categorical as categorical
from runtime.ops.random.streams import gamma as gamma
from runtime.ops.random.streams import normal as normal
from runtime.ops.random.streams import poisson as poisson
from runtime.ops.random.streams import shuffle as shuffle
from runtime.ops.random.streams import truncated_normal as truncated_normal
from runtime.ops.random.streams import uniform as uniform


class experimental:  # noqa: N801
    """The same under the names that TensorFlow gave them first."""

    Generator = Generator
    create_rng_state = staticmethod(create_rng_state)
    get_global_generator = staticmethod(get_global_generator)
    set_global_generator = staticmethod(set_global_generator)
    stateless_fold_in = staticmethod(fold_in)
    stateless_shuffle = staticmethod(stateless_shuffle)
    stateless_split = staticmethod(split)
