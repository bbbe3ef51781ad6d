"""The optimum for few row types."""
