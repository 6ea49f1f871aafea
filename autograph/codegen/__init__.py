"""From a rewritten tree to a code object that runs under the user's file and lines."""
