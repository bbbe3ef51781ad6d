"""The query checker: text and catalog snapshot in, verdict and canonical SQL out; knows no database."""
