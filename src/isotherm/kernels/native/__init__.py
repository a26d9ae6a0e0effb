"""How the C kernels are built, loaded and called; `vec.h` is the one vector abstraction that they are written in."""
