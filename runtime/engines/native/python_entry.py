"""How Python calls a native program: a built-in function, itself of native code.

A call through ctypes takes several microseconds. The function here takes the list of
arrays, reads where their elements are from the objects themselves, makes the arrays of
the results by NumPy's C interface, and calls the program. One function, compiled once
in a process, serves all programs; what it needs to know of one is in a `plan`, an array
of integers.

What it does not expect (another list, dtype or shape, memory in another order) it hands
to a function of Python: see `make`. Where the layout of objects is not that of CPython
with a GIL, `is_available` is false, and programs are called by ctypes.
"""

from __future__ import annotations

import ctypes
import importlib
import platform
import re
import sysconfig
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from runtime.engines.native import stack
from runtime.engines.native.machine import Code, assemble
from runtime.engines.native.status import INTERRUPTED
from runtime.ops.checks.numerics import on_switch

#: Work memory up to this size stays allocated between calls, in bytes. To get 230 MB
#: from the system takes as long as the rest of a training step of a small network.
LARGEST_SPARE = 1 << 29

#: Where `PyArray_New` and the type of arrays are in NumPy's table of its C interface:
#: see numpy/__multiarray_api.h.
_ARRAY_TYPE, _NEW = 2, 93

#: Where the fields of an array are: see PyArrayObject_fields in numpy/ndarraytypes.h.
_PLACES = {"DATA": 16, "RANK": 24, "DIMS": 32, "DESCR": 56, "FLAGS": 64}


class Signature(NamedTuple):
    """What a program takes and gives: for each array its shape and dtype.

    An unknown dimension of an input is -1.
    """

    inputs: Sequence[tuple[tuple[Any, ...], np.dtype[Any]]]
    outputs: Sequence[tuple[tuple[Any, ...], np.dtype[Any]]]
    #: The arrays that it reads besides.
    held: Sequence[Any]
    #: The bytes of its work memory.
    work: int
    #: Whether other threads run meanwhile.
    releases: bool
    #: The bytes of its arrays on the processor's stack.
    stack: int


def make(
    address: int,
    signature: Signature,
    unfit: Callable[[Any], Any],
    failed: Callable[[Any], Any],
    *,
    unwraps: bool = False,
    always: bool = False,
) -> Callable[[Any], Any]:
    """The program at an address as a function of a list of arrays.

    It returns the list of the results, or, where it `unwraps`, the one there is. It
    calls ``unfit(arrays)`` for a list that does not fit and while `is_checking` holds
    in some thread (unless `always`), and ``failed(arrays)`` where the program fails.
    """
    spare = ctypes.c_int64()
    switch = _never if always else _checking
    head = [
        address,
        signature.work,
        ctypes.addressof(spare),
        int(signature.releases),
        len(signature.inputs),
        len(signature.outputs),
        len(signature.held),
        int(unwraps),
        ctypes.addressof(switch),
        _stack_of(signature),
    ]
    inputs = [n for s, d in signature.inputs for n in (id(d), len(s), *s)]
    outputs = [n for s, d in signature.outputs for n in (d.num, len(s), *s)]
    held = [array.ctypes.data for array in signature.held]
    plan = np.array([*head, *inputs, *outputs, *held], np.int64)
    weakref.finalize(plan, _free, spare).atexit = False
    state = (plan, unfit, failed, signature, spare)
    method, _ = _compiled()
    function = ctypes.pythonapi.PyCFunction_NewEx
    function.restype = ctypes.py_object
    function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[[Any], Any] = function(ctypes.addressof(method), state, None)
    return made


def _stack_of(signature: Signature) -> int:
    """The bytes of the processor's stack that a call needs; 0 if there are few."""
    arrays = len(signature.inputs) + len(signature.outputs)
    size = signature.stack + 8 * (1 + 2 * arrays + len(signature.held))
    return size if size >= stack.LEAST else 0


_checking = ctypes.c_int64()
_never = ctypes.c_int64()


def _switched(is_on: bool) -> None:
    _checking.value = is_on


on_switch(_switched)


def _free(spare: ctypes.c_int64) -> None:
    """Give back the memory that a program has kept between calls."""
    if spare.value:
        free = ctypes.pythonapi.PyMem_RawFree
        free.argtypes, free.restype = [ctypes.c_void_p], None
        free(spare.value)
        spare.value = 0


