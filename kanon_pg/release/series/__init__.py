"""Releases over time: versions of one release that may be compared without singling anybody out.

`versions` is the way in; `leaving` and `entering` are its steps, `building` is the version that they work
on, `record` the tables behind it. ``docs/releases-over-time.md`` has the property, the construction and the
proof.
"""
