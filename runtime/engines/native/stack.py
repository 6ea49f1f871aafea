"""How much of the processor's stack a thread has left.

Functions that call themselves, and arrays that lie on the stack, ask before they use
it. The system tells where the stack of a thread ends; this takes microseconds in the
first thread of a process, so each thread remembers it. Where the system does not tell,
nothing is left, and the interpreter runs the program.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm

from runtime.engines.native.machine import Code, assemble

#: The bytes that stay free: for what a frame has beside arrays, for the C library, and
#: for Python where it looks for signals.
RESERVE = 1 << 16
#: From so many bytes of arrays on a program asks before it runs.
LEAST = 1 << 13

#: The end of a stack that is not known: all places are behind it.
_UNKNOWN = 2**63 - 1

#: Where the stack of the thread ends that calls, by the platform.
_ENDS = {
    "linux": """
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_getguardsize(ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)

define internal i64 @end() {
  %attributes = alloca [256 x i8], align 16
  %start = alloca i64
  %size = alloca i64
  %guard = alloca i64
  %self = call i64 @pthread_self()
  %status = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %is.known = icmp eq i32 %status, 0
  br i1 %is.known, label %known, label %unknown
known:
  call i32 @pthread_attr_getstack(ptr %attributes, ptr %start, ptr %size)
  call i32 @pthread_attr_getguardsize(ptr %attributes, ptr %guard)
  call i32 @pthread_attr_destroy(ptr %attributes)
  %first = load i64, ptr %start
  %unusable = load i64, ptr %guard
  %end = add i64 %first, %unusable
  ret i64 %end
unknown:
  ret i64 UNKNOWN
}
""",
    "darwin": """
declare i64 @pthread_self()
declare i64 @pthread_get_stackaddr_np(i64)
declare i64 @pthread_get_stacksize_np(i64)

define internal i64 @end() {
  %self = call i64 @pthread_self()
  %top = call i64 @pthread_get_stackaddr_np(i64 %self)
  %size = call i64 @pthread_get_stacksize_np(i64 %self)
  %end = sub i64 %top, %size
  ret i64 %end
}
""",
}

_TEXT = """
@native_stack_key = external global KEY

declare ptr @pthread_getspecific(KEY)
declare i32 @pthread_setspecific(KEY, ptr)
declare ptr @llvm.stacksave.p0()

; The address that the frames of the thread that calls must not come below.
define i64 @native_stack_limit() {
  %key = load KEY, ptr @native_stack_key
  %noted = call ptr @pthread_getspecific(KEY %key)
  %is.noted = icmp ne ptr %noted, null
  br i1 %is.noted, label %again, label %first
again:
  %same = ptrtoint ptr %noted to i64
  ret i64 %same
first:
  %end = call i64 @end()
  %is.unknown = icmp eq i64 %end, UNKNOWN
  %above = add i64 %end, RESERVE
  %limit = select i1 %is.unknown, i64 %end, i64 %above
  %note = inttoptr i64 %limit to ptr
  call i32 @pthread_setspecific(KEY %key, ptr %note)
  ret i64 %limit
}

; Whether the stack has room for so many bytes.
define i32 @native_stack_fits(i64 %needed) {
  %limit = call i64 @native_stack_limit()
  %top = call ptr @llvm.stacksave.p0()
  %here = ptrtoint ptr %top to i64
  %left = sub i64 %here, %limit
  %fits = icmp sge i64 %left, %needed
  %found = zext i1 %fits to i32
  ret i32 %found
}
"""

_WITHOUT_THREADS = """
define i64 @native_stack_limit() {
  ret i64 UNKNOWN
}

define i32 @native_stack_fits(i64 %needed) {
  ret i32 0
}
"""


@cache
def _compiled() -> Code:
    ends, text = _ENDS.get(sys.platform), _WITHOUT_THREADS
    if ends is not None:
        is_long = sys.platform == "darwin"
        key = (ctypes.c_uint64 if is_long else ctypes.c_uint32)()
        _kept.append(key)
        if ctypes.CDLL(None).pthread_key_create(ctypes.byref(key), None) == 0:
            llvm.add_symbol("native_stack_key", ctypes.addressof(key))
            text = re.sub(r"\bKEY\b", "i64" if is_long else "i32", ends + _TEXT)
    for name in set(re.findall(r"@(pthread_\w+)", text)):
        function = getattr(ctypes.CDLL(None), name, None)
        if function is None:
            text = _WITHOUT_THREADS
            break
        pointer = ctypes.cast(function, ctypes.c_void_p)
        llvm.add_symbol(name, pointer.value)
    numbers = {"UNKNOWN": _UNKNOWN, "RESERVE": RESERVE}
    for name, value in numbers.items():
        text = re.sub(rf"\b{name}\b", str(value), text)
    return assemble(text)


#: What compiled code reads.
_kept: list[ctypes._SimpleCData[int]] = []


def add_symbols() -> None:
    """Let code call ``native_stack_limit()`` and ``native_stack_fits(i64)``."""
    for name in ("native_stack_limit", "native_stack_fits"):
        llvm.add_symbol(name, _compiled().address(name))


@cache
def _fits() -> Callable[[int], int]:
    function = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
    return function(_compiled().address("native_stack_fits"))


def fits(size: int) -> bool:
    """Whether the stack of this thread has room for arrays of so many bytes."""
    return size < LEAST or bool(_fits()(size))
