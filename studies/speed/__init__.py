"""Scripts that measure time and memory, beside a rival or a goal."""
