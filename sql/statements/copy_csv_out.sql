-- Sends expressions over the columns of a relation as CSV with a header.
COPY (
    SELECT
{% for column in columns %}
        {{ column.value }} AS {{ column.name }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM {{ relation }}
) TO STDOUT (FORMAT csv, HEADER true, ENCODING 'UTF8')
