-- Unpacks buffers of 64-bit big-endian numbers, one parameter per column, into a table.
INSERT INTO {{ table }} (
{%- for column in columns %}{{ column.name }}{% if not loop.last %}, {% endif %}{% endfor -%}
)
SELECT
{% for column in columns %}
    ('x' || pg_catalog.encode(pg_catalog.substr(${{ column.number }}, 8 * i + 1, 8), 'hex'))::bit(64)::bigint
    {%- if not loop.last %},{% endif %}

{% endfor %}
FROM pg_catalog.generate_series(0, pg_catalog.length($1) / 8 - 1) AS i
