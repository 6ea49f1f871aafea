"""Pictures: the files that hold them, and the functions of ``tf.image``."""
