"""Which ops compilers know, which are written in others, and which stay in Python.

Gradients and compilers have a rule for each primitive: a new op is written in others,
or added to a list here and to their rules.
"""

from __future__ import annotations

import runtime as tf
from runtime.core.graph import record
from runtime.passes.lowering.lower import kind_of
from tests.runtime.ops.arrays import test_decompositions as arrays
from tests.runtime.ops.containers import test_decompositions as containers
from tests.runtime.ops.elementwise import test_decompositions as elementwise
from tests.runtime.ops.reduce import test_decompositions as reductions
from tests.runtime.ops.variables import test_decompositions as state

PRIMITIVES = """
Neg Abs Sign Exp Expm1 Log Log1p Sqrt Rsqrt Sin Cos Tan Sinh Cosh Tanh Asin Acos Atan
Asinh Acosh Atanh Floor Ceil Rint Erf Erfc Erfinv Lgamma Digamma Invert LogicalNot
IsFinite AddV2 Sub Mul RealDiv FloorDiv FloorMod TruncateDiv TruncateMod Pow Atan2
Maximum Minimum NextAfter Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd
LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift SelectV2 Cast Complex
Real Imag Conj

Const Reshape BroadcastTo Transpose StridedSlice ConcatV2 PadV2 ReverseV2 GatherV2
GatherNd ScatterNd TensorScatterAdd TensorScatterUpdate TensorScatterMax
TensorScatterMin Range Bitcast Shape Identity StopGradient

Sum Prod Max Min Any All ArgMax ArgMin MatMul BatchMatMulV2 Cumsum Cumprod
CumulativeLogsumexp Sort
ArgSort TopKV2 Where UniqueWithCounts SearchSorted

Convolution ConvolutionBackpropInput ConvolutionBackpropFilter MaxPool AvgPool

Cholesky MatrixSolve MatrixTriangularSolve Qr Svd SelfAdjointEigV2 LogMatrixDeterminant
Eig FFT Lu MatrixExponential

StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessRandomNormalV2
StatelessRandomGammaV3 StatelessRandomPoisson StatelessRandomBinomial RngReadAndSkip
RngReadState RngSetState RandomUniform RandomUniformInt RandomStandardNormal RandomGamma
RandomPoissonV2 StatefulRandomBinomial TruncatedNormal StatelessTruncatedNormalV2
RandomShuffle StatelessShuffle

ReadVariableOp AssignVariableOp TensorArrayV3 TensorArrayGrowV3 TensorArrayWriteV3
TensorArrayReadV3 ListAppend ListSet ListGet ListInsert ListDelete ListExtend Assert
Raise RequireBound RequireSome CheckNumericsV2 EnsureShape AssertShape CastExactly
ListFind ListPlace ListSetRows
"""

HOST = """
AsString AskText CandidateSampler CheckedMathFunction DatasetCardinality
DatasetToSingleElement DecodeBase64 DecodeBmp DecodeCSV DecodeGif DecodeImage
DecodeJSONExample DecodeJpeg DecodePng DecodeRaw DecodeWav EagerPyFunc EncodeBase64
EncodeJpeg EncodePng EncodeWav FormatText IteratorGetNext IteratorHandle IteratorHasNext
LookupTableExportV2 LookupTableFindV2 LookupTableInsertV2 LookupTableRemoveV2
LookupTableSizeV2 MakeDataset MakeIterator MatchingFiles MathFunction MatrixLogarithm
MatrixSquareRoot NonMaxSuppressionV3 ParseExampleV2 ParseSequenceExampleV2 ParseTensor
PowerModulo PrintText PrintV2 PyFunc PyFuncStateless PythonFloat PythonInt ReadFile
ReduceDataset ReduceJoin ResourceCountUpTo ResourceScatterDiv RoundDigits
SerializeTensor SparseCrossHashed StaticRegexFullMatch StaticRegexReplace
StringBytesSplit StringFormat StringJoin StringLength StringLower StringLowerUtf8
StringNGrams StringSplitPadded StringSplitV2 StringStrip StringToHashBucketFast
StringToHashBucketStrong StringToNumber StringUpper StringUpperUtf8 Substr TextContains
TextItem TextOrder TextPlace UnicodeDecode UnicodeEncode UnicodeSplit UnicodeTranscode
UnsortedSegmentJoin WriteFile
"""

#: Composites with a test of their own in `test_state`.
DRAWN_OR_CHECKED = {"AssertRelation", "Multinomial", "StatelessMultinomial"}


assert tf.data  # for its ops
assert tf.image
assert tf.io
assert tf.lookup
assert tf.signal


def of_kind(kind: str) -> set[str]:
    return {name for name in record.names() if kind_of(name) == kind}


def test_each_op_is_known_as_a_primitive_or_host_op_or_has_a_decomposition() -> None:
    assert of_kind("primitive") == set(PRIMITIVES.split())
    assert of_kind("host") == set(HOST.split())
    for name in of_kind("composite"):
        assert record.get(name).decomposition is not None


def test_each_composite_is_run_both_ways() -> None:
    tables = (arrays.cases, containers.cases, elementwise.cases, reductions.cases)
    tested = {case.op for table in tables for case in table()}
    tested |= {update.op for update in state.updates()}

    tested -= of_kind("primitive")
    assert of_kind("composite") == tested | DRAWN_OR_CHECKED
