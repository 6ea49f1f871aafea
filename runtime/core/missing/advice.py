"""Names of TensorFlow that this library has not, and what to use in their place.

TABLE says what to do, by namespace and name; several names may share a line.
"""

from __future__ import annotations

_INITIALIZERS = "tf.keras.initializers has it, and tf.random and tf.zeros do it"
_SESSIONS = "there are no sessions; call functions, or tf.function for a graph"
_OTHER_FORMATS = (
    "graphs run here; tf.saved_model.save and Graph.as_graph_def() give them as data"
)
_ONE_MACHINE = "one process computes on one machine"
_CLUSTER = "tf.distribute and tf.experimental.dtensor connect processes"
_EXTENSIONS = (
    "there are no extension types: a tuple, dict or dataclass of tensors is taken "
    "apart and packed again wherever a tensor may stand"
)
_ONE_PROGRAM = "all processes run one program, on copies or on parts of the data"
_CPU = "there are CPUs alone"
_FAST_CONVOLUTIONS = "tf.GradientTape gives the gradients of a convolution"
_QUANTIZED = "there are no quantized types; compute with floats or integers"
_NARROW = "the narrowest types are int8, uint8 and float16"
_PICTURES = (
    "Pillow reads such files and parts of them into NumPy arrays, in a data set or a "
    "graph by tf.numpy_function"
)
_QUALITY = (
    "tf.io.encode_jpeg with a quality, and tf.io.decode_jpeg of what it gives, do it"
)
_BEST = "tf.image.non_max_suppression gives the numbers of the best boxes"
_DISTORTED = (
    "draw a box with tf.random.uniform, and cut it out with tf.image.crop_and_resize"
)
_FILES = "use Python: open, os, shutil, glob and pathlib"
_CANDIDATES = "see tf.random.log_uniform_candidate_sampler"
_SPECIAL = "scipy.special has it, in a graph by tf.numpy_function"
_OPERATORS = "write the product as a function of tensors: tf.linalg.matmul and the like"
_SPARSE = (
    "there are no sparse tensors. Use a dense one (tf.scatter_nd(indices, values, "
    "shape) makes it of the same parts), or keep indices and values and take what is "
    "needed with tf.gather and tf.math.unsorted_segment_sum"
)
_RAGGED = (
    "there are no ragged tensors, all rows of a tensor have one length. Pad the rows "
    "and keep a mask (tf.sequence_mask(lengths), tf.boolean_mask(x, mask)), or keep a "
    "Python list of tensors"
)
_OPTIONS = "there is nothing to choose; leave it out"
_SPECS = "tf.TensorSpec, tf.data.DatasetSpec and structures of them are specs"
_NOT_DATA = "the elements pass through one process, so there is nothing to set"
_TEST = "use unittest or pytest, and np.testing.assert_allclose"
_FOURIER = (
    "tf.signal has the transforms along the last axes: fft to fft3d, rfft to rfft3d"
)
_BLOCKS = "tf.reshape and tf.transpose do it"

