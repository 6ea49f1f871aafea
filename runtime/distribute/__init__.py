"""Many devices and many machines: ``tf.distribute``. See docs/scaling.md."""
