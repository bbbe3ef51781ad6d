-- Ends the probe; what it created must not outlive the installation.
DROP FUNCTION pg_temp.kanon_probe(text)
