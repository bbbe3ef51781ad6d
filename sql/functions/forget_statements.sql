-- Removes prepared statements that are not known: the code that a relation brings along made them.
CREATE OR REPLACE FUNCTION kanon.forget_statements(known text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    made name;
BEGIN
    FOR made IN
        SELECT p.name FROM pg_catalog.pg_prepared_statements AS p
        WHERE p.from_sql
            AND p.name || E'\n' || p.statement || E'\n' || extract(epoch FROM p.prepare_time) <> ALL (forget_statements.known)
    LOOP
        EXECUTE pg_catalog.format('DEALLOCATE %I', made);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION kanon.forget_statements IS 'Removes prepared statements that the code of a relation made in this session.';
