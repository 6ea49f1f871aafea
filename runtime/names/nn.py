"""``tf.nn``: activations, convolutions, pooling, losses, what networks are made of."""

from runtime.ops.arrays.regrouping import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from runtime.ops.arrays.sorting import in_top_k as in_top_k, top_k as top_k
from runtime.ops.elementwise.functions import (
    log_sigmoid as log_sigmoid,
    sigmoid as sigmoid,
    softplus as softplus,
    softsign as softsign,
)
from runtime.ops.nn.activations import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    crelu as crelu,
    dropout as dropout,
    elu as elu,
    embedding_lookup as embedding_lookup,
    gelu as gelu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    silu as silu,
    swish as swish,
    tanh as tanh,
)
from runtime.ops.nn.convolutions import (
    atrous_conv2d as atrous_conv2d,
    conv1d as conv1d,
    conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)
from runtime.ops.nn.losses import (
    l2_loss as l2_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,  # noqa: E501
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from runtime.ops.nn.moments import (
    local_response_normalization as local_response_normalization,
    log_poisson_loss as log_poisson_loss,
    lrn as lrn,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from runtime.ops.nn.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from runtime.ops.nn.sampled_losses import (
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from runtime.ops.nn.softmax import log_softmax as log_softmax, softmax as softmax
from runtime.ops.reduce.statistics import (
    l2_normalize as l2_normalize,
    moments as moments,
    zero_fraction as zero_fraction,
)
from runtime.staging.control_flow.ctc import ctc_loss as ctc_loss
from runtime.training.distribute.losses import (
    compute_average_loss as compute_average_loss,
    scale_regularization_loss as scale_regularization_loss,
)
