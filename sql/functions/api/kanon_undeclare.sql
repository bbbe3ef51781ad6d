CREATE OR REPLACE FUNCTION {{ api }}.kanon_undeclare(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("undeclare") %}
    PERFORM kanon.undeclare(relation);
    PERFORM kanon.revoke_read(relation);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_undeclare IS 'Forgets which roles the columns of a table play; releases stay. It revokes rights to read the table that nothing needs any more.
Arguments:
relation: Table or view, as SQL writes it.
Example: SELECT kanon_undeclare(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_undeclare TO kanon_curator;
