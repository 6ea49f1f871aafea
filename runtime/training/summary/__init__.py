"""What programs write for TensorBoard, by TensorBoard's own writer: ``tf.summary``.

`writer` has the files, the default writer and the step, `values` makes summaries of
tensors, `graphs` of traced functions. The package tensorboard is an extra, imported
when the first file is made.
"""
