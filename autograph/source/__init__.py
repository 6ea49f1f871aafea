"""Where code comes from: texts of source files, and definitions in them."""
