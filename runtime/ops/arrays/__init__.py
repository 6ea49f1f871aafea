"""Making, indexing, joining and rearranging tensors."""
