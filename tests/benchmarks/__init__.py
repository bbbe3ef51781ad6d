"""Measurements, run by ``make bench``: named specs, each a table with ratios beside absolute figures.

Every spec runs on this machine in one run; a call is repeated and the median shown. Peak memory is what
the kernel accounts to the backend (private part) and to the solver's process. Nothing here asserts.
"""
