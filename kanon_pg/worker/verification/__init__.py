"""The independent recount of every solution, and of the prices that prove a bound.

Whole numbers, cell by cell. It shares nothing with the solvers but the row types; a solution that fails here
never leaves the worker.
"""
