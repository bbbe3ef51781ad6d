-- Forgets the roles of columns.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_undeclare(relation regclass)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('undeclare');
    SELECT kanon.undeclare(relation);
    SELECT kanon.take_back(relation);
END;
ALTER FUNCTION {{ api }}.kanon_undeclare(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_undeclare(regclass) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_undeclare(regclass) IS
'Forgets which roles the columns of a table play, and takes back lent rights to read it that nothing needs any more; releases stay.
Example: SELECT kanon_undeclare(''patients'');';
