"""What a release has of its base relation, and what is no longer there: the figures of a report.

Of the base relation no value and no count of fewer than k people is told, also not by comparing it with the
release. `reporting` puts a report together; what it looks like is no business of this package.
"""
