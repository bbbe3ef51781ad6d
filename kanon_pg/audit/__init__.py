"""Audits: which columns single people out, how many people, at what risk, and which roles columns may have.

`auditing`, `assessing` and `suggesting` are the services, `findings` what they found: columns, counts and
shares, no cell value. With the caller's rights; changes nothing. The searches run in a worker.
"""
