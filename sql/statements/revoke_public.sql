-- Takes a right on the database or a schema from PUBLIC.
REVOKE {{ privilege }} ON {{ kind }} {{ name }} FROM PUBLIC
