"""Methods that advance a world by a step; one folder each."""
