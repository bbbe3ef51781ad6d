"""Audits through either interface: which columns single people out, how many people, at what risk."""