_TOP: dict[str, str] = {
    "ragged": _RAGGED,
    "sparse": _SPARSE,
    "Session InteractiveSession": _SESSIONS,
    "placeholder": "arguments of a tf.function are what placeholders were",
    "global_variables_initializer": "variables have their values when they are made",
    "RegisterGradient": "tf.custom_gradient gives a function its gradient",
    "no_gradient": "tf.stop_gradient ends gradients",
    "raw_ops": "the public functions are what there is",
    "dtensor": "see tf.experimental.dtensor",
    "tpu": _CPU,
    "mlir": "print(graph) and concrete.to_source() show each stage",
    "lite": _OTHER_FORMATS,
    "layers": "see tf.keras.layers",
    "estimator": "tf.keras models have fit, evaluate and predict",
    "feature_column": "see the preprocessing layers of tf.keras.layers",
    "queue": "tf.data has pipelines with threads",
    "sets": "Python's sets work in graphs",
    "TypeSpec": "tf.TensorSpec, tf.data.DatasetSpec and structures of them are specs",
    "variable_creator_scope": "make variables by a function of yours",
    "guarantee_const": "what a function captures is constant already",
    "load_library load_op_library": (
        "ops are written in Python; tf.py_function calls any code"
    ),
    "AggregationMethod": "gradients are added up, which is all that there is",
    "CriticalSection": (
        "a lock of threading does it outside of graphs; a graph runs in order"
    ),
    "IndexedSlicesSpec NoneTensorSpec OptionalSpec TensorArraySpec": _SPECS,
    "approx_top_k": "tf.math.top_k is exact",
    "space_to_batch_nd": "see tf.space_to_batch",
    "realdiv": "see tf.math.truediv",
    "broadcast_dynamic_shape": (
        "tf.shape(x + y) gives it; tf.broadcast_static_shape is for known ones"
    ),
    "check_pinned": "nothing is pinned",
    "conv": "see tf.nn.convolution",
    "conv2d_backprop_filter_v2 conv2d_backprop_input_v2": _FAST_CONVOLUTIONS,
    "edit_distance": "write it as a loop over two lists, which a graph can run",
    "extract_volume_patches": "tf.keras.ops.image.extract_patches_3d does it",
    "fftnd ifftnd irfftnd rfftnd": _FOURIER,
    "fingerprint": "hashlib does it, in a graph tf.strings.to_hash_bucket_fast",
    "graph_util import_graph_def": (
        "graphs come from functions: tf.function, and tf.saved_model.load"
    ),
    "make_ndarray make_tensor_proto": (
        "x.numpy() and tf.constant(array) do it without protos"
    ),
    "matrix_square_root": "see tf.linalg.sqrtm",
    "nondifferentiable_batch_function": _ONE_MACHINE,
    "qint8 qint16 qint32 quint8 quint16 quantization": _QUANTIZED,
    "ragged_fill_empty_rows ragged_fill_empty_rows_grad": _RAGGED,
    "random_index_shuffle": "tf.random.shuffle(tf.range(n)) does it",
    "resource variant": "variables, lists and data sets have no dtype",
    "security sysconfig tools": "there is nothing compiled to ask about",
    "xla": "tf.function(jit_compile=True) compiles",
    "timestamp": "time.time() does it, in a graph by tf.py_function",
}

