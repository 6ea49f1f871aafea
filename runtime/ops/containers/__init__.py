"""The ops behind `TensorArray`, and behind lists and dicts in graphs."""
