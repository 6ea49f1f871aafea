"""The exceptions of the runtime, under TensorFlow's names.

Two families. `OpError` and its children say that an operation could not be computed:
``InvalidArgumentError`` for shapes, dtypes or values that do not fit, and so on through
TensorFlow's list. `SymbolicTensorError` says that Python asked a tensor for its value
while a function was being traced, when it has none yet.

Every class carries a stable ``code`` (``AG3xx``) that ``docs/errors.md`` explains.
"""

from __future__ import annotations

import dis
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any

__all__ = [
    "ABORTED", "ALREADY_EXISTS", "CANCELLED", "DATA_LOSS", "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION", "INTERNAL", "INVALID_ARGUMENT", "NOT_FOUND", "OK",
    "OUT_OF_RANGE", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED",
    "UNAVAILABLE", "UNIMPLEMENTED", "UNKNOWN", "AbortedError", "AlreadyExistsError",
    "CancelledError", "CompilationWarning", "ConversionError", "DTypeMismatchError",
    "DataLossError", "DeadlineExceededError", "EndlessRecursionError",
    "FailedPreconditionError", "GradientError", "ImmutableTensorError",
    "InaccessibleTensorError", "IntegerRangeError", "InternalError",
    "InvalidArgumentError", "NotFoundError", "OpError",
    "OperatorNotAllowedInGraphError", "OutOfRangeError", "PermissionDeniedError",
    "ResourceExhaustedError", "RetracingWarning", "StagedStateError",
    "SymbolicTensorError", "TensorMethodError", "TracedArgumentError", "TracingError",
    "TracingWarning", "UnauthenticatedError", "UnavailableError",
    "UnhashableTensorError", "UnimplementedError", "UnknownError", "UnknownResultError",
    "UnsavableError", "WaitingThreadsError", "ends_trace", "is_python_limit",
    "is_raised", "note", "noted", "noting",
]  # fmt: skip

# --- Errors about staging that were raised: a program must not swallow them

_noted: ContextVar[list[Exception] | None] = ContextVar("noted errors", default=None)


@contextmanager
def noting() -> Iterator[list[Exception]]:
    """Collects the errors about staging that are raised within the block."""
    errors: list[Exception] = []
    token = _noted.set(errors)
    try:
        yield errors
    finally:
        _noted.reset(token)


def noted() -> list[Exception]:
    """The errors that have been noted so far."""
    return _noted.get() or []


def note(error: Exception) -> None:
    """Note an error about staging, which the program must not swallow."""
    errors = _noted.get()
    if errors is not None:
        errors.append(error)


_PACKAGES = frozenset({"autograph", "runtime"})
_FOLDER = os.path.join(os.path.abspath(__file__).rsplit(os.sep, 2)[0], "")

