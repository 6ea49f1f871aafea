"""Python state through staged branches and loops: what the compiler's backend calls.

The sub-graphs of `staging.tracing.subgraph` carry tensors only. The variables of a
program also hold Python objects, structures, or nothing yet; here they are taken apart
and put together again.
"""
