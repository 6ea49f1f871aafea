"""Operations on the bits of integers: ``tf.bitwise``."""

from runtime.ops.elementwise.logical import bitwise_and as bitwise_and
from runtime.ops.elementwise.logical import bitwise_or as bitwise_or
from runtime.ops.elementwise.logical import bitwise_xor as bitwise_xor
from runtime.ops.elementwise.logical import invert as invert
from runtime.ops.elementwise.logical import left_shift as left_shift
from runtime.ops.elementwise.logical import right_shift as right_shift
