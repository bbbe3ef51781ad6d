-- The language of the functions in the server.
CREATE EXTENSION IF NOT EXISTS plpython3u
