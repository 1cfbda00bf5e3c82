"""Several systems side by side: rules of union and vote, and names of types."""