# --- the code -------------------------------------------------------------------------

_TEXT = """
@PyList_Type = external global i8
@native_array_type = external global i8

declare i64 @PyList_Size(ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare ptr @PyList_New(i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Clear()
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare i32 @native_stack_fits(i64)
declare ptr @native_new_array(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Have signals handled; not 0 where that raised an exception.
define i32 @native_poll() {
  %state = call i32 @PyGILState_Ensure()
  %raised = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %state)
  ret i32 %raised
}

; A number of the plan.
define internal i64 @get(ptr %plan, i64 %place) alwaysinline {
  %at = getelementptr i64, ptr %plan, i64 %place
  %value = load i64, ptr %at
  ret i64 %value
}

; Whether an object is an array as the plan says from a place on.
define internal i1 @fits(ptr %array, ptr %plan, i64 %place) alwaysinline {
  %type.at = getelementptr i8, ptr %array, i64 8
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, @native_array_type
  br i1 %is.array, label %array.there, label %no
array.there:
  %flags.at = getelementptr i8, ptr %array, i64 FLAGS
  %flags = load i32, ptr %flags.at
  %both = and i32 %flags, 257  ; contiguous and aligned
  %in.order = icmp eq i32 %both, 257
  %descr.at = getelementptr i8, ptr %array, i64 DESCR
  %descr = load i64, ptr %descr.at
  %descr.wanted = call i64 @get(ptr %plan, i64 %place)
  %descr.same = icmp eq i64 %descr, %descr.wanted
  %rank.at = getelementptr i8, ptr %array, i64 RANK
  %rank.short = load i32, ptr %rank.at
  %rank = sext i32 %rank.short to i64
  %rank.place = add i64 %place, 1
  %rank.wanted = call i64 @get(ptr %plan, i64 %rank.place)
  %rank.same = icmp eq i64 %rank, %rank.wanted
  %kind.same = and i1 %in.order, %descr.same
  %all.same = and i1 %kind.same, %rank.same
  br i1 %all.same, label %dims.there, label %no
dims.there:
  %dims.at = getelementptr i8, ptr %array, i64 DIMS
  %dims = load ptr, ptr %dims.at
  %first = add i64 %place, 2
  br label %axis
axis:
  %k = phi i64 [ 0, %dims.there ], [ %next, %axis.fits ]
  %ended = icmp eq i64 %k, %rank
  br i1 %ended, label %yes, label %look
look:
  %dim = call i64 @get(ptr %dims, i64 %k)
  %dim.place = add i64 %first, %k
  %wanted = call i64 @get(ptr %plan, i64 %dim.place)
  %same = icmp eq i64 %dim, %wanted
  %open = icmp slt i64 %wanted, 0
  %right = or i1 %same, %open
  br i1 %right, label %axis.fits, label %no
axis.fits:
  %next = add i64 %k, 1
  br label %axis
yes:
  ret i1 true
no:
  ret i1 false
}

; Memory of some bytes and more: that of the last call, unless another thread has it.
define internal ptr @take(ptr %plan) {
  %spare.number = call i64 @get(ptr %plan, i64 2)
  %spare = inttoptr i64 %spare.number to ptr
  %last = atomicrmw xchg ptr %spare, i64 0 acquire
  %there = icmp ne i64 %last, 0
  br i1 %there, label %again, label %fresh
again:
  %known = inttoptr i64 %last to ptr
  ret ptr %known
fresh:
  %size = call i64 @get(ptr %plan, i64 1)
  %more = add i64 %size, 64
  %new = call ptr @PyMem_RawMalloc(i64 %more)
  ret ptr %new
}

define internal void @give_back(ptr %plan, ptr %work) {
  %size = call i64 @get(ptr %plan, i64 1)
  %small = icmp sle i64 %size, LARGEST_SPARE
  br i1 %small, label %keep, label %free
keep:
  %spare.number = call i64 @get(ptr %plan, i64 2)
  %spare = inttoptr i64 %spare.number to ptr
  %number = ptrtoint ptr %work to i64
  %swap = cmpxchg ptr %spare, i64 0, i64 %number release monotonic
  %kept = extractvalue { i64, i1 } %swap, 1
  br i1 %kept, label %done, label %free
free:
  call void @PyMem_RawFree(ptr %work)
  br label %done
done:
  ret void
}

; Run the program on slots that are filled but for the first, its work memory.
define internal i32 @run(ptr %plan, ptr %slots) {
  %address = call i64 @get(ptr %plan, i64 0)
  %program = inttoptr i64 %address to ptr
  %size = call i64 @get(ptr %plan, i64 1)
  %needs.work = icmp ne i64 %size, 0
  br i1 %needs.work, label %taking, label %ready
taking:
  %taken = call ptr @take(ptr %plan)
  %is.none = icmp eq ptr %taken, null
  br i1 %is.none, label %no.memory, label %ready
no.memory:
  ret i32 3
ready:
  %work = phi ptr [ null, %0 ], [ %taken, %taking ]
  %number = ptrtoint ptr %work to i64
  %beyond = add i64 %number, 63
  %aligned = and i64 %beyond, -64
  store i64 %aligned, ptr %slots
  %releases.number = call i64 @get(ptr %plan, i64 3)
  %releases = icmp ne i64 %releases.number, 0
  br i1 %releases, label %long, label %short
short:
  %short.status = call i32 %program(ptr %slots)
  br label %ran
long:
  %thread = call ptr @PyEval_SaveThread()
  %long.status = call i32 %program(ptr %slots)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %ran
ran:
  %status = phi i32 [ %short.status, %short ], [ %long.status, %long ]
  br i1 %needs.work, label %giving, label %done
giving:
  call void @give_back(ptr %plan, ptr %work)
  br label %done
done:
  ret i32 %status
}

define internal void @release(ptr %objects, i64 %count) {
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %ended = icmp eq i64 %i, %count
  br i1 %ended, label %done, label %body
body:
  %at = getelementptr ptr, ptr %objects, i64 %i
  %object = load ptr, ptr %at
  call void @Py_DecRef(ptr %object)
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}

; A function of Python: `self` is the tuple that `make` makes.
define ptr @native_enter(ptr %self, ptr %arrays) {
  %plan.array = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %plan.at = getelementptr i8, ptr %plan.array, i64 DATA
  %plan = load ptr, ptr %plan.at
  %switch.number = call i64 @get(ptr %plan, i64 8)
  %switch = inttoptr i64 %switch.number to ptr
  %checking = load i64, ptr %switch
  %is.checking = icmp ne i64 %checking, 0
  br i1 %is.checking, label %unfit, label %is.list
is.list:
  %type.at = getelementptr i8, ptr %arrays, i64 8
  %type = load ptr, ptr %type.at
  %list = icmp eq ptr %type, @PyList_Type
  br i1 %list, label %counted, label %unfit
counted:
  %count = call i64 @PyList_Size(ptr %arrays)
  %inputs = call i64 @get(ptr %plan, i64 4)
  %outputs = call i64 @get(ptr %plan, i64 5)
  %held = call i64 @get(ptr %plan, i64 6)
  %as.many = icmp eq i64 %count, %inputs
  br i1 %as.many, label %sized, label %unfit
sized:
  %stack = call i64 @get(ptr %plan, i64 9)
  %is.large = icmp ne i64 %stack, 0
  br i1 %is.large, label %large, label %start
large:
  %fits.stack = call i32 @native_stack_fits(i64 %stack)
  %there.is.room = icmp ne i32 %fits.stack, 0
  br i1 %there.is.room, label %start, label %unfit
start:
  %in.out = add i64 %inputs, %outputs
  %last.slot = add i64 %in.out, %held
  %slot.count = add i64 %last.slot, 1
  %slots = alloca i64, i64 %slot.count
  %given = alloca ptr, i64 %inputs
  %made = alloca ptr, i64 %outputs
  br label %input
input:
  %i = phi i64 [ 0, %start ], [ %i.next, %input.fits ]
  %place = phi i64 [ 10, %start ], [ %place.next, %input.fits ]
  %inputs.ended = icmp eq i64 %i, %inputs
  br i1 %inputs.ended, label %inputs.done, label %input.look
input.look:
  %array = call ptr @PyList_GetItem(ptr %arrays, i64 %i)
  %array.fits = call i1 @fits(ptr %array, ptr %plan, i64 %place)
  br i1 %array.fits, label %input.fits, label %unfit
input.fits:
  %given.at = getelementptr ptr, ptr %given, i64 %i
  store ptr %array, ptr %given.at
  %data.at = getelementptr i8, ptr %array, i64 DATA
  %data = load i64, ptr %data.at
  %i.next = add i64 %i, 1
  %slot.at = getelementptr i64, ptr %slots, i64 %i.next
  store i64 %data, ptr %slot.at
  %rank.place = add i64 %place, 1
  %rank = call i64 @get(ptr %plan, i64 %rank.place)
  %dims.place = add i64 %place, 2
  %place.next = add i64 %dims.place, %rank
  br label %input
inputs.done:
  br label %output
output:
  %j = phi i64 [ 0, %inputs.done ], [ %j.next, %output.made ]
  %out = phi i64 [ %place, %inputs.done ], [ %out.next, %output.made ]
  %outputs.ended = icmp eq i64 %j, %outputs
  br i1 %outputs.ended, label %outputs.done, label %output.make
output.make:
  %number = call i64 @get(ptr %plan, i64 %out)
  %number.short = trunc i64 %number to i32
  %out.rank.place = add i64 %out, 1
  %out.rank = call i64 @get(ptr %plan, i64 %out.rank.place)
  %out.rank.short = trunc i64 %out.rank to i32
  %out.dims.place = add i64 %out, 2
  %out.dims = getelementptr i64, ptr %plan, i64 %out.dims.place
  %result = call ptr @native_new_array(ptr @native_array_type, i32 %out.rank.short,
    ptr %out.dims, i32 %number.short, ptr null, ptr null, i32 0, i32 0, ptr null)
  %is.none = icmp eq ptr %result, null
  br i1 %is.none, label %no.result, label %output.made
no.result:  ; Python's function says what is too large
  call void @release(ptr %made, i64 %j)
  call void @PyErr_Clear()
  br label %failure
output.made:
  %made.at = getelementptr ptr, ptr %made, i64 %j
  store ptr %result, ptr %made.at
  %result.data.at = getelementptr i8, ptr %result, i64 DATA
  %result.data = load i64, ptr %result.data.at
  %slot.before = add i64 %inputs, %j
  %result.slot = add i64 %slot.before, 1
  %result.slot.at = getelementptr i64, ptr %slots, i64 %result.slot
  store i64 %result.data, ptr %result.slot.at
  %j.next = add i64 %j, 1
  %out.next = add i64 %out.dims.place, %out.rank
  br label %output
outputs.done:
  %held.slot = add i64 %in.out, 1
  %held.to = getelementptr i64, ptr %slots, i64 %held.slot
  %held.from = getelementptr i64, ptr %plan, i64 %out
  %held.bytes = shl i64 %held, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %held.to, ptr %held.from, i64 %held.bytes, i1 0)
  br label %hold
hold:  ; the list may change while other threads run
  %h = phi i64 [ 0, %outputs.done ], [ %h.next, %hold.one ]
  %held.ended = icmp eq i64 %h, %inputs
  br i1 %held.ended, label %running, label %hold.one
hold.one:
  %hold.at = getelementptr ptr, ptr %given, i64 %h
  %hold.array = load ptr, ptr %hold.at
  call void @Py_IncRef(ptr %hold.array)
  %h.next = add i64 %h, 1
  br label %hold
running:
  %status = call i32 @run(ptr %plan, ptr %slots)
  call void @release(ptr %given, i64 %inputs)
  switch i32 %status, label %failed [
    i32 0, label %good
    i32 INTERRUPTED, label %raised
  ]
good:
  %unwraps.number = call i64 @get(ptr %plan, i64 7)
  %unwraps = icmp ne i64 %unwraps.number, 0
  br i1 %unwraps, label %one, label %many
one:
  %only = load ptr, ptr %made
  ret ptr %only
many:
  %results = call ptr @PyList_New(i64 %outputs)
  %no.list = icmp eq ptr %results, null
  br i1 %no.list, label %raised, label %collect
collect:
  %r = phi i64 [ 0, %many ], [ %r.next, %collect.one ]
  %r.ended = icmp eq i64 %r, %outputs
  br i1 %r.ended, label %collected, label %collect.one
collect.one:
  %r.at = getelementptr ptr, ptr %made, i64 %r
  %r.object = load ptr, ptr %r.at
  %r.set = call i32 @PyList_SetItem(ptr %results, i64 %r, ptr %r.object)
  %r.next = add i64 %r, 1
  br label %collect
collected:
  ret ptr %results
raised:
  call void @release(ptr %made, i64 %outputs)
  ret ptr null
failed:
  call void @release(ptr %made, i64 %outputs)
  br label %failure
failure:
  %failure.function = call ptr @PyTuple_GetItem(ptr %self, i64 2)
  br label %hand.over
unfit:
  %misfit = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  br label %hand.over
hand.over:
  %other = phi ptr [ %failure.function, %failure ], [ %misfit, %unfit ]
  %answer = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %other,
    ptr %arrays, ptr null)
  ret ptr %answer
}
"""


