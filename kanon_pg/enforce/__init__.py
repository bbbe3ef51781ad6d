"""Answers questions about protected tables: catalog, check, run, record, in one snapshot."""
