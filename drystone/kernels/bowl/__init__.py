"""Contacts inside an ellipsoidal bowl: concave surfaces, where extremal points are local."""
