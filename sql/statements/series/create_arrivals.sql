-- The rows that wait now: since when, and with whom each may enter. Who is about to leave, or has a value that a
-- hierarchy does not know, has no origin yet. Who left before enters only with those who left together with them.
CREATE TABLE {{ arrivals }} AS
SELECT
    g.kanon_row AS row_id,
    g.kanon_who AS person,
    coalesce(p.since, {{ version }}) AS since,
    CASE
        WHEN g.kanon_row IN (SELECT m.row_id FROM {{ members }} AS m WHERE m.left_in IS NOT NULL) THEN NULL
        WHEN g.kanon_who IN (
            SELECT m.person FROM {{ members }} AS m WHERE m.left_in IS NOT NULL AND m.person IS NOT NULL
        ) THEN NULL
{% for u in unknown %}
        WHEN g.{{ u.column }} IS NOT NULL AND NOT EXISTS (
            SELECT FROM {{ u.table }} AS {{ u.known }} WHERE {{ u.knows }}
        ) THEN NULL
{% endfor %}
        WHEN d.row_id IS NOT NULL THEN pg_catalog.hash_record_extended(ROW(d.cohort, d.version, d.since), 1)
        WHEN h.person IS NOT NULL THEN h.origin
        ELSE 0
    END AS origin,
    CASE WHEN d.row_id IS NOT NULL THEN 'row' WHEN h.person IS NOT NULL THEN 'person' END AS returns
FROM {{ changes }} AS g
LEFT JOIN {{ pending }} AS p ON p.row_id = g.kanon_row
LEFT JOIN {{ departed }} AS d ON d.row_id = g.kanon_row
LEFT JOIN (
{% include "series/histories.sql" %}
) AS h ON h.person = g.kanon_who
WHERE g.kanon_row IS NOT NULL
{% if keep %}
    AND g.kanon_member IS NULL
{% else %}
    AND g.kanon_same IS NOT TRUE
{% endif %}
