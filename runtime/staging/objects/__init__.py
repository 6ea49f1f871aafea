"""Objects that a tensor chooses, and copies that a branch works on."""
