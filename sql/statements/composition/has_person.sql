-- Whether a relation has rows of a person, who is known by a number.
-- $1 bigint
SELECT EXISTS (
    SELECT
    FROM (
        SELECT
{% for k in keys %}
            {{ k.expression }} AS {{ k.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
        FROM {{ relation }}
    ) AS keyed
    WHERE pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
        = $1::bigint
) AS found
