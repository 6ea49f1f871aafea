"""Graphs as machine code through LLVM: the extra ``native``."""
