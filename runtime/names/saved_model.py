"""``tf.saved_model``: models as data, which run without their program.

See docs/saving.md, which specifies the format.
"""

from __future__ import annotations

from runtime.files.saved_model.assets import Asset
from runtime.files.saved_model.load import contains_saved_model, load
from runtime.files.saved_model.save import DEFAULT_SIGNATURE, save

__all__ = [
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "Asset",
    "contains_saved_model",
    "load",
    "save",
]

DEFAULT_SERVING_SIGNATURE_DEF_KEY = DEFAULT_SIGNATURE