_NUMBERS = {**_PLACES, "LARGEST_SPARE": LARGEST_SPARE, "INTERRUPTED": INTERRUPTED}


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


#: The flag of a function of one argument: METH_O.
_ONE_ARGUMENT = 8


@cache
def _compiled() -> tuple[_Method, Code]:
    """The function that all programs are called by."""
    text = _TEXT
    for name, value in _NUMBERS.items():
        text = re.sub(rf"\b{name}\b", str(value), text)
    for name in re.findall(r"@(Py\w+)\(", _TEXT):
        pointer = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p)
        llvm.add_symbol(name, pointer.value)
    table = _numpy_table()
    llvm.add_symbol("PyList_Type", id(list))
    llvm.add_symbol("native_array_type", table[_ARRAY_TYPE])
    llvm.add_symbol("native_new_array", table[_NEW])
    stack.add_symbols()
    code = assemble(text)
    method = _Method(b"run", code.address("native_enter"), _ONE_ARGUMENT, None)
    return method, code


def add_symbols() -> None:
    """Let programs call ``i32 native_poll()``: not 0 where a signal has raised."""
    if is_available():
        _, code = _compiled()
        address = code.address("native_poll")
    else:
        address = ctypes.cast(_no_signal, ctypes.c_void_p).value or 0
    llvm.add_symbol("native_poll", address)


