"""Files on disk: opening, reading, hashing, and atomic writing."""
