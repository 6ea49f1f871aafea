"""Python builtins and operators of values in a graph."""
