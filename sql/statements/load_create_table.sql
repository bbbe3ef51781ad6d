-- Creates a table of the given columns.
CREATE TABLE {{ table }} (
{% for column in columns %}
    {{ column.name }} {{ column.type }}{% if not loop.last %},{% endif %}

{% endfor %}
)
