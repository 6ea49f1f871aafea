"""Graphs as ONNX models: the extra ``onnx``."""
