"""Programs and values in files: saved models, and the tensors and objects in them."""
