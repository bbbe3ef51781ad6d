"""The optimum for k = 2."""
