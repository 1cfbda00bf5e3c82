"""Files on disk: opening, reading, hashing, and writing whole or not at all."""
