-- Ends that a table answers questions.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_unprotect(relation regclass)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('unprotect');
    SELECT kanon.unprotect(relation);
    SELECT kanon.take_back(relation);
END;
ALTER FUNCTION {{ api }}.kanon_unprotect(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_unprotect(regclass) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_unprotect(regclass) IS
'Ends that a table answers questions, and takes back the rights to read it that kanon_protect lent; what was asked about it stays recorded.
Example: SELECT kanon_unprotect(''patients'');';
