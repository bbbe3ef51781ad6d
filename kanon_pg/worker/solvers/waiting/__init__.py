"""Who of a batch should wait for the next version of a release over time."""
