-- The number by which members know a person, from the value that identifies people or from the key.
-- $1 text[]
SELECT pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0) AS number
FROM (
    SELECT
{% for k in keys %}
        {{ k.expression }} AS {{ k.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM (
        -- JSON makes values of texts by the input functions of types, never by casts, which others may have made
        SELECT *
        FROM pg_catalog.json_to_record(pg_catalog.json_object(
            ARRAY[{% for k in keys %}{{ k.label }}{% if not loop.last %}, {% endif %}{% endfor %}], $1::text[]
        )) AS told ({% for k in keys %}{{ k.name }} {{ k.type }}{% if not loop.last %}, {% endif %}{% endfor %})
    ) AS given
) AS keyed
