"""World: bodies, materials, forces and rules, described and checked."""
