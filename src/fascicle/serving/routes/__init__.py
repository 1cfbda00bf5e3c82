"""What can be asked of the service: one module for each group of routes, all named in `table`."""
