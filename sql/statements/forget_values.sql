-- Forgets values that rows of a release had and none has any more: in the release's own copy of a hierarchy, and in all
-- versions of the stored hierarchy that it was made with, which may spell them otherwise.
-- $1 text
-- $2 text
WITH gone AS (
    DELETE FROM {{ table }} AS {{ known }}
    WHERE {{ known }}.kanon_seen AND NOT EXISTS (
        SELECT FROM (SELECT {{ spelled }} AS {{ alias }} FROM {{ relation }} AS rows) AS base
        WHERE {{ knows }}
    )
    RETURNING pg_catalog.concat({{ known }}.value) AS value
),

stored AS (
    DELETE FROM kanon.hierarchy_value AS v
    USING gone, kanon.release AS r
    WHERE r.name = $1::text
        AND v.hierarchy = r.parameters -> 'hierarchies' -> $2::text ->> 'hierarchy'
        AND {% if typed %}(
            SELECT pg_catalog.concat({{ expression }})
            FROM (
                SELECT (pg_catalog.jsonb_populate_record(
                    NULL::{{ table }}, pg_catalog.jsonb_build_object('value', v.value)
                )).value AS {{ column }}
            ) AS given
        ){% else %}v.value{% endif %} = gone.value
    RETURNING v.hierarchy
)

SELECT
    (SELECT count(*) FROM gone) AS gone,
    (SELECT min(stored.hierarchy) FROM stored) AS hierarchy,
    (SELECT count(*) FROM stored) AS stored
