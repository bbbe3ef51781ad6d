-- Gives a right on the database or a schema back to PUBLIC.
GRANT {{ privilege }} ON {{ kind }} {{ name }} TO PUBLIC
