{# Each row of a base relation with an identity that lasts, a fingerprint of what is published of it, and its person. Rows without a key are known by their person and contents; equal ones are numbered. #}
SELECT
{% for c in columns %}
    seen.{{ c.alias }} AS {{ c.name }},
{% endfor %}
    seen.kanon_row,
    seen.kanon_fingerprint,
{% if entity %}
    CASE WHEN seen.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
        AS kanon_who
{% else %}
    seen.kanon_row AS kanon_who
{% endif %}
FROM (
    SELECT
        keyed.*,
{% if keys %}
        pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
            AS kanon_row
{% else %}
        pg_catalog.hash_record_extended(
            ROW(
                {{ entity.keyed }}, keyed.kanon_fingerprint,
                pg_catalog.row_number() OVER (PARTITION BY {{ entity.keyed }}, keyed.kanon_fingerprint)
            ), 0
        ) AS kanon_row
{% endif %}
    FROM (
        SELECT
            plain.*,
            pg_catalog.hash_record_extended(
                ROW({% for c in columns if c.hashed %}{{ c.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0
            ) AS kanon_fingerprint
        FROM (
            SELECT
{% for c in columns %}
                {{ c.name }} AS {{ c.alias }}{% if not loop.last or keys or entity %},{% endif %}

{% endfor %}
{% for k in keys %}
                {{ k.expression }} AS {{ k.alias }}{% if not loop.last or entity %},{% endif %}

{% endfor %}
{% if entity %}
                {{ entity.expression }} AS person
{% endif %}
            FROM {{ relation }}
        ) AS plain
    ) AS keyed
) AS seen
