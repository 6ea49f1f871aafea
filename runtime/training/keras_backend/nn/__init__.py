"""The functions of ``keras.ops`` for neural networks."""

from __future__ import annotations

import math
from typing import Any

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of
from runtime.training.keras_backend.nn.activations import *
from runtime.training.keras_backend.nn.convolutions import *
from runtime.training.keras_backend.nn.ctc import *
from runtime.training.keras_backend.nn.losses import *
from runtime.training.keras_backend.promotion import common_dtype, together


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Any:
    if flash_attention:
        raise ValueError("Flash attention is not supported by this backend.")
    query, key, value = together(*map(convert_to_tensor, (query, key, value)))
    if len(query.shape) != 4:
        raise ValueError(
            "`dot_product_attention` only supports 4D inputs. Received: "
            f"query.shape={tuple(query.shape)}, key.shape={tuple(key.shape)}, "
            f"value.shape={tuple(value.shape)}."
        )
    # Several heads of queries may share one of keys and values.
    groups = query.shape[2] // key.shape[2]
    if groups > 1:
        key, value = tf.repeat(key, groups, axis=2), tf.repeat(value, groups, axis=2)
    factor = 1 / math.sqrt(key.shape[-1]) if scale is None else scale
    logits = tf.einsum("btnh,bsnh->bnts", query, key)
    logits = tf.cast(logits, common_dtype(query, "float32"))
    logits = logits * tf.cast(factor, logits.dtype)
    if attn_logits_soft_cap is not None:
        logits = attn_logits_soft_cap * tf.tanh(logits / attn_logits_soft_cap)
    if bias is not None:
        logits = logits + tf.cast(convert_to_tensor(bias), logits.dtype)
    allowed = None if mask is None else convert_to_tensor(mask, "bool")
    if is_causal:
        rows, columns = shape_of(logits)[-2:]
        lower = tf.range(columns)[None, :] <= tf.range(rows)[:, None]
        allowed = lower if allowed is None else allowed & lower
    if allowed is not None:
        least = tf.cast(-0.7 * 3.38953e38, logits.dtype)
        logits = tf.where(allowed, logits, least)
    weights = tf.cast(tf.nn.softmax(logits), value.dtype)
    return tf.einsum("bnts,bsnh->btnh", weights, value)
