"""A generated hospital and the story of what kanon_pg does to its table."""
