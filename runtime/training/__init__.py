"""Training on tensors: Keras's backend, checkpoints, summaries, several devices."""
