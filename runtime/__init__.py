"""Tensors over NumPy with the names of TensorFlow 2."""
