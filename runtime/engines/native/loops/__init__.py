"""Native code as loops: what was written for LLVM, as statements for people."""
