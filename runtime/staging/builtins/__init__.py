"""Python builtins, operators and library functions of values in a graph."""
