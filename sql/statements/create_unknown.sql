-- How many rows of the base relation have a value that the release's own copy of a hierarchy does not know.
CREATE VIEW {{ view }} AS
SELECT
{% for g in generalized %}
    count(*) FILTER (WHERE base.{{ g.alias }} IS NOT NULL AND {{ g.known }}.value IS NULL) AS {{ g.count }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM (
    SELECT
{% for g in generalized %}
        {{ g.expression }} AS {{ g.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM {{ relation }} AS rows
) AS base
{% for g in generalized %}
LEFT JOIN {{ g.table }} AS {{ g.known }} ON {{ g.knows }}
{% endfor %}
