"""Routes of the service: one module for each group of routes, all listed in `table`."""
