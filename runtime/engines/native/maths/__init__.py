"""Elementary functions, written so that LLVM makes them functions of vectors.

They have no branches: each computes all it may need and chooses at the end, so that a
loop over elements becomes one over vectors of them. A module has each function once,
and LLVM inlines it wherever it is called.

They need a processor that multiplies and adds in one rounding (``fma``), as those of
the last ten years do; on others, the C library computes them.

Where the methods come from: Cody and Waite, "Software Manual for the Elementary
Functions", 1980; Tang, "Table-driven implementation of the exponential function", 1989,
and of others; Muller et al., "Handbook of Floating-Point Arithmetic", 2018; Muller,
"Elementary Functions", 2016. The coefficients are our own: those of polynomials with
the least largest error, which ``python -m benchmarks.minimax`` computes by the
algorithm of Remez. ``python -m benchmarks.accuracy`` measures the errors of all.
"""
