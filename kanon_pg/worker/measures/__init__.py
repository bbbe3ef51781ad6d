"""Measures of what a release tells and loses, computed on row types.

Nothing here decides about a release.
"""
