-- The rows of a table that holds a hierarchy, as texts.
SELECT
{% for column in columns %}
    {{ column.text }} AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM {{ relation }}
LIMIT {{ most }}
