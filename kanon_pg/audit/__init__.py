"""Audits through either door: which columns single people out, how many people, how large the risk is."""
