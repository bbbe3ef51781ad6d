-- A function of this session alone that tells what the server's Python can see.
CREATE FUNCTION pg_temp.kanon_probe(arguments text) RETURNS text LANGUAGE plpython3u AS {{ body }}
