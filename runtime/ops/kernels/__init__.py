"""NumPy code of kernels: no tensors, no graphs."""
