"""One folder for each study: what it measures, and its tables."""
