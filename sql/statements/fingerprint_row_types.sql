-- A sum over all rows that changes when a quasi-identifier or the person of any row changes.
SELECT
    {% if shards %}coalesce(sum(pairs.n), 0)::bigint{% else %}count(*){% endif %} AS rows,
    coalesce(sum(({% if entity %}pg_catalog.hash_record_extended(
        ROW({% include "counting/pair_key.sql" %}, {% include "counting/pair_person.sql" %}), {{ hash_seed }}
    ){% else %}{% include "counting/pair_key.sql" %}{% endif %} >> 32){% if shards %} * pairs.n{% endif %}), 0)::text AS fingerprint
FROM (
{% for source in shards or [relation] %}
{% include "guard/base_rows.sql" %}
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
) AS pairs
