"""Python's statements in a graph: raise, print, calls of Python, texts."""
