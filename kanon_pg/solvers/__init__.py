"""Solvers: row types and a pattern mask in, one pattern vector per row type out. No database."""
