-- Makes the server's functions report their progress as notices, in this session.
SELECT pg_catalog.set_config('kanon.progress', 'on', false) AS progress
