"""Between the runtime and the compiler: the only folder that imports `autograph`."""
