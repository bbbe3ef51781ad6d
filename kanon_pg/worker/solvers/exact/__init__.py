"""Integer programs of independent components: optima and how they are proven."""
