"""Threads inside native code, which take chunks of loops: see `engines.native.shared`.

They are made by native code and wait there, so that a loop of some tens of microseconds
can be shared, and nothing of it needs Python or its lock. Whoever is free takes the
next chunk. The thread that calls takes part, and goes on alone where there is no help:

* the first thread that asks has all workers, and one that asks meanwhile has none;
* a worker that comes late finds nothing left to do, and delays nobody;
* a process by fork has no workers until it asks;
* bodies of loops ask for no workers.

A worker looks for work for some microseconds before it sleeps, since the next loop
often follows soon. It takes no signals, and ends with the process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
from functools import cache

import llvmlite.binding as llvm

from runtime.core import config
from runtime.engines.native.machine import Code, assemble
from runtime.ops.kernels.threads import CORES

#: How often a thread looks whether something has happened before it sleeps: this takes
#: about 10 microseconds.
SPINS = 300

#: The words of 8 bytes that the code and Python know, by their names: how many threads
#: may take part, how many workers there are, and how many loops they were asked for.
#: The others are the code's: whether the pool is made, whether a thread has it, what it
#: asks for (the job, its number, how many more may help, how many do), and what POSIX
#: needs to wait. What is written often by one thread is in a line of the cache alone.
_PLACES = {"ALLOWED": 0, "WORKERS": 1, "SHARED": 2, "IS_MADE": 3, "OWNER": 8}
_PLACES |= {"JOB": 16, "NUMBER": 17, "PLACES": 18, "HELPERS": 19}
_PLACES |= {"MUTEX": 24, "WAKE": 40, "DONE": 56}
_WORDS = 72
_pool = (ctypes.c_int64 * _WORDS)()

_TEXT = """
@native_pool = external global i64

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.x86.sse2.pause()
declare void @llvm.aarch64.hint(i32)

; The body, its context, the count and the size of a chunk; then what a body has
; returned; then what is to be handed out next, in a line of the cache alone.
%job = type { ptr, ptr, i64, i64, i32, [28 x i8], i64, [56 x i8] }

; Call ``i32 body(ptr context, i64 from, i64 to)`` until all of `count` is done, by all
; threads that are free, and return what is not 0 of what it returns.
define i32 @native_share(ptr %body, ptr %context, i64 %count, i64 %chunk) {
  %is.one = icmp sle i64 %count, %chunk
  br i1 %is.one, label %one, label %several
one:
  %is.none = icmp sle i64 %count, 0
  br i1 %is.none, label %nothing, label %whole
nothing:
  ret i32 0
whole:
  %found = tail call i32 %body(ptr %context, i64 0, i64 %count)
  ret i32 %found
several:
  %all = tail call i32 @share(ptr %body, ptr %context, i64 %count, i64 %chunk)
  ret i32 %all
}

define internal i32 @share(ptr %body, ptr %context, i64 %count, i64 %chunk) noinline {
  %job = alloca %job, align 64
  store %job zeroinitializer, ptr %job
  store ptr %body, ptr %job
  %context.at = getelementptr %job, ptr %job, i64 0, i32 1
  store ptr %context, ptr %context.at
  %count.at = getelementptr %job, ptr %job, i64 0, i32 2
  store i64 %count, ptr %count.at
  %chunk.at = getelementptr %job, ptr %job, i64 0, i32 3
  store i64 %chunk, ptr %chunk.at
  %status.at = getelementptr %job, ptr %job, i64 0, i32 4
  %last = sub i64 %count, 1
  %others = sdiv i64 %last, %chunk
  %allowed = load atomic i64, ptr ALLOWED monotonic, align 8
  %others.allowed = sub i64 %allowed, 1
  %helpers = call i64 @llvm.smin.i64(i64 %others, i64 %others.allowed)
  %any = icmp sgt i64 %helpers, 0
  br i1 %any, label %ask, label %alone
ask:
  %swap = cmpxchg ptr OWNER, i64 0, i64 1 acquire monotonic
  %free = extractvalue { i64, i1 } %swap, 1
  br i1 %free, label %together, label %alone
alone:
  call void @run(ptr %job)
  br label %done
together:
  call void @begin(ptr %job, i64 %helpers)
  call void @run(ptr %job)
  call void @end()
  store atomic i64 0, ptr OWNER release, align 8
  br label %done
done:
  %status = load i32, ptr %status.at
  ret i32 %status
}

