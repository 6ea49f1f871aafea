"""From the ops of TensorFlow to primitives: what every compiler of graphs stands on."""
