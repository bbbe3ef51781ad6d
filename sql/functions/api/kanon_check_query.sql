CREATE OR REPLACE FUNCTION {{ api }}.kanon_check_query(
    sql text, schemas name[] DEFAULT pg_catalog.current_schemas(false), OUT accepted boolean, OUT findings jsonb,
    OUT canonical_sql text, OUT noise jsonb
)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    SELECT c.* INTO accepted, findings, canonical_sql, noise FROM kanon.check_query(sql, schemas) AS c;
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_check_query IS 'Says whether a query is accepted, and what is wrong with it. It shows what would run, and touches no data.
Where you are answered with noise, it says which share of which account each block costs.
Arguments:
sql: One SELECT.
schemas: Where names are looked up; your search path unless given.
Example: SELECT * FROM kanon_check_query(''SELECT name FROM patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_check_query TO kanon_analyst;
