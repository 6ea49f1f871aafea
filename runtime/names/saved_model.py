"""``tf.saved_model``: models as data, which run without their program.

See docs/saving.md, which specifies the format.
"""

from runtime.files.saved_model.assets import Asset as Asset
from runtime.files.saved_model.load import (
    contains_saved_model as contains_saved_model,
    load as load,
)
from runtime.files.saved_model.save import DEFAULT_SIGNATURE as _DEFAULT, save as save

DEFAULT_SERVING_SIGNATURE_DEF_KEY = _DEFAULT
