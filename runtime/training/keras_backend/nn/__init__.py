"""The functions of ``keras.ops`` for neural networks."""

from __future__ import annotations

from runtime.training.keras_backend.nn.activations import *
from runtime.training.keras_backend.nn.attention import *
from runtime.training.keras_backend.nn.convolutions import *
from runtime.training.keras_backend.nn.ctc import *
from runtime.training.keras_backend.nn.losses import *
