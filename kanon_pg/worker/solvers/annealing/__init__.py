"""Simulated annealing over pattern instances.

`anneal` is the way in, `steps` what is tried, `graph` the part of the compatibility graph that is
searched. Bounds and integer programs belong to other folders; randomness comes from `draw` alone, so that
a seed fixes the result.
"""
