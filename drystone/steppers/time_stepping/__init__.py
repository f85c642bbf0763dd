"""Complementarity time stepping: Anitescu, Potra and Stewart 1998; Hart and Anitescu 2003."""
