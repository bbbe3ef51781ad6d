"""A door for any PostgreSQL client: passes messages on, and puts checked questions in place of statements."""
