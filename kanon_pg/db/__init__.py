"""One small database protocol and its two adapters: plpy inside the server, psycopg outside."""
