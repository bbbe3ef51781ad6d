"""Releases over time: versions of one release that may be compared without singling anybody out.

The construction and its proof are in ``docs/releases-over-time.md``.
"""