; Take chunks of a job until none is left, or one has failed.
define internal void @run(ptr %job) {
  %context.at = getelementptr %job, ptr %job, i64 0, i32 1
  %count.at = getelementptr %job, ptr %job, i64 0, i32 2
  %chunk.at = getelementptr %job, ptr %job, i64 0, i32 3
  %status.at = getelementptr %job, ptr %job, i64 0, i32 4
  %next.at = getelementptr %job, ptr %job, i64 0, i32 6
  %body = load ptr, ptr %job
  %context = load ptr, ptr %context.at
  %count = load i64, ptr %count.at
  %chunk = load i64, ptr %chunk.at
  br label %take
take:
  %from = atomicrmw add ptr %next.at, i64 %chunk monotonic
  %some = icmp slt i64 %from, %count
  br i1 %some, label %look, label %done
look:
  %before = load atomic i32, ptr %status.at monotonic, align 4
  %good = icmp eq i32 %before, 0
  br i1 %good, label %call, label %done
call:
  %rest = sub i64 %count, %from
  %size = call i64 @llvm.smin.i64(i64 %rest, i64 %chunk)
  %to = add i64 %from, %size
  %status = call i32 %body(ptr %context, i64 %from, i64 %to)
  %right = icmp eq i32 %status, 0
  br i1 %right, label %take, label %failed
failed:
  store atomic i32 %status, ptr %status.at monotonic, align 4
  br label %done
done:
  ret void
}

; Let workers take part in a job.
define internal void @begin(ptr %job, i64 %helpers) {
  %shared = load i64, ptr SHARED
  %shared.more = add i64 %shared, 1
  store i64 %shared.more, ptr SHARED
  %is.made = load i64, ptr IS_MADE
  %made = icmp ne i64 %is.made, 0
  br i1 %made, label %count, label %make
make:
  call i32 @pthread_mutex_init(ptr MUTEX, ptr null)
  call i32 @pthread_cond_init(ptr WAKE, ptr null)
  call i32 @pthread_cond_init(ptr DONE, ptr null)
  store i64 1, ptr IS_MADE
  br label %count
count:
  %workers = load i64, ptr WORKERS
  %enough = icmp sge i64 %workers, %helpers
  br i1 %enough, label %ask, label %hire
hire:
  call void @hire(i64 %helpers)
  br label %ask
ask:
  call i32 @pthread_mutex_lock(ptr MUTEX)
  store ptr %job, ptr JOB
  store i64 %helpers, ptr PLACES
  %number = load i64, ptr NUMBER
  %following = add i64 %number, 1
  store atomic i64 %following, ptr NUMBER release, align 8
  call i32 @pthread_mutex_unlock(ptr MUTEX)
  %all = load i64, ptr WORKERS
  %some = icmp slt i64 %helpers, %all
  br i1 %some, label %wake, label %wake.all
wake:
  %k = phi i64 [ 0, %ask ], [ %k.next, %wake ]
  call i32 @pthread_cond_signal(ptr WAKE)
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %helpers
  br i1 %more, label %wake, label %done
wake.all:
  call i32 @pthread_cond_broadcast(ptr WAKE)
  br label %done
done:
  ret void
}

; Let no worker begin any more, and wait for those that did.
define internal void @end() {
  call i32 @pthread_mutex_lock(ptr MUTEX)
  store ptr null, ptr JOB
  call i32 @pthread_mutex_unlock(ptr MUTEX)
  br label %spin
spin:
  %k = phi i64 [ 0, %0 ], [ %k.next, %pause ]
  %there = load atomic i64, ptr HELPERS acquire, align 8
  %none = icmp eq i64 %there, 0
  br i1 %none, label %done, label %again
again:
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, SPINS
  br i1 %more, label %pause, label %lock
pause:
  PAUSE
  br label %spin
lock:
  call i32 @pthread_mutex_lock(ptr MUTEX)
  br label %look
look:
  %still = load atomic i64, ptr HELPERS acquire, align 8
  %left = icmp eq i64 %still, 0
  br i1 %left, label %unlock, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr DONE, ptr MUTEX)
  br label %look
unlock:
  call i32 @pthread_mutex_unlock(ptr MUTEX)
  br label %done
done:
  ret void
}

; Have so many workers, if that is possible: threads that take no signals.
define internal void @hire(i64 %wanted) {
  %all = alloca [128 x i8], align 16
  %own = alloca [128 x i8], align 16
  %thread = alloca i64
  call i32 @sigfillset(ptr %all)
  call i32 @pthread_sigmask(i32 SET_MASK, ptr %all, ptr %own)
  br label %look
look:
  %count = load i64, ptr WORKERS
  %less = icmp slt i64 %count, %wanted
  br i1 %less, label %one, label %done
one:
  %error = call i32 @pthread_create(ptr %thread, ptr null, ptr @work, ptr null)
  %made = icmp eq i32 %error, 0
  br i1 %made, label %more, label %done
more:
  %made.thread = load i64, ptr %thread
  call i32 @pthread_detach(i64 %made.thread)
  %next = add i64 %count, 1
  store i64 %next, ptr WORKERS
  br label %look
done:
  call i32 @pthread_sigmask(i32 SET_MASK, ptr %own, ptr null)
  ret void
}

