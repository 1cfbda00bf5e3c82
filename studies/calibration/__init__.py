"""The shipped model before and after calibration."""
