"""What a release will contain: the checked request, columns and roles; and the record of releases."""
