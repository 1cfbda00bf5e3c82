"""Several systems compared, and every combination tried."""
