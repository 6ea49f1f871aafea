"""Texts that show tensors."""
