CREATE OR REPLACE FUNCTION {{ api }}.kanon_erase(release text, person text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("erase") %}
    PERFORM kanon.erase(release, person);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_erase IS 'Erases a person from a release over time and remembered versions. A version without their cohorts is published at once; an ordinary release that remembers is refreshed: delete the person''s rows from the table first. For those who may read the table.
Arguments:
release: Its name, or its view: ''patients'' or ''safe.patients''.
person: The value of the column that identifies people, else those of the primary key (one per column), as text.
Example: SELECT kanon_erase(''patients'', ''{4711}'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_erase TO kanon_curator;
