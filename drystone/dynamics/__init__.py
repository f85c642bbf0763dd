"""Mass, forces, prescribed motions, free motion, energy: bodies without their contacts."""
