"""Releases over time: versions of one release that may be compared without singling anybody out.

`versions` is the way in and has the steps of a version, `building`
the version that they work on, `waiting` who may wait for a later one, `record` the tables behind it.
``docs/releases-over-time.md`` has the property, the construction and the proof.
"""
