"""Code generation: from a rewritten tree to code under the user's file and lines."""
