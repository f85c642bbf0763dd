"""Methods on products of friction cones and boxes: sweeps, Newton, interior points, gradients."""
