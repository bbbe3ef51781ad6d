-- A sum over all rows that changes when the quasi-identifiers of any row change.
SELECT
    count(*) AS rows,
    coalesce(sum(pg_catalog.hash_record_extended(
        ROW({% for q in columns %}{{ q.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }}
    ) >> 32), 0)::text AS fingerprint
FROM (
    SELECT
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM {{ relation }}
) AS types
