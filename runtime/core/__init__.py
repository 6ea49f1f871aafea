"""What all other rooms build on: types, tensors, graphs, locations, settings, errors.

`types` has dtypes, shapes, specs and nested structures; `tensor` eager and symbolic
tensors; `graph` graphs with their nodes, the records of ops, and what can be found out
about a graph or changed in it; `location` the user's lines. Nothing here imports ops.
"""
