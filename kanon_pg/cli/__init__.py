"""The command ``kanon``: the same services as in SQL, for a shell."""
