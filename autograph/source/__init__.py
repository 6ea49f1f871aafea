"""Source texts of files, cells and prompts, and the definitions in them."""
