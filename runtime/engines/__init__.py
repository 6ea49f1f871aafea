"""What runs a graph: each engine is a way to make an executable of one.

`door` picks the engine that the user asked for. `interpreter` defines what a graph
means; `numpy_source` writes Python over NumPy and is the default; `native` compiles by
LLVM and `xla` by JAX, as extras. `failure` gives an error the line of its node.
"""
