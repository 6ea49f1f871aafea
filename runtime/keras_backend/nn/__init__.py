"""The functions of ``keras.ops`` for neural networks."""

from __future__ import annotations

from runtime.keras_backend.nn.activations import *
from runtime.keras_backend.nn.attention import *
from runtime.keras_backend.nn.convolutions import *
from runtime.keras_backend.nn.ctc import *
from runtime.keras_backend.nn.losses import *
from runtime.keras_backend.nn.pooling import *
