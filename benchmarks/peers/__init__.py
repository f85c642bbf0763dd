"""Other engines on our worlds, and Siconos' solvers on our problems."""
