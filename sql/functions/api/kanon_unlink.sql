CREATE OR REPLACE FUNCTION {{ api }}.kanon_unlink(child regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("unlink") %}
    PERFORM kanon.unlink(child);
    PERFORM kanon.revoke_read(child);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_unlink IS 'Forgets whose people the rows of a table belong to. It revokes rights to read the tables that the link led to.
Arguments:
child: The linked table, as SQL writes it.
Example: SELECT kanon_unlink(''visits'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_unlink TO kanon_curator;
