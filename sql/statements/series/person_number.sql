-- The number by which members know a person, from the value that identifies people or from the key.
-- $1 text[]
SELECT pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0) AS number
FROM (
    SELECT
{% for k in keys %}
        {{ k.expression }} AS {{ k.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM (
        SELECT
{% for k in keys %}
            ($1::text[])[{{ k.place }}]::{{ k.type }} AS {{ k.name }}{% if not loop.last %},{% endif %}

{% endfor %}
    ) AS given
) AS keyed
