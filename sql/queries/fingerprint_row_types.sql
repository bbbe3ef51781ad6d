-- A sum over all rows that changes when a quasi-identifier or the person of any row changes.
SELECT
    count(*) AS rows,
    coalesce(sum(pg_catalog.hash_record_extended(
        ROW({% for q in columns %}{{ q.hashed_pair }}{% if not loop.last %}, {% endif %}{% endfor %}
        {%- if entity %}, {{ entity.hashed }}{% endif %}), {{ hash_seed }}
    ) >> 32), 0)::text AS fingerprint
FROM (
    SELECT
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last or entity %},{% endif %}

{% endfor %}
{% if entity %}
        {{ entity.expression }} AS person
{% endif %}
    FROM {{ relation }}
) AS pairs
