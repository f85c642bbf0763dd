"""One scene by several methods: run, measured against the finest, and drawn over each other."""
