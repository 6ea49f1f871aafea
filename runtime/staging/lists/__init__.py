"""Python lists in a graph: of a fixed length, and of one that a tensor decides."""
