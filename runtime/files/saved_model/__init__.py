"""Models as data, which run without their program. See docs/saving.md."""
