"""Engine that trains every kind of model."""
