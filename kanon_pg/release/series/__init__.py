"""Releases over time: versions of one release that may be compared without singling anybody out.

``docs/architecture.md`` has the construction and why it is so.
"""
