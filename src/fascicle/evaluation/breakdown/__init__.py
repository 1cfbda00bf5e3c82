"""Results broken down: classes of errors, attributes, buckets, examples."""
