"""Files, and the records and texts in them: ops of ``tf.io``."""
