"""Description files of model folders, and the choice of the folder that a name means."""
