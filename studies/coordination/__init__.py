"""The study of coordinated names: their concepts, and their places."""
