{# The rows of a guarded storage as members of new cohorts, one for each class. The hash sorts quickly; classes are
   compared cell by cell. CASE keeps NOT NULL of domains away from cells that may have to be erased. #}
SELECT
    entered.kanon_row AS row_id,
{% if entity %}
    entered.kanon_person AS person,
{% else %}
    entered.kanon_row AS person,
{% endif %}
    entered.kanon_fingerprint AS fingerprint,
    {{ cohorts_ever }} + pg_catalog.dense_rank() OVER (ORDER BY entered.first_row) AS cohort,
    NULL::bigint AS left_in,
    false AS erased,
    entered.kanon_pattern AS pattern,
{% for c in cells %}
    CASE WHEN entered.kanon_row IS NOT NULL THEN entered.{{ c.output }} ELSE {{ c.empty }} END AS {{ c.cell }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM (
    SELECT
        s.*,
        min(s.kanon_row) OVER (
            PARTITION BY
                pg_catalog.hash_record_extended(ROW({% for h in hashed %}{{ h }}, {% endfor %}s.kanon_pattern), 0),
                s.kanon_pattern{% for c in classes %}, s.{{ c }}{% endfor %}

        ) AS first_row
    FROM {{ storage }} AS s
{% if waits %}
    WHERE s.kanon_row NOT IN (SELECT w.row_id FROM {{ waits }} AS w)
{% endif %}
) AS entered
