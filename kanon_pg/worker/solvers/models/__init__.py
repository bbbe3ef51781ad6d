"""The methods under privacy models."""
