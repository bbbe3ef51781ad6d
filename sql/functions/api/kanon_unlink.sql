CREATE OR REPLACE FUNCTION {{ api }}.kanon_unlink(child regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    above CONSTANT regclass[] := ARRAY(SELECT a.relation FROM kanon.linked_above(kanon_unlink.child) AS a (relation));
BEGIN
    INSERT INTO kanon.request (operation) VALUES ('unlink');
    PERFORM kanon.unlink(kanon_unlink.child);
    PERFORM kanon.revoke_read_along(kanon_unlink.child, above);
    PERFORM kanon.revoke_read(kanon_unlink.child);
{% include "raise_without_traceback" %}
END
$function$;
COMMENT ON FUNCTION {{ api }}.kanon_unlink IS 'Forgets whose people the rows of a table belong to. It revokes rights to read the tables that the link led to.
Arguments:
child: The linked table, as SQL writes it.
Example: SELECT kanon_unlink(''visits'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_unlink TO kanon_curator;
