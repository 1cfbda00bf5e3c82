"""Names composed of a quality and an entity: other forms of names of HPO in abstracts."""