; What a worker does; `last` is the number of the last job that it knows.
define internal ptr @work(ptr %none) {
  br label %wait
wait:
  %last = phi i64 [ 0, %0 ], [ %number, %full ], [ %number, %left ]
  br label %spin
spin:
  %k = phi i64 [ 0, %wait ], [ %k.next, %pause ]
  %seen = load atomic i64, ptr NUMBER acquire, align 8
  %new = icmp ne i64 %seen, %last
  br i1 %new, label %lock, label %again
again:
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, SPINS
  br i1 %more, label %pause, label %lock
pause:
  PAUSE
  br label %spin
lock:
  call i32 @pthread_mutex_lock(ptr MUTEX)
  br label %look
look:
  %number = load i64, ptr NUMBER
  %job = load ptr, ptr JOB
  %known = icmp eq i64 %number, %last
  %closed = icmp eq ptr %job, null
  %nothing = or i1 %known, %closed
  br i1 %nothing, label %sleep, label %asked
sleep:
  call i32 @pthread_cond_wait(ptr WAKE, ptr MUTEX)
  br label %look
asked:
  %places = load i64, ptr PLACES
  %some = icmp sgt i64 %places, 0
  br i1 %some, label %enter, label %full
full:
  call i32 @pthread_mutex_unlock(ptr MUTEX)
  br label %wait
enter:
  %places.left = sub i64 %places, 1
  store i64 %places.left, ptr PLACES
  %before = load i64, ptr HELPERS
  %with = add i64 %before, 1
  store atomic i64 %with, ptr HELPERS monotonic, align 8
  call i32 @pthread_mutex_unlock(ptr MUTEX)
  call void @run(ptr %job)
  call i32 @pthread_mutex_lock(ptr MUTEX)
  %now = load i64, ptr HELPERS
  %without = sub i64 %now, 1
  store atomic i64 %without, ptr HELPERS release, align 8
  call i32 @pthread_mutex_unlock(ptr MUTEX)
  call i32 @pthread_cond_signal(ptr DONE)
  br label %left
left:
  br label %wait
}
"""

#: What a thread does between two looks.
_PAUSES = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
}


@cache
def is_available() -> bool:
    """Whether the operating system has threads that the code knows how to make."""
    if os.name != "posix" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    return all(hasattr(ctypes.pythonapi, name) for name in _functions())


def _functions() -> set[str]:
    """The functions of the operating system."""
    return set(re.findall(r"@((?:pthread|sig)\w+)\(", _TEXT))


@cache
def _compiled() -> Code:
    """The functions for sharing."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}
    name = machine.get(platform.machine(), platform.machine())
    words: dict[str, str] = {
        place: f"getelementptr (i64, ptr @native_pool, i64 {number})"
        for place, number in _PLACES.items()
    }
    words |= {"SPINS": str(SPINS), "SET_MASK": str(int(signal.SIG_SETMASK))}
    words["PAUSE"] = _PAUSES.get(name, "")
    names = re.compile(rf"\b(?:{'|'.join(words)})\b")
    text = names.sub(lambda found: words[found[0]], _TEXT)
    for function in _functions():
        pointer = ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p)
        llvm.add_symbol(function, pointer.value)
    llvm.add_symbol("native_pool", ctypes.addressof(_pool))
    return assemble(text)


@cache
def add_symbol() -> None:
    """Let programs call `native_share`."""
    llvm.add_symbol("native_share", _compiled().address("native_share"))


def worker_count() -> int:
    """How many workers there are."""
    return _pool[_PLACES["WORKERS"]]


def shared_loops() -> int:
    """How many loops workers were asked for."""
    return _pool[_PLACES["SHARED"]]


def _follow(threads: int) -> None:
    """Let so many threads take part from now on; 0 stands for all processors."""
    _pool[_PLACES["ALLOWED"]] = threads or CORES


def _after_fork() -> None:
    """A copy of the process has no workers."""
    allowed = _pool[_PLACES["ALLOWED"]]
    ctypes.memset(_pool, 0, ctypes.sizeof(_pool))
    _pool[_PLACES["ALLOWED"]] = allowed


config.on_thread_count(_follow)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
