"""The stages of a step: kernels over one ``Packed`` of arrays, run in turn by ``loop``."""
