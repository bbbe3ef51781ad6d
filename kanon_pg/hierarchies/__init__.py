"""Generalization hierarchies: built from columns, read from tables and files, stored in the database."""
