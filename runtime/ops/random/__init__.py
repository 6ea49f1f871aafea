"""Random tensors, from streams and from seeds."""
