"""Releases over time: versions of one release that may be compared without singling anybody out.

`rules` are what the owner may choose, `versions` builds versions, `record` has the tables behind them.
``docs/releases-over-time.md`` has the property, the construction and the proof.
"""
