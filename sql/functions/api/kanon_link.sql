CREATE OR REPLACE FUNCTION {{ api }}.kanon_link({{ link.parameters }}) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("link") %}
    PERFORM kanon.grant_read(parent);
    PERFORM kanon.grant_read(child);
    PERFORM kanon.grant_read_along(
        t.relation, parent || ARRAY(SELECT a.relation FROM kanon.linked_above(parent) AS a (relation)), false
    )
    FROM (SELECT child UNION ALL SELECT b.relation FROM kanon.linked_below(child) AS b (relation)) AS t (relation);
    PERFORM kanon.link({{ link.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_link IS 'Says that the rows of one table belong to people of another. They are those of the row that a foreign key refers to; the chain of links ends at a declared table.
Arguments:
{{ link.help }}
Example: SELECT kanon_link(''visits'', ''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_link TO kanon_curator;
