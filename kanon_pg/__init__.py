"""k-anonymity enforced inside PostgreSQL."""

__version__ = "0.1.0"
