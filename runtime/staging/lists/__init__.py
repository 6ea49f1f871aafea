"""Python lists in a graph."""
