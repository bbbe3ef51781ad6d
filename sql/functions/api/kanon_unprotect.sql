CREATE OR REPLACE FUNCTION {{ api }}.kanon_unprotect(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("unprotect") %}
    PERFORM kanon.unprotect(relation);
    PERFORM kanon.revoke_read(relation);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_unprotect IS 'Disables queries on a table and revokes the grants made for it. The record of answers stays.
Arguments:
relation: Table or view, as SQL writes it.
Example: SELECT kanon_unprotect(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_unprotect TO kanon_curator;
