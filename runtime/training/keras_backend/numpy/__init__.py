"""The functions of ``keras.ops`` that are named as in NumPy."""

from __future__ import annotations

from runtime.training.keras_backend.numpy.arrays import *
from runtime.training.keras_backend.numpy.creation import *
from runtime.training.keras_backend.numpy.elementwise import *
from runtime.training.keras_backend.numpy.ordering import *
from runtime.training.keras_backend.numpy.products import *
from runtime.training.keras_backend.numpy.reductions import *
