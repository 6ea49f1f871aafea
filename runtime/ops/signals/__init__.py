"""Signals: Fourier and cosine transforms, frames, windows, and the scale of mels."""
