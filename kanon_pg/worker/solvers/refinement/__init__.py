"""Flows and integer programs on parts of a solution, and the search that combines them."""