#: The kinds of errors of operations, by TensorFlow's names and numbers.
OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An operation could not be computed.

    TensorFlow's constructor takes a node, an op, a message and the number of the kind;
    one argument alone is the message. ``op`` is the name of the op and ``node_def`` the
    node of a graph: the runtime fills them in where they are known. ``error_code`` is
    one of the constants of this module, such as ``INVALID_ARGUMENT``.

    >>> error = InvalidArgumentError("the axis 3 is out of range")
    >>> error.for_op("Sum").message
    'cannot compute Sum: the axis 3 is out of range [Op:Sum]'
    """

    code = "AG350"
    error_code = UNKNOWN

    def __init__(
        self,
        node_def: Any = None,
        op: Any = None,
        message: str | None = None,
        error_code: int | None = None,
    ) -> None:
        if message is None:
            node_def, message = None, "" if node_def is None else str(node_def)
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        if error_code is not None:
            self.error_code = error_code

    @property
    def message(self) -> str:
        """What went wrong, as ``str(error)`` prints it."""
        return str(self)

    def for_op(self, op: str) -> OpError:
        """The error with the name of the op in its message; once named it stays."""
        if self.op is None:
            self.op = op
            if not str(self).startswith("AG"):  # it names what the program does
                self.args = (f"cannot compute {op}: {self} [Op:{op}]",)
        return self


class CancelledError(OpError):
    """The operation was cancelled before it finished."""

    code, error_code = "AG351", CANCELLED


class UnknownError(OpError):
    """The cause is not known."""

    code, error_code = "AG352", UNKNOWN


class InvalidArgumentError(OpError):
    """The shapes, dtypes or values given to an operation do not fit it."""

    code, error_code = "AG310", INVALID_ARGUMENT


class IntegerRangeError(InvalidArgumentError):
    """A Python integer of a graph does not fit the dtype that it is to have."""

    code = "AG216"

    @classmethod
    def of(cls, number: Any, dtype: str) -> IntegerRangeError:
        """The error for an integer that the dtype of this name cannot hold."""
        if dtype == "int64":
            text = (
                f"{_short(number)} does not fit the 64 bits that ints have in a graph"
            )
            return cls(f"AG216: {text}; use floats")
        return cls(
            f"AG216: the Python int {_short(number)} does not fit {dtype}; begin with "
            "tf.constant(1, tf.int64), or the like, for numbers of 64 bits"
        )


def _short(number: int) -> str:
    """An integer as text, which may have more digits than Python prints."""
    return str(number) if abs(number) < 10**40 else f"of {number.bit_length()} bits"


class DTypeMismatchError(InvalidArgumentError, TypeError):
    """An operation was given dtypes that it does not take, or not together.

    Tensors are never promoted silently; cast one of them (``tf.cast(x, tf.float32)``).
    """

    code = "AG311"


class TracedArgumentError(InvalidArgumentError, ValueError):
    """As is known while tracing already: TensorFlow raises a ValueError there."""


class DeadlineExceededError(OpError):
    """The operation took longer than it was given."""

    code, error_code = "AG354", DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """A file, a table key or another named thing does not exist."""

    code, error_code = "AG355", NOT_FOUND


class AlreadyExistsError(OpError):
    """The thing to be created exists already."""

    code, error_code = "AG356", ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    code, error_code = "AG357", PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    """Memory or another resource ran out."""

    code, error_code = "AG358", RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs."""

    code, error_code = "AG359", FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was given up, most often because of a concurrent one."""

    code, error_code = "AG360", ABORTED


class OutOfRangeError(OpError):
    """The operation went past the valid range, such as the end of an iterator."""

    code, error_code = "AG361", OUT_OF_RANGE


class UnimplementedError(OpError):
    """The operation, or this use of it, does not exist here."""

    code, error_code = "AG362", UNIMPLEMENTED


class InternalError(OpError):
    """Something that must hold inside the runtime does not: please report it."""

    code, error_code = "AG363", INTERNAL


class UnavailableError(OpError):
    """The service is not there at the moment."""

    code, error_code = "AG364", UNAVAILABLE


class DataLossError(OpError):
    """Data was lost or is corrupt."""

    code, error_code = "AG365", DATA_LOSS


class UnauthenticatedError(OpError):
    """The caller did not say who it is."""

    code, error_code = "AG366", UNAUTHENTICATED


class ConversionError(TypeError, ValueError):
    """A Python value does not become a tensor of the dtype or shape asked for."""

    code = "AG312"

    def __str__(self) -> str:
        return f"{self.code}: {super().__str__()}"


class UnhashableTensorError(TypeError):
    """A tensor was used as a dict key or set member; ``tensor.ref()`` can be one."""

    code = "AG313"


class ImmutableTensorError(TypeError):
    """An item of a tensor was assigned; tensors never change."""

    code = "AG314"


class TensorMethodError(ImmutableTensorError, AttributeError):
    """A method of lists that changes its list was asked of a tensor."""


class UnsavableError(ValueError):
    """What is to be saved refers to what is no data (AG340)."""

    code = "AG340"


class TracingError(TypeError):
    """A program could not be traced: the base of the errors about staging itself.

    Unlike the errors that a program raises, which are raised when the graph runs the
    branch that they are in, these end the trace, even if the program swallows them.
    """

    code = "AG300"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        note(self)


class TracingWarning(UserWarning):
    """Tracing did what calls do not: it changed a Python object that outlives
    it (AG320), or asked for chance, the time or input (AG322), or it unrolled a long
    loop of Python's (AG323), or read more than calls compare (AG324).

    It happens once for each trace, not for each call. Silence the warning where that is
    meant: ``warnings.simplefilter("ignore", tf.errors.TracingWarning)``.
    """

    code = "AG320"

    def __init__(self, message: str, code: str = "AG320") -> None:
        super().__init__(message)
        self.code = code


class UnknownResultError(Exception):
    """A call was traced whose result is not known yet: no fault, see recursion."""


class EndlessRecursionError(RecursionError):
    """Calls within calls go deeper than Python's limit, in tracing or in a graph."""

    code = "AG211"


