-- Stores the values of a hierarchy: one array of texts for the values, then one per level with their nodes.
INSERT INTO kanon.hierarchy_value (hierarchy, version, value, nodes)
SELECT
    $1,
    $2,
    u.c0,
    ARRAY[
{%- for column in columns[1:] %}u.{{ column.name }}{% if not loop.last %}, {% endif %}{% endfor -%}
    ]::text[]
FROM ROWS FROM (
{%- for column in columns %}pg_catalog.unnest(${{ column.number }}::text[]){% if not loop.last %}, {% endif %}{% endfor -%}
) AS u (
{%- for column in columns %}{{ column.name }}{% if not loop.last %}, {% endif %}{% endfor -%}
)
