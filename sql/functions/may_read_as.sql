-- Whether the login may have a reader run what it likes: the reader sees nothing that the login does not see itself. What a
-- superuser has maintained runs with a superuser's login, and is no way in: a reader can only read.
CREATE OR REPLACE FUNCTION kanon.may_read_as(reader integer)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_has_role(SESSION_USER, 'kanon_reader', 'MEMBER') OR EXISTS (
        SELECT
        FROM kanon.base AS b INNER JOIN pg_catalog.pg_class AS c ON c.oid = b.relation
        WHERE b.reader = may_read_as.reader AND pg_catalog.has_table_privilege(SESSION_USER, c.oid, 'SELECT')
    );
END;
ALTER FUNCTION kanon.may_read_as OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.may_read_as FROM PUBLIC;
COMMENT ON FUNCTION kanon.may_read_as IS
'Whether the login may read what a reader reads; called by kanon.read_rows_1 and the others.';