def is_python_limit(error: RecursionError) -> bool:
    """Whether Python's own limit was met: the program raises errors of other texts."""
    return str(error).startswith("maximum recursion depth exceeded")


def _is_of_runtime(error: BaseException) -> bool:
    """Whether an error was raised by the code of this package: then it is a fault."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    return traceback.tb_frame.f_code.co_filename.startswith(_FOLDER)


def _frames(error: BaseException) -> list[tuple[CodeType, int]]:
    """The code and the last instruction of the frames that an error left."""
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        found.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


def _is_of_signal(error: BaseException) -> bool:
    """Whether the handler of a signal raised an error, which is of no branch then."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(handler, "__code__", None) for handler in handlers}
    return any(code in codes for code, _ in _frames(error))


def is_raised(error: BaseException) -> bool:
    """Whether a ``raise`` statement raised an error."""
    frames = _frames(error)
    if not frames:
        return False
    code, last = frames[-1]
    return code.co_code[last] == dis.opmap["RAISE_VARARGS"]


def ends_trace(error: BaseException) -> bool:
    """Whether an error raised while a branch is traced is about staging itself.

    Errors of the compiler are told by the ``diagnostics`` that they carry. Tracing that
    calls itself without end says so, or Python does. Ctrl-C ends a trace, too, as does
    what any other handler of a signal raises, a time limit for one; and so do the
    signals within this package, which are no exceptions to Python.
    """
    if _is_of_signal(error):
        return True
    if isinstance(error, KeyboardInterrupt):
        return not is_raised(error)
    if not isinstance(error, Exception):
        return type(error).__module__.partition(".")[0] in _PACKAGES
    if isinstance(error, RecursionError):
        return isinstance(error, EndlessRecursionError) or is_python_limit(error)
    if isinstance(error, AssertionError):
        return _is_of_runtime(error)
    # No call of the graph could make a key of a tensor that has no value.
    ours = (TracingError, InternalError, UnhashableTensorError)
    return isinstance(error, ours) or "diagnostics" in vars(error)


class SymbolicTensorError(TracingError):
    """A symbolic tensor was used where Python needs its value.

    While a function is traced its tensors stand for values of later calls. ``AG301``:
    as a bool, ``AG302``: as a number, ``AG303``: iterated, ``AG304``: its length,
    ``AG305``: as a NumPy array.
    """

    code = "AG300"

    def __init__(
        self,
        message: str,
        code: str = "AG300",
        location: tuple[str, int] | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.location = location
        #: The part of the message that says what to do.
        self.advice = advice


#: The name that TensorFlow gives this error.
OperatorNotAllowedInGraphError = SymbolicTensorError


class InaccessibleTensorError(TracingError):
    """A tensor was used outside the function (or branch, or loop body) that made it.

    What a traced function computes leaves it through its return value or a variable,
    not through a global, an attribute or a list.
    """

    code = "AG306"


class WaitingThreadsError(TracingError):
    """A function could not be traced, since another thread traced for too long.

    One thread traces at a time: threads that wait for each other within traces never
    end.
    """

    code = "AG307"


class StagedStateError(TracingError):
    """A variable of a staged branch or loop cannot be carried by a graph.

    ``AG201``: the branches of an ``if`` leave it with values that a graph cannot
    choose between. ``AG202``: a loop changes what kind of value it is. ``AG204``:
    ``range`` was given floats. ``AG205``: the layout of a loop's variables does not
    settle.
    """

    code = "AG201"

    def __init__(self, message: str, code: str = "AG201") -> None:
        super().__init__(message)
        self.code = code
        #: Whether the message says where the variables are assigned.
        self.explained = False


class GradientError(LookupError):
    """There is no gradient of an operation that a target depends on (AG330)."""

    code = "AG330"


class RetracingWarning(RuntimeWarning):
    """A function is traced so often that its graphs hardly save anything (AG321).

    Its text says for which argument, and what to do. It is given once for each
    function, and filtered as other warnings:

    >>> import warnings
    >>> warnings.simplefilter("ignore", RetracingWarning)
    """

    code = "AG321"


class CompilationWarning(RuntimeWarning):
    """A compiler failed, by a fault of ours, and NumPy runs the graph (AG325).

    Results are right, and slower than they would be. The text names the function and
    what went wrong. It is given once for each graph, and filtered as other warnings.
    """

    code = "AG325"
