"""The public namespaces of TensorFlow: ``tf.math``, ``tf.linalg``, ``tf.nn``, …"""
