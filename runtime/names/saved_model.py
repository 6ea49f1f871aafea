"""``tf.saved_model``: models as data, which run without their program.

See docs/saving.md, which specifies the format.
"""

from runtime.core.types.options import unused as _unused
from runtime.files.saved_model.assets import Asset as Asset
from runtime.files.saved_model.load import (
    contains_saved_model as contains_saved_model,
    load as load,
)
from runtime.files.saved_model.save import DEFAULT_SIGNATURE as _DEFAULT, save as save

SaveOptions = _unused("SaveOptions")
LoadOptions = _unused("LoadOptions")
#: TensorFlow's constants, for programs that name them. The files here are of another
#: format, which docs/saving.md describes.
SERVING = "serve"
TRAINING = "train"
GPU = "gpu"
TPU = "tpu"
ASSETS_DIRECTORY = "assets"
ASSETS_KEY = "saved_model_assets"
CLASSIFY_INPUTS = PREDICT_INPUTS = REGRESS_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = REGRESS_OUTPUTS = "outputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
VARIABLES_DIRECTORY = VARIABLES_FILENAME = "variables"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = _DEFAULT