_no_signal = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: 0)


# --- whether objects are as the code expects ------------------------------------------


def _numpy_table() -> Any:
    """The addresses of NumPy's C interface."""
    core = "_core" if hasattr(np, "_core") else "core"  # NumPy 1
    module = importlib.import_module(f"numpy.{core}._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return (ctypes.c_void_p * (_NEW + 1)).from_address(get(module._ARRAY_API, None))


@cache
def is_available() -> bool:
    """Whether this interpreter has the objects that the code reads."""
    if (
        platform.python_implementation() != "CPython"
        or ctypes.sizeof(ctypes.c_void_p) != 8
    ):
        return False
    if sysconfig.get_config_var("Py_GIL_DISABLED") or object.__basicsize__ != 16:
        return False
    return _numpy_table()[_ARRAY_TYPE] == id(np.ndarray) and _reads_arrays()


def _reads_arrays() -> bool:
    """Whether the fields of an array are where they are expected."""
    probe = np.zeros((3, 5), np.float32)

    def field(name: str, typ: Any) -> int:
        return int(typ.from_address(id(probe) + _PLACES[name]).value)

    pointer, rank = ctypes.c_int64, ctypes.c_int
    if field("DATA", pointer) != probe.ctypes.data or field("RANK", rank) != 2:
        return False
    if field("DESCR", pointer) != id(probe.dtype):
        return False
    dims = (pointer * 2).from_address(field("DIMS", pointer))
    return tuple(dims) == probe.shape and field("FLAGS", rank) == probe.flags.num


def pointer_to(array: Any) -> int:
    """Where the elements of an array are: `ndarray.ctypes.data` takes far longer."""
    if is_available():
        return ctypes.c_int64.from_address(id(array) + _PLACES["DATA"]).value
    return int(array.ctypes.data)
