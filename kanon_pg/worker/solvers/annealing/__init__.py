"""Simulated annealing over pattern instances."""
