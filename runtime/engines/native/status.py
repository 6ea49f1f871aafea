"""What a function of native code returns when it does not end as it should."""

#: What the function returns where a check does not hold, and where a signal, as that of
#: Ctrl-C, has raised an exception meanwhile.
FAILED, INTERRUPTED = 1, 2
#: What it returns where the stack is too small: see `runtime.engines.native.memory`.
FULL = 4

#: The first status of accesses outside of arrays: see `Builder.checks_accesses`.
OUTSIDE = 1000
