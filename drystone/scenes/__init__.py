"""The gallery: one function per scene, for examples, tests and benchmarks alike."""
