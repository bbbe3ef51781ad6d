-- A sum over all rows that changes when a quasi-identifier or the person of any row changes.
SELECT
    {% if shards %}coalesce(sum(pairs.n), 0)::bigint{% else %}count(*){% endif %} AS rows,
    coalesce(sum((pg_catalog.hash_record_extended(
        ROW({% for q in columns %}{{ q.hashed_pair }}{% if not loop.last %}, {% endif %}{% endfor %}
        {%- if entity %}, {{ entity.hashed }}{% endif %}), {{ hash_seed }}
    ) >> 32){% if shards %} * pairs.n{% endif %}), 0)::text AS fingerprint
FROM (
{% for source in shards or [relation] %}
{% include "guard/base_rows.sql" %}
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
) AS pairs
