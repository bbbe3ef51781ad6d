"""Generalizes one column of a relation: counts its values, groups them and names the classes."""
