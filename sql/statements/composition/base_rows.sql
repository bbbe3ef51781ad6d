{# The rows of a base relation, each with what tells which row it is, whose it is, and who wrote it when. #}
    SELECT
        keyed.*,
{% if entity %}
        CASE WHEN keyed.kanon_who IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
            AS kanon_person,
{% else %}
        NULL::bigint AS kanon_person,
{% endif %}
{% if keys %}
        pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
            AS kanon_row
{% else %}
        pg_catalog.row_number() OVER () AS kanon_row
{% endif %}
    FROM (
        SELECT
{% if written %}
            xmin::text::bigint AS kanon_written,
            tableoid AS kanon_table,
{% endif %}
{% for k in keys %}
            {{ k.expression }} AS {{ k.alias }},
{% endfor %}
{% if entity %}
            {{ entity.expression }} AS kanon_who,
{% endif %}
{% for c in columns %}
            {{ c }}{% if not loop.last %},{% endif %}

{% endfor %}
        FROM {{ relation }}
    ) AS keyed