#: By namespace, then by name.
TABLE: dict[str, dict[str, str]] = {
    "tf": _TOP,
    "tf.autograph.experimental": {
        "Feature": "there is one set of features, and no choice",
    },
    "tf.config": {
        "experimental_connect_to_cluster experimental_connect_to_host": _CLUSTER,
    },
    "tf.config.experimental": {
        "ClusterDeviceFilters": _CLUSTER,
        (
            "disable_mlir_bridge enable_mlir_bridge get_device_policy set_device_policy"
        ): _OPTIONS,
        "enable_tensor_float_32_execution tensor_float_32_execution_enabled": (
            "products of float32 are computed in float32"
        ),
        "get_memory_usage": "see tf.config.experimental.get_memory_info",
        "reset_memory_stats": "the peak is that of the process",
    },
    "tf.data.experimental": {
        (
            "ServiceOptions copy_to_device distributed_save enable_debug_mode "
            "get_model_proto prefetch_to_device service to_variant from_variant"
        ): _NOT_DATA,
        "DatasetInitializer index_table_from_dataset table_from_dataset": (
            "a Python dict maps values eagerly, and in a graph keyed by tensors"
        ),
        "Reducer group_by_reducer": "see Dataset.group_by_window and Dataset.reduce",
        "SqlDataset": (
            "tf.data.Dataset.from_generator takes the rows of a sqlite3 cursor"
        ),
        "pad_to_cardinality": "see Dataset.concatenate and Dataset.repeat",
        "at": "ds.skip(i).get_single_element() after take(1) does it",
        "dense_to_ragged_batch": "see Dataset.padded_batch",
        "dense_to_sparse_batch": _SPARSE,
        "make_batched_features_dataset parse_example_dataset": (
            "batch a tf.data.TFRecordDataset and map tf.io.parse_example"
        ),
        "make_saveable_from_iterator": "tf.train.Checkpoint takes iterators",
        "map_and_batch": "see Dataset.map and Dataset.batch",
        "parallel_interleave": "see Dataset.interleave",
        "rejection_resample": "see Dataset.rejection_resample",
    },
    "tf.distribute": {
        "CrossDeviceOps InputReplicationMode": _OPTIONS,
        "ParameterServerStrategy Server TPUStrategy cluster_resolver coordinator": (
            _ONE_PROGRAM
        ),
        "DistributedIterator": "iter gives one of a tf.distribute.DistributedDataset",
        "StrategyExtended": "see tf.distribute.Strategy",
        "experimental_set_strategy": "use `with strategy.scope():`",
    },
    "tf.experimental": {
        (
            "BatchableExtensionType DynamicRaggedShape ExtensionType "
            "ExtensionTypeBatchEncoder ExtensionTypeSpec RowPartition "
            "StructuredTensor dispatch_for_api dispatch_for_binary_elementwise_apis "
            "dispatch_for_binary_elementwise_assert_apis "
            "dispatch_for_unary_elementwise_apis extension_type "
            "unregister_dispatch_for"
        ): _EXTENSIONS,
        (
            "float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz "
            "float8_e5m2 float8_e5m2fnuz int2 int4 uint2 uint4"
        ): _NARROW,
        "Optional": "see Iterator.get_next_as_optional",
        "async_clear_error async_scope function_executor_type": _OPTIONS,
        "dlpack": "np.from_dlpack and x.numpy() do it",
        "enable_strict_mode": _OPTIONS,
        "register_filesystem_plugin": _FILES,
        "tensorrt": _OTHER_FORMATS,
    },
    "tf.experimental.dtensor": {
        "DTensorCheckpoint name_based_restore name_based_save sharded_save": (
            "tf.train.Checkpoint saves what is divided over processes"
        ),
        "DTensorDataset": (
            "see tf.distribute.Strategy.experimental_distribute_dataset"
        ),
        (
            "initialize_multi_client initialize_tpu_system shutdown_tpu_system"
        ): "see tf.experimental.dtensor.initialize_accelerator_system",
        "default_mesh get_default_mesh run_on": (
            "functions run where the layouts of their arguments say"
        ),
        "check_layout": "compare tf.experimental.dtensor.fetch_layout with a layout",
        "create_tpu_mesh preferred_device_type is_tpu_present": (
            "see tf.experimental.dtensor.create_distributed_mesh"
        ),
        "enable_save_as_bf16 experimental_layout heartbeat_enabled": _OPTIONS,
        "full_job_name job_name jobs": "see tf.experimental.dtensor.client_id",
        "shutdown_accelerator_system": "it is shut down when the process ends",
    },
    "tf.debugging": {
        "experimental": (
            "tf.debugging.enable_check_numerics names the operation that gives "
            "no number"
        ),
    },
    "tf.dtypes": {
        "QUANTIZED_DTYPES qint8 qint16 qint32 quint8 quint16": _QUANTIZED,
        "experimental": _NARROW,
        "cast complex saturate_cast": (
            "tf has it: tf.cast, tf.complex, tf.saturate_cast"
        ),
    },
    "tf.image": {
        "decode_and_crop_jpeg decode_jxl decode_webp extract_jpeg_shape": _PICTURES,
        (
            "adjust_jpeg_quality random_jpeg_quality stateless_random_jpeg_quality"
        ): _QUALITY,
        (
            "combined_non_max_suppression generate_bounding_box_proposals "
            "non_max_suppression_overlaps non_max_suppression_padded "
            "non_max_suppression_with_scores"
        ): _BEST,
        (
            "sample_distorted_bounding_box stateless_sample_distorted_bounding_box"
        ): _DISTORTED,
        "extract_glimpse": "tf.image.crop_and_resize cuts boxes out",
        "ssim_multiscale": "tf.image.ssim compares at one scale",
    },
    "tf.signal": {
        "fftnd ifftnd irfftnd rfftnd": _FOURIER,
    },
    "tf.io": {
        "RaggedFeature SparseFeature": "tf.io.VarLenFeature gives padded values",
        "decode_proto encode_proto": (
            "messages of protobuf do it, in a graph by tf.py_function"
        ),
        "parse_sequence_example": (
            "map tf.io.parse_single_sequence_example, and then padded_batch"
        ),
        "decode_and_crop_jpeg decode_jxl decode_webp extract_jpeg_shape": _PICTURES,
        "decode_compressed": (
            "zlib and gzip do it; readers of tf.data take a compression_type"
        ),
        "deserialize_many_sparse serialize_many_sparse serialize_sparse": _SPARSE,
        "match_filenames_once": "see tf.io.matching_files",
        "write_graph": "str(graph.as_graph_def()) is the text",
    },
    "tf.io.gfile": {
        "get_registered_schemes": "fsspec.available_protocols() gives them",
    },
    "tf.linalg": {
        (
            "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag "
            "LinearOperatorBlockLowerTriangular LinearOperatorCirculant "
            "LinearOperatorCirculant2D LinearOperatorCirculant3D "
            "LinearOperatorComposition LinearOperatorDiag "
            "LinearOperatorFullMatrix LinearOperatorHouseholder "
            "LinearOperatorIdentity LinearOperatorInversion "
            "LinearOperatorKronecker LinearOperatorLowRankUpdate "
            "LinearOperatorLowerTriangular LinearOperatorPermutation "
            "LinearOperatorScaledIdentity LinearOperatorToeplitz "
            "LinearOperatorTridiag LinearOperatorZeros"
        ): _OPERATORS,
        "eigh_tridiagonal": "scipy.linalg has it, in a graph by tf.numpy_function",
        "experimental": "write the method of conjugate gradients as a loop",
    },
    "tf.lookup.experimental": {
        "DenseHashTable": "see tf.lookup.experimental.MutableHashTable",
    },
    "tf.math": {
        "approx_max_k approx_min_k": "tf.math.top_k is exact",
        (
            "bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc igamma igammac "
            "polygamma special zeta"
        ): _SPECIAL,
        "sobol_sample": "scipy.stats.qmc has it",
    },
    "tf.nn": {
        "RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper": (
            "see tf.keras.layers.RNN and its cells"
        ),
        (
            "all_candidate_sampler compute_accidental_hits "
            "fixed_unigram_candidate_sampler learned_unigram_candidate_sampler"
        ): _CANDIDATES,
        "approx_max_k approx_min_k": "tf.math.top_k is exact",
        "atrous_conv2d_transpose conv_transpose": (
            "see tf.nn.conv2d_transpose and tf.keras.ops.conv_transpose"
        ),
        "batch_norm_with_global_normalization": "see tf.nn.batch_normalization",
        "collapse_repeated ctc_beam_search_decoder ctc_greedy_decoder": (
            "see tf.keras.ops.ctc_decode"
        ),
        "ctc_unique_labels": "tf.nn.ctc_loss needs none: leave `unique` out",
        "depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input": (
            _FAST_CONVOLUTIONS
        ),
        "dilation2d erosion2d": "scipy.ndimage has it, in a graph by tf.numpy_function",
        "embedding_lookup_sparse safe_embedding_lookup_sparse": _SPARSE,
        "experimental": "tf.nn.dropout takes a seed",
        "fractional_avg_pool fractional_max_pool": (
            "see tf.nn.avg_pool, tf.nn.max_pool and tf.keras.ops.adaptive_max_pool"
        ),
        "isotonic_regression": "scikit-learn has it",
        "with_space_to_batch": _BLOCKS,
    },
    "tf.random": {
        (
            "all_candidate_sampler fixed_unigram_candidate_sampler "
            "learned_unigram_candidate_sampler"
        ): _CANDIDATES,
        "stateless_parameterized_truncated_normal": (
            "see tf.random.stateless_truncated_normal"
        ),
    },
    "tf.random.experimental": {
        "index_shuffle": "tf.random.shuffle(tf.range(n)) does it",
    },
    "tf.saved_model": {
        "experimental": _OPTIONS,
    },
    "tf.strings": {
        "ngrams": _RAGGED,
        "unicode_decode_with_offsets unicode_split_with_offsets": (
            "cumulative sums of the tf.strings.length of the characters that "
            "tf.strings.unicode_split gives are their offsets"
        ),
        "to_hash_bucket": "see tf.strings.to_hash_bucket_fast",
        "unicode_script": "the module unicodedata knows characters",
    },
    "tf.summary": {
        "audio": "there is nothing for sound",
    },
    "tf.summary.experimental": {
        "write_raw_pb": "tf.summary.write takes tensors",
    },
    "tf.test": {
        (
            "Benchmark assert_equal_graph_def benchmark_config "
            "create_local_cluster disable_with_predicate experimental "
            "with_eager_op_as_function"
        ): _TEST,
        "is_cpu_target_available": "platform.machine() gives the kind of processor",
    },
    "tf.train": {
        "CheckpointView TrackableView": (
            "see tf.train.load_checkpoint and tf.train.list_variables"
        ),
        "ClusterDef ClusterSpec JobDef ServerDef Coordinator": _CLUSTER,
        "checkpoints_iterator": "tf.train.latest_checkpoint gives the newest",
        "experimental": "tf.train.Checkpoint takes variables, modules and iterators",
    },
    "tf.types.experimental": {
        "AtomicFunction FunctionType SupportsTracingProtocol TraceType distributed": (
            "the classes of arguments are not asked how to trace them: see "
            "tf.TensorSpec, and tuples, dicts and dataclasses of tensors"
        ),
    },
    "tf.profiler.experimental": {
        "client server": "the profiler is Python's, of this process",
    },
    "tf.distribute.experimental": {
        "ParameterServerStrategy TPUStrategy coordinator partitioners rpc": (
            _ONE_PROGRAM
        ),
        (
            "CollectiveCommunication CollectiveHints PreemptionCheckpointHandler "
            "PreemptionWatcher TerminationConfig"
        ): _OPTIONS,
    },
    "tf.version": {
        (
            "COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION "
            "GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER"
        ): "there is tf.version.VERSION",
    },
    "tf.compat": {
        "bytes_or_text_types complex_types integral_types real_types": (
            "isinstance takes str, bytes and the classes of the module numbers"
        ),
        "dimension_at_index dimension_value": "dimensions are ints, or None",
        "forward_compatibility_horizon forward_compatible path_to_str": (
            "there is nothing to be compatible with; use os.fspath for paths"
        ),
    },
    "tf.compat.v1": {
        "glorot_normal_initializer zeros_initializer "
        "ones_initializer constant_initializer truncated_normal_initializer "
        "random_normal_initializer random_uniform_initializer initializers "
        "orthogonal_initializer variance_scaling_initializer "
        "uniform_unit_scaling_initializer": _INITIALIZERS,
        (
            "Session InteractiveSession ConfigProto GPUOptions GraphOptions "
            "OptimizerOptions RunMetadata RunOptions SessionLog "
            "get_default_session get_session_handle get_session_tensor "
            "delete_session_tensor"
        ): _SESSIONS,
        "placeholder placeholder_with_default sparse_placeholder": (
            "arguments of a tf.function are what placeholders were"
        ),
        (
            "global_variables_initializer local_variables_initializer "
            "variables_initializer initialize_all_variables "
            "initialize_local_variables initialize_variables "
            "report_uninitialized_variables is_variable_initialized "
            "assert_variables_initialized tables_initializer "
            "initialize_all_tables"
        ): "variables have their values when they are made",
        (
            "get_variable variable_scope get_variable_scope VariableScope "
            "variable_op_scope get_local_variable AUTO_REUSE "
            "variable_axis_size_partitioner fixed_size_partitioner "
            "min_max_variable_partitioner create_partitioned_variables "
            "no_regularizer variable_creator_scope"
        ): "keep a tf.Variable as an attribute of a tf.Module or of an object",
        "wrap_function": (
            "tf.function traces a function once for each kind of arguments"
        ),
        (
            "all_variables global_variables local_variables model_variables "
            "moving_average_variables trainable_variables"
        ): "a tf.Module has variables and trainable_variables",
        (
            "enable_eager_execution enable_v2_behavior enable_v2_tensorshape "
            "enable_resource_variables enable_tensor_equality "
            "enable_control_flow_v2"
        ): "it is on, always",
        (
            "disable_eager_execution disable_v2_behavior disable_v2_tensorshape "
            "disable_resource_variables disable_tensor_equality "
            "disable_control_flow_v2"
        ): "it cannot be had: this is TensorFlow 2 alone",
        "get_default_graph reset_default_graph": (
            "make a tf.Graph, and enter it with graph.as_default()"
        ),
        "Print": "see tf.print",
        (
            "decode_base64 decode_csv decode_raw encode_base64 matching_files "
            "read_file write_file parse_example parse_single_example parse_tensor "
            "serialize_tensor decode_json_example FixedLenFeature VarLenFeature "
            "FixedLenSequenceFeature parse_single_sequence_example"
        ): "tf.io has it",
        "app flags": "use argparse",
        "gfile": "tf.io.gfile has its functions, with names in small letters",
        "layers": "see tf.keras.layers",
        "arg_max arg_min": "tf.argmax and tf.argmin do",
        "div floor_div": "tf.math.floordiv and tf.math.truediv do, and // and /",
        "div_no_nan": "tf.math.divide_no_nan does",
        "lin_space": "tf.linspace does",
        "multinomial": "tf.random.categorical does",
        "set_random_seed get_seed": "tf.random.set_seed does",
        "where_v2": "tf.where does",
        "reverse_v2": "tf.reverse does",
        "to_bfloat16 to_complex64 to_complex128": "tf.cast does",
        "self_adjoint_eig self_adjoint_eigvals": (
            "tf.linalg.eigh and tf.linalg.eigvalsh do"
        ),
        "matrix_determinant matrix_inverse": "tf.linalg.det and tf.linalg.inv do",
        "tensor_scatter_add tensor_scatter_sub tensor_scatter_update": (
            "tf.tensor_scatter_nd_add and the like do"
        ),
        "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_sub "
        "scatter_update scatter_nd_add scatter_nd_sub scatter_nd_update "
        "batch_scatter_update": "variables have methods of these names",
        "count_up_to": "variables have this method",
        "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue "
        "FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader "
        "TextLineReader WholeFileReader python_io": "tf.data has readers and pipelines",
        "add_to_collection add_to_collections get_collection get_collection_ref "
        "GraphKeys container colocate_with": "keep what belongs together in objects",
        "Summary SummaryMetadata HistogramProto Event LogMessage": "see tf.summary",
        "NoGradient NotDifferentiable": "tf.stop_gradient ends gradients",
        "Dimension": "dimensions are ints, or None",
        "AttrValue GraphDef MetaGraphDef NameAttrList NodeDef TensorInfo": (
            "Graph.as_graph_def() gives objects like these"
        ),
        "make_template op_scope": "a function or a tf.Module does it",
        "ConditionalAccumulator ConditionalAccumulatorBase "
        "SparseConditionalAccumulator": "add gradients up in a tf.Variable",
    },
}


def advice_for(space: str, name: str) -> str | None:
    """What to use in the place of a name of a namespace; None if that is not known."""
    for names, text in TABLE.get(space, {}).items():
        if name in names.split():
            return text
    return None
