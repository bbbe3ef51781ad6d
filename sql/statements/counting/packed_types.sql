{# Row types as buffers of 64-bit big-endian numbers, empty if they would need more bytes than the limit. #}
SELECT
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.key), ''), '') AS keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.n), ''), '') AS row_counts,
        {% if repeats %}''::bytea{% else %}coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.people), ''), ''){% endif %} AS people_counts
{% for q in columns %}
        , coalesce(pg_catalog.string_agg(pg_catalog.int8send({{ q.identity }}), ''), '') AS {{ q.cell }}
{% if q.value %}
        , coalesce(pg_catalog.string_agg(pg_catalog.float8send({{ q.value }}), ''), '') AS {{ q.number }}
{% endif %}
{% endfor %}
{% if not entity %}
        , coalesce(sum((types.key >> 32) * types.n), 0)::text AS fingerprint
{% endif %}
    FROM (
        SELECT types.*, {% include "counting/type_key.sql" %} AS key
        FROM types
        WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
        OFFSET 0
    ) AS types
{%- for q in columns if q.order %}

    LEFT JOIN (
        SELECT {{ q.alias }}, (row_number() OVER (ORDER BY {{ q.alias }}))::double precision AS place
        FROM types
        WHERE {{ q.alias }} IS NOT NULL
        GROUP BY {{ q.alias }}
    ) AS {{ q.order }} ON {{ q.order }}.{{ q.alias }} = types.{{ q.alias }}
{%- endfor %}
