"""Lower bounds that are proven without a search."""
